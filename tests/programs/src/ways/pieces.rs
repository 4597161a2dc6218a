//! Pieces of data that lie apart, and the datatypes that describe them.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr;

use mpi_sys::{MPI_Aint, MPI_Datatype, RSMPI_UINT8_T};

/// Pieces with a gap behind each.
#[derive(Clone, Copy)]
pub struct Pieces {
    /// How many.
    pub count: usize,
    /// Bytes of each.
    pub bytes: usize,
}

impl Pieces {
    /// Where a piece starts.
    pub fn start(self, piece: usize) -> usize {
        2 * piece * self.bytes
    }

    /// Bytes of all together, without gaps.
    pub fn all(self) -> usize {
        self.count * self.bytes
    }
}

/// A number as MPI counts.
pub fn int(number: usize) -> c_int {
    c_int::try_from(number).expect("what is measured is at most a few MiB long")
}

/// A number as MPI has places.
pub fn aint(number: usize) -> MPI_Aint {
    MPI_Aint::try_from(number).expect("what is measured is at most a few MiB long")
}

/// A datatype that is freed with its owner.
pub struct Type(pub MPI_Datatype);

impl Drop for Type {
    fn drop(&mut self) {
        // SAFETY: it was made by MPI; calls that use it keep what they need.
        unsafe { mpi_sys::MPI_Type_free(&mut self.0) };
    }
}

/// A datatype of all pieces.
pub fn vector(pieces: Pieces) -> Type {
    let mut made = MaybeUninit::uninit();
    // SAFETY: MPI fills the handle.
    unsafe {
        let (count, bytes) = (int(pieces.count), int(pieces.bytes));
        mpi_sys::MPI_Type_vector(count, bytes, 2 * bytes, RSMPI_UINT8_T, made.as_mut_ptr());
        mpi_sys::MPI_Type_commit(made.as_mut_ptr());
        Type(made.assume_init())
    }
}

/// A datatype of all pieces by their places, as gathering makes one.
pub fn places(pieces: Pieces) -> Type {
    let mut made = MaybeUninit::uninit();
    let lengths = vec![int(pieces.bytes); pieces.count];
    let starts: Vec<MPI_Aint> = (0..pieces.count).map(|i| aint(pieces.start(i))).collect();
    // SAFETY: both lists have `count` numbers; MPI fills the handle.
    unsafe {
        mpi_sys::MPI_Type_create_hindexed(
            int(pieces.count),
            lengths.as_ptr(),
            starts.as_ptr(),
            RSMPI_UINT8_T,
            made.as_mut_ptr(),
        );
        mpi_sys::MPI_Type_commit(made.as_mut_ptr());
        Type(made.assume_init())
    }
}

/// Copies pieces to where they are one behind the other.
///
/// # Safety
/// `from` has all pieces with their gaps, `to` room for all of them.
pub unsafe fn copy(pieces: Pieces, from: *const u8, to: *mut u8) {
    for piece in 0..pieces.count {
        let (start, place) = (pieces.start(piece), piece * pieces.bytes);
        // SAFETY: the caller's promise.
        unsafe { ptr::copy_nonoverlapping(from.add(start), to.add(place), pieces.bytes) };
    }
}

/// Copies pieces from where they are one behind the other.
///
/// # Safety
/// `from` has all pieces, `to` room for them with their gaps.
pub unsafe fn copy_back(pieces: Pieces, from: *const u8, to: *mut u8) {
    for piece in 0..pieces.count {
        let (place, start) = (piece * pieces.bytes, pieces.start(piece));
        // SAFETY: the caller's promise.
        unsafe { ptr::copy_nonoverlapping(from.add(place), to.add(start), pieces.bytes) };
    }
}
