//! Pieces of data separated by gaps, and the datatypes that describe them.

use std::ffi::c_int;
use std::ptr;

use treepie_mpi::Datatype;
use treepie_mpi::program::Mpi;

use crate::session::{done, made};

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
}

/// Converts a number to MPI's type of counts.
pub fn int(number: usize) -> c_int {
    c_int::try_from(number).expect("what is measured is at most a few MiB long")
}

/// Converts a number to MPI's type of addresses.
pub fn aint(number: usize) -> i64 {
    i64::try_from(number).expect("what is measured is at most a few MiB long")
}

/// A datatype that is freed with its owner.
pub struct Type<'a> {
    mpi: &'a Mpi,
    /// Its handle.
    pub handle: Datatype,
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
pub fn vector(mpi: &Mpi, pieces: Pieces) -> Type<'_> {
    let (count, bytes) = (int(pieces.count), int(pieces.bytes));
    let (functions, byte) = (&mpi.functions, mpi.byte);
    let handle = made(|made| functions.type_vector(count, bytes, 2 * bytes, byte, made));
    committed(mpi, handle)
}

/// A datatype of all pieces by their displacements, as built for gathering.
pub fn places(mpi: &Mpi, pieces: Pieces) -> Type<'_> {
    let lengths = vec![int(pieces.bytes); pieces.count];
    let starts: Vec<i64> = (0..pieces.count).map(|i| aint(pieces.start(i))).collect();
    let (count, functions) = (int(pieces.count), &mpi.functions);
    let (each, first) = (lengths.as_ptr(), starts.as_ptr());
    // SAFETY: both lists have `count` numbers, and live until the call returns.
    let handle =
        made(|made| unsafe { functions.type_create_hindexed(count, each, first, mpi.byte, made) });
    committed(mpi, handle)
}

/// Copies pieces to contiguous memory.
///
/// # Safety
/// `from` has all pieces with their gaps, `to` is large enough for all of them.
pub unsafe fn copy(pieces: Pieces, from: *const u8, to: *mut u8) {
    for piece in 0..pieces.count {
        let (start, place) = (pieces.start(piece), piece * pieces.bytes);
        // SAFETY: the caller's obligation.
        unsafe { ptr::copy_nonoverlapping(from.add(start), to.add(place), pieces.bytes) };
    }
}

/// Copies pieces from contiguous memory.
///
/// # Safety
/// `from` has all pieces, `to` is large enough for them with their gaps.
pub unsafe fn copy_back(pieces: Pieces, from: *const u8, to: *mut u8) {
    for piece in 0..pieces.count {
        let (place, start) = (piece * pieces.bytes, pieces.start(piece));
        // SAFETY: the caller's obligation.
        unsafe { ptr::copy_nonoverlapping(from.add(place), to.add(start), pieces.bytes) };
    }
}
