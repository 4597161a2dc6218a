//! Pieces of data separated by gaps, and the datatypes that describe them.

use std::ffi::c_int;

use super::mpi::Mpi;
use super::session::{done, int, made};
use crate::Datatype;

/// Pieces with a gap behind each.
#[derive(Clone, Copy)]
pub struct Pieces {
    /// Number of pieces.
    pub count: usize,
    /// Bytes of each piece.
    pub bytes: usize,
}

impl Pieces {
    /// Offset of a piece in bytes.
    pub fn start(self, piece: usize) -> usize {
        2 * piece * self.bytes
    }

    /// Bytes of all together, without gaps.
    pub fn all(self) -> usize {
        self.count * self.bytes
    }

    /// Bytes of all together, with the gap behind each; `None` if memory has no such size.
    pub fn span(self) -> Option<usize> {
        self.count.checked_mul(self.bytes)?.checked_mul(2)
    }
}

/// Converts a number to MPI's type of addresses.
pub(super) fn aint(number: usize) -> i64 {
    i64::try_from(number).expect("what is measured is at most a few MiB long")
}

/// A datatype that is freed with its owner.
pub(super) struct Type<'a> {
    mpi: &'a Mpi,
    /// Its handle.
    pub(super) handle: Datatype,
}

impl Drop for Type<'_> {
    fn drop(&mut self) {
        // Calls that use it keep their own reference.
        let _ = self.mpi.functions.type_free(&mut self.handle);
    }
}

fn committed(mpi: &Mpi, mut handle: Datatype) -> Type<'_> {
    done(mpi.functions.type_commit(&mut handle));
    Type { mpi, handle }
}

/// A datatype of all pieces.
pub(super) fn vector(mpi: &Mpi, pieces: Pieces) -> Type<'_> {
    let (count, bytes) = (int(pieces.count), int(pieces.bytes));
    let (functions, byte) = (&mpi.functions, mpi.byte);
    let handle = made(|made| functions.type_vector(count, bytes, 2 * bytes, byte, made));
    committed(mpi, handle)
}

/// A datatype of all pieces by their displacements, as built for gathering.
pub(super) fn displaced(mpi: &Mpi, pieces: Pieces) -> Type<'_> {
    let lengths: Vec<c_int> = vec![int(pieces.bytes); pieces.count];
    let starts: Vec<i64> = (0..pieces.count).map(|i| aint(pieces.start(i))).collect();
    let (count, functions) = (int(pieces.count), &mpi.functions);
    let (each, first) = (lengths.as_ptr(), starts.as_ptr());
    // SAFETY: both lists have `count` numbers, and live until the call returns.
    let handle =
        made(|made| unsafe { functions.type_create_hindexed(count, each, first, mpi.byte, made) });
    committed(mpi, handle)
}
