//! Elements of a reduction on one rank, operands or results: in the application's buffer, or in a
//! copy of it, which the plan works on.

use treepie_mpi::native::Native;
use treepie_mpi::{Word, c_int};

use super::call_context::CallContext;
use super::device;
use super::execute::copy;
use super::unit::{Scratch, Unit};

/// Maximum number of elements in one copy: MPI counts them in an `int`.
const MOST_ELEMENTS: u64 = 1 << 30;

/// Elements of a reduction.
#[derive(Debug)]
pub struct Operands {
    unit: Unit,
    total: u64,
    /// Address of element 0 in the application's buffer.
    theirs: Word,
    /// Address of element 0 for the plan.
    pub address: Word,
    /// Buffer of the copy, if there is one.
    scratch: Option<Scratch>,
}

impl Operands {
    /// Uses `total` elements in the application's buffer.
    pub fn new(unit: Unit, total: u64, theirs: Word) -> Self {
        Operands {
            unit,
            total,
            theirs,
            address: theirs,
            scratch: None,
        }
    }

    /// Returns a copy of the same elements.
    pub fn copied(&self) -> Self {
        let mut scratch = Scratch::default();
        Operands {
            address: scratch.hold(&self.unit, self.total),
            scratch: Some(scratch),
            ..*self
        }
    }

    /// Returns a copy of the same elements that the native MPI makes, which can access any memory.
    pub fn copied_by_native(&self) -> Self {
        let unit = Unit {
            is_plain: false,
            ..self.unit
        };
        Operands::new(unit, self.total, self.theirs).copied()
    }

    /// True if they are a copy.
    pub fn is_copy(&self) -> bool {
        self.scratch.is_some()
    }

    /// True if the application's buffer is in memory that the processor cannot read.
    pub fn is_on_device(&self) -> bool {
        self.total > 0 && device::holds(self.unit.start(self.theirs))
    }

    /// Copies the application's elements to the copy, if there is one.
    ///
    /// # Errors
    /// MPI's code.
    pub fn load(&self, native: &Native, place: CallContext) -> Result<(), c_int> {
        self.copy_all(native, self.theirs, self.address, place)
    }

    /// Copies the copy back to the application's buffer, if there is one.
    ///
    /// # Errors
    /// MPI's code.
    pub fn store(&self, native: &Native, place: CallContext) -> Result<(), c_int> {
        self.copy_all(native, self.address, self.theirs, place)
    }

    fn copy_all(
        &self,
        native: &Native,
        from: Word,
        into: Word,
        place: CallContext,
    ) -> Result<(), c_int> {
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
