//! The elements of a reduction on one rank, operands or results: where the application has them, or
//! a copy of them, which the plan works on.

use treepie_mpi::native::Native;
use treepie_mpi::{Word, c_int};

use super::device;
use super::execute::copy;
use super::place::Place;
use super::unit::{Scratch, Unit};

/// At most so many elements are copied at once: MPI counts them in an `int`.
const MOST_ELEMENTS: u64 = 1 << 30;

/// Elements of a reduction.
#[derive(Debug)]
pub struct Operands {
    unit: Unit,
    total: u64,
    /// Where the application has element 0.
    theirs: Word,
    /// Where the plan finds element 0.
    pub address: Word,
    /// What that is in, if it is a copy.
    scratch: Option<Scratch>,
}

impl Operands {
    /// `total` elements, used where the application has them.
    pub fn new(unit: Unit, total: u64, theirs: Word) -> Self {
        Operands {
            unit,
            total,
            theirs,
            address: theirs,
            scratch: None,
        }
    }

    /// A copy of the same elements.
    pub fn copied(&self) -> Self {
        let mut scratch = Scratch::default();
        Operands {
            address: scratch.hold(&self.unit, self.total),
            scratch: Some(scratch),
            ..*self
        }
    }

    /// A copy of the same elements that the native MPI makes, which takes any memory.
    pub fn copied_by_native(&self) -> Self {
        let unit = Unit {
            is_plain: false,
            ..self.unit
        };
        Operands::new(unit, self.total, self.theirs).copied()
    }

    /// Whether they are a copy.
    pub fn is_copy(&self) -> bool {
        self.scratch.is_some()
    }

    /// Whether the application has them where the processor can't read.
    pub fn is_on_device(&self) -> bool {
        self.total > 0 && device::holds(self.unit.start(self.theirs))
    }

    /// Puts the application's elements into the copy, if there is one.
    ///
    /// # Errors
    /// MPI's code.
    pub fn load(&self, native: &Native, place: Place) -> Result<(), c_int> {
        self.copy_all(native, self.theirs, self.address, place)
    }

    /// Puts the copy where the application has the elements, if there is one.
    ///
    /// # Errors
    /// MPI's code.
    pub fn store(&self, native: &Native, place: Place) -> Result<(), c_int> {
        self.copy_all(native, self.address, self.theirs, place)
    }

    fn copy_all(&self, native: &Native, from: Word, into: Word, place: Place) -> Result<(), c_int> {
        if self.scratch.is_none() {
            return Ok(());
        }
        let mut done = 0;
        while done < self.total {
            let count = MOST_ELEMENTS.min(self.total - done);
            let address = self.unit.address(from, done);
            let part = (address, count as c_int, self.unit.datatype);
            let into = self.unit.address(into, done);
            // SAFETY: the application's buffer and the copy have `total` elements.
            unsafe { copy(native, &self.unit, part, into, place)? };
            done += count;
        }
        Ok(())
    }
}
