//! Addresses that an application passes in addition to handles and numbers. As for handles, the
//! type states what is at an address, and safe code cannot make one from a number: entry points do,
//! from the arguments of a call, whose contract is that these addresses are valid until it returns.
//! Nobody keeps one for longer.

use std::ffi::c_int;
use std::marker::PhantomData;

use crate::handles::{Datatype, Handle};
use crate::native::{Native, native};
use crate::words::Word;

/// Bytes of memory, more than an `MPI_Status` of any family has.
const LARGEST: usize = 64;

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

    /// Calls `work` with the address of `count` statuses of this library, which end with the call.
    pub fn with_room<R>(native: &Native, count: usize, work: impl FnOnce(Self) -> R) -> R {
        let mut one = [0_u64; LARGEST / size_of::<u64>()];
        let mut several = Vec::new();
        let room = match count {
            0 | 1 => &mut one[..],
            count => {
                several.resize(count * native.abi.status_bytes / size_of::<u64>() + 1, 0);
                &mut several[..]
            }
        };
        work(StatusAddress(room.as_mut_ptr() as Word))
    }

    /// Returns the address of memory of this library.
    ///
    /// # Safety
    /// It is large enough, and lives as long as this is used.
    pub(crate) unsafe fn of_room(room: &mut [u64]) -> Self {
        StatusAddress(room.as_mut_ptr() as Word)
    }

    /// Returns the address of the error in a status, unless that is one of the values for none.
    #[inline(always)]
    pub(crate) fn error(self, native: &Native) -> Option<*mut c_int> {
        let abi = &native.abi;
        let is_none = self.0 == 0 || self.0 == abi.status_ignore || self.0 == abi.statuses_ignore;
        (!is_none).then(|| (self.0 + abi.status_error) as *mut c_int)
    }

    /// Sets the error in a status, if there is one.
    pub fn set_error(self, native: &Native, error: c_int) {
        if let Some(place) = self.error(native) {
            // SAFETY: a status is there, as the type states, and statuses may be written.
            unsafe { *place = error };
        }
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

/// Address of a handle, or of the first of an array of them; or null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct HandleAddress<H>(Word, PhantomData<H>);

impl<H: Handle> HandleAddress<H> {
    /// Value for a parameter that a procedure lacks, and null.
    pub const ABSENT: Self = HandleAddress(0, PhantomData);

    /// Returns the address that is passed as this word.
    ///
    /// # Safety
    /// It is null, or a handle of this type is there, or an array of as many as are asked for,
    /// which may be written if the procedure writes it, while the result is used.
    #[inline(always)]
    pub const unsafe fn from_word(word: Word) -> Self {
        HandleAddress(word, PhantomData)
    }

    /// Returns the word in which it is passed.
    #[inline(always)]
    pub fn word(self) -> Word {
        self.0
    }

    /// True if the procedure has none, or the application passed null.
    #[inline(always)]
    pub fn is_absent(self) -> bool {
        self.0 == 0
    }

    /// Returns the address of handle `number` of an array that has it.
    #[inline(always)]
    pub fn nth(self, native: &Native, number: usize) -> Self {
        HandleAddress(self.0 + number * native.abi.handle_bytes, PhantomData)
    }

    /// Returns the handle; an absent one if the address is null, which the native MPI reports.
    #[inline(always)]
    pub fn read(self) -> H {
        match native() {
            // SAFETY: the type's contract.
            Some(native) if self.0 != 0 => unsafe { native.read_handle(self.0) },
            _ => H::ABSENT,
        }
    }

    /// Writes the handle, if there is an address.
    #[inline(always)]
    pub fn write(self, native: &Native, handle: H) {
        if self.0 != 0 {
            // SAFETY: the type's contract.
            unsafe { native.write_handle(self.0, handle) };
        }
    }
}

/// Address of an `int` in which a procedure returns a flag, an index or a number, or of the first
/// of an array of them; or null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct IntAddress(Word);

impl IntAddress {
    /// Value for a parameter that a procedure lacks, and null.
    pub const ABSENT: Self = IntAddress(0);

    /// Returns the address that is passed as this word.
    ///
    /// # Safety
    /// It is null, or an `int` is there, or an array of as many as are asked for, which may be
    /// written, while the result is used.
    #[inline(always)]
    pub const unsafe fn from_word(word: Word) -> Self {
        IntAddress(word)
    }

    /// Returns the address of these numbers.
    pub fn of(numbers: &'static mut [c_int]) -> Self {
        IntAddress(numbers.as_mut_ptr() as Word)
    }

    /// Returns the word in which it is passed.
    #[inline(always)]
    pub fn word(self) -> Word {
        self.0
    }

    /// True if the procedure has none, or the application passed null.
    #[inline(always)]
    pub fn is_absent(self) -> bool {
        self.0 == 0
    }

    /// Returns the address of number `place` of an array that has it.
    #[inline(always)]
    pub fn nth(self, place: usize) -> Self {
        IntAddress(self.0 + place * size_of::<c_int>())
    }

    /// Returns the number; 0 if there is no address.
    #[inline(always)]
    pub fn read(self) -> c_int {
        match self.0 {
            0 => 0,
            // SAFETY: the type's contract; any bits are a number.
            address => unsafe { *(address as *const c_int) },
        }
    }

    /// Writes the number, if there is an address.
    #[inline(always)]
    pub fn write(self, number: c_int) {
        if self.0 != 0 {
            // SAFETY: the type's contract.
            unsafe { *(self.0 as *mut c_int) = number };
        }
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

    /// Returns that of a rank of the call's communicator, or of a neighbour; 0 if it is absent.
    #[inline(always)]
    pub fn at(self, rank: usize) -> i64 {
        let address = self.0 & !1;
        if address == 0 {
            return 0;
        }
        // SAFETY: MPI has the application pass an element for each; the entry point's table
        // determines the width.
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

    /// Returns the datatype of a rank of the call's communicator, or of a neighbour; an absent one
    /// if there is no array.
    pub fn at(self, native: &Native, rank: usize) -> Datatype {
        if self.is_absent() {
            return Datatype::ABSENT;
        }
        // SAFETY: MPI has the application pass a handle for each.
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
        assert_eq!((small.at(0), small.at(1)), (7, -3));
        assert_eq!((large.at(0), large.at(1)), (7, 1 << 40));
        assert!(Counts::ABSENT.is_absent() && !small.is_absent());
        assert!(Counts::from(LargeArray(0)).is_absent());
    }
}
