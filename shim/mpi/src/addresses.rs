//! Addresses that an application passes in addition to handles and numbers. As for handles, the
//! entry points are generated with these types: the type states what is at an address.

use std::ffi::c_int;

use crate::handles::Datatype;
use crate::native::Native;
use crate::words::Word;

/// Address of an `MPI_Status`, or of the first of an array of them; or the MPI's value for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct StatusAddress(Word);

impl StatusAddress {
    /// Value for a parameter that a procedure lacks.
    pub const ABSENT: Self = StatusAddress(0);

    /// Wraps the MPI's value for no status: a number from its header.
    pub(crate) const fn ignored(word: Word) -> Self {
        StatusAddress(word)
    }

    /// Returns the address of memory of this library, which lives as long as this is used.
    pub fn of_room(room: &mut [u64]) -> Self {
        StatusAddress(room.as_mut_ptr() as Word)
    }

    /// Returns the address of status `number` in an array, of `bytes` bytes each.
    pub fn nth(self, number: usize, bytes: usize) -> Self {
        StatusAddress(self.0 + number * bytes)
    }

    /// Returns the word as the MPI's header has it: `MPI_STATUS_IGNORE` is one, too.
    #[inline(always)]
    pub fn word(self) -> Word {
        self.0
    }
}

/// Address of an array of `int`: counts or displacements, one for each rank.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct IntArray(Word);

/// Address of an array of `MPI_Count` or `MPI_Aint`: those of a procedure with large counts.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct LargeArray(Word);

/// Counts or displacements, one for each rank, of either width: their address, which is even, plus
/// 1 for those of a procedure with large counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Counts(Word);

impl Counts {
    /// Value for a procedure without counts.
    pub const ABSENT: Self = Counts(0);

    /// True if the procedure has none, or the application passed none.
    #[inline(always)]
    pub fn is_absent(self) -> bool {
        self.0 & !1 == 0
    }

    /// Returns that of a rank.
    ///
    /// # Safety
    /// The array is not absent, and has an element for `rank`.
    #[inline(always)]
    pub unsafe fn at(self, rank: usize) -> i64 {
        let address = self.0 & !1;
        // SAFETY: the caller's promise; the entry point's table determines the width.
        unsafe {
            match self.0 & 1 == 1 {
                true => *(address as *const i64).add(rank),
                false => i64::from(*(address as *const c_int).add(rank)),
            }
        }
    }
}

impl From<IntArray> for Counts {
    #[inline(always)]
    fn from(IntArray(address): IntArray) -> Self {
        Counts(address)
    }
}

impl From<LargeArray> for Counts {
    #[inline(always)]
    fn from(LargeArray(address): LargeArray) -> Self {
        Counts(address | 1)
    }
}

/// Address of an array of datatypes, one for each rank (`MPI_Alltoallw`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct DatatypeArray(Word);

impl DatatypeArray {
    /// Value for a procedure without datatypes.
    pub const ABSENT: Self = DatatypeArray(0);

    /// True if the procedure has none, or the application passed none.
    #[inline(always)]
    pub fn is_absent(self) -> bool {
        self.0 == 0
    }

    /// Returns the datatype of a rank.
    ///
    /// # Safety
    /// The array is not absent, and has a handle of this MPI for `rank`.
    pub unsafe fn at(self, native: &Native, rank: usize) -> Datatype {
        // SAFETY: the caller's promise.
        unsafe { native.read_handle(self.0 + rank * native.abi.handle_bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_in_the_width_that_the_procedure_takes() {
        let (ints, larges): ([c_int; 2], [i64; 2]) = ([7, -3], [7, 1 << 40]);
        let small = Counts::from(IntArray(ints.as_ptr() as Word));
        let large = Counts::from(LargeArray(larges.as_ptr() as Word));
        // SAFETY: both have two elements.
        unsafe {
            assert_eq!((small.at(0), small.at(1)), (7, -3));
            assert_eq!((large.at(0), large.at(1)), (7, 1 << 40));
        }
        assert!(Counts::ABSENT.is_absent() && !small.is_absent());
        assert!(Counts::from(LargeArray(0)).is_absent());
    }
}
