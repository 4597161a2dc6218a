//! Which handles that are addresses (Open MPI) are those of objects that MPI defines: variables, of its
//! library or of the program. What the application makes is on the heap. Where an address
//! lies is asked for once, since that takes a look at all loaded objects.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::mpi::Word;
use crate::mpi::elf;

/// Cells, a power of two: programs use a few datatypes and operations.
const CELLS: usize = 64;

/// What is known of handles.
pub struct OwnObjects {
    /// A handle, shifted by the bit that says whether it is the MPI's own; 0 while the cell is
    /// empty.
    known: [AtomicUsize; CELLS],
}

fn cell_of(handle: Word) -> usize {
    (handle >> 9 ^ handle >> 5) % CELLS
}

impl OwnObjects {
    /// Nothing is known yet.
    pub const fn new() -> Self {
        OwnObjects {
            known: [const { AtomicUsize::new(0) }; CELLS],
        }
    }

    /// Whether this is the handle of a variable. What is one stays one, and the heap is never where
    /// variables are.
    pub fn has(&self, handle: Word) -> bool {
        let cell = &self.known[cell_of(handle)];
        let known = cell.load(Ordering::Relaxed);
        if known >> 1 == handle && known != 0 {
            return known & 1 == 1;
        }
        let is_own = elf::segment_of(handle).is_some();
        cell.store(handle << 1 | usize::from(is_own), Ordering::Relaxed);
        is_own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static VARIABLE: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn variables_are_the_mpis_own_and_what_is_on_the_heap_is_not() {
        let objects = OwnObjects::new();
        let made = Box::new(0u64);
        let variable = VARIABLE.as_ptr() as Word;
        let made = std::ptr::from_ref(&*made) as Word;
        for _ in 0..2 {
            assert!(objects.has(variable));
            assert!(!objects.has(made));
        }
    }
}
