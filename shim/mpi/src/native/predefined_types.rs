//! Sizes of predefined datatypes whose handles are addresses (Open MPI): queried once each. They
//! are variables of a library or of the program, and never change; a type that the application
//! creates is on the heap, where another one may replace it, and is queried each time.

use std::ffi::c_void;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Word;
use crate::elf;

/// Number of cells, a power of two: Open MPI has some 70 predefined types, programs use a few.
const CELLS: usize = 64;

/// Upper limit of sizes: the largest predefined type has 32 bytes.
const LARGEST: u64 = 0xff;

/// Cache of the sizes of predefined types.
pub struct PredefinedTypes {
    /// Address range of their variables; empty if handles are numbers.
    variables: Range<usize>,
    /// Address and size in its lowest byte, by which the address is shifted; 0 while the cell is
    /// empty.
    known: [AtomicUsize; CELLS],
}

#[inline(always)]
fn cell_of(datatype: Word) -> usize {
    // The variables are 512 bytes apart, or at the linker's distance.
    (datatype >> 9 ^ datatype >> 5) % CELLS
}

impl PredefinedTypes {
    /// Creates the cache for the types in the same segment of the same object as `one`, the
    /// variable of a predefined type; none without it.
    pub fn beside(one: Option<*mut c_void>) -> Self {
        let variables = one.and_then(|one| elf::segment_of(one as usize));
        PredefinedTypes {
            variables: variables.unwrap_or_default(),
            known: [const { AtomicUsize::new(0) }; CELLS],
        }
    }

    /// True if this is one of them.
    #[inline(always)]
    pub fn contains(&self, datatype: Word) -> bool {
        self.variables.contains(&datatype)
    }

    /// Returns the bytes of an element, if they are known.
    #[inline(always)]
    pub fn size(&self, datatype: Word) -> Option<u64> {
        let known = self.known[cell_of(datatype)].load(Ordering::Relaxed);
        (known >> 8 == datatype && known != 0).then_some((known & 0xff) as u64)
    }

    /// Caches a size if the datatype is a predefined one.
    pub fn learn(&self, datatype: Word, size: u64) {
        if self.contains(datatype) && (1..=LARGEST).contains(&size) {
            let known = datatype << 8 | size as usize;
            self.known[cell_of(datatype)].store(known, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static ONE: AtomicUsize = AtomicUsize::new(0);

    fn beside_one() -> (PredefinedTypes, Word) {
        let address = ONE.as_ptr();
        (
            PredefinedTypes::beside(Some(address.cast())),
            address as Word,
        )
    }

    #[test]
    fn sizes_of_variables_are_kept() {
        let (types, one) = beside_one();
        assert_eq!(types.size(one), None);
        types.learn(one, 8);
        assert_eq!(types.size(one), Some(8));
        assert_eq!(types.size(one + 512), None);
    }

    #[test]
    fn sizes_of_what_is_on_the_heap_or_too_large_are_not_kept() {
        let (types, one) = beside_one();
        let made = Box::new(0u64);
        let address = std::ptr::from_ref(&*made) as Word;
        types.learn(address, 8);
        types.learn(one, 256);
        types.learn(one, 0);
        assert_eq!((types.size(address), types.size(one)), (None, None));
    }

    #[test]
    fn nothing_is_kept_where_handles_are_numbers() {
        let types = PredefinedTypes::beside(None);
        types.learn(0, 4);
        types.learn(0x4c00_0405, 4);
        assert_eq!((types.size(0), types.size(0x4c00_0405)), (None, None));
    }
}
