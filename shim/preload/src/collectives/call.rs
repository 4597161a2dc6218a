//! The arguments of a collective call, as the application gave them.

use treepie_core::collective::Operation;

use super::unit::Units;
use crate::mpi::abi::ERR_COUNT;
use crate::mpi::{Datatype, Handle, Op, Word, c_int};

/// One side of a call: the send or the receive buffer. What a procedure does not
/// have is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Side {
    /// The buffer.
    pub buffer: Word,
    /// The count of each rank's block, or of the message.
    pub count: i64,
    /// The datatype.
    pub datatype: Datatype,
    /// Address of the datatypes of all ranks (`Alltoallw`).
    pub datatypes: Word,
    /// Address of the counts of all ranks.
    pub counts: Word,
    /// Address of the displacements of all ranks.
    pub displacements: Word,
}

impl Side {
    /// Nothing.
    pub const NONE: Side = Side {
        buffer: 0,
        count: 0,
        datatype: Datatype::ABSENT,
        datatypes: 0,
        counts: 0,
        displacements: 0,
    };
}

/// A collective call. `MPI_Bcast` and reductions have one count and datatype, which
/// both sides show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Which collective.
    pub operation: Operation,
    /// Counts are `MPI_Count` and displacements `MPI_Aint` in arrays, not `int`.
    pub large: bool,
    /// The send buffer; that of a broadcast.
    pub send: Side,
    /// The receive buffer.
    pub receive: Side,
    /// The reduction.
    pub op: Op,
    /// The root.
    pub root: c_int,
}

/// Elements in memory.
#[derive(Debug, Clone, Copy)]
pub struct Elements {
    /// Where the first one is.
    pub address: Word,
    /// How many.
    pub count: u64,
    /// Of what.
    pub datatype: Datatype,
}

/// A call that is wrong in a way that this rank alone may see. Others may be in its plan already: it
/// returns an error at once, and they wait as they would without us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// In its plain arguments (a root, a count, a datatype), which every MPI looks at before it
    /// communicates: the native collective returns at once, and says best what is wrong.
    ByNative,
    /// In what some MPIs do not look at, and would communicate with nobody: this code is returned.
    With(c_int),
}

impl Elements {
    /// As many of them as `bytes` bytes fill.
    pub fn at_most(self, units: &mut Units, bytes: u64) -> Self {
        let fit = match (self.count, bytes) {
            // What is empty may have no datatype.
            (0, _) | (_, u64::MAX) => None,
            _ => units
                .of(self.datatype)
                .and_then(|unit| bytes.checked_div(unit.bytes)),
        };
        let count = fit.map_or(self.count, |fit| fit.min(self.count));
        Elements { count, ..self }
    }
}

impl Side {
    /// The elements of a rank that has one block only, which starts where its buffer does.
    ///
    /// # Errors
    /// A negative count.
    pub fn only_block(&self) -> Result<Elements, Refused> {
        Ok(Elements {
            address: self.buffer,
            count: self.length(self.count)?,
            datatype: self.datatype,
        })
    }

    /// A count as a length.
    fn length(&self, count: i64) -> Result<u64, Refused> {
        u64::try_from(count).map_err(|_| match self.counts {
            0 => Refused::ByNative,
            _ => Refused::With(ERR_COUNT),
        })
    }
}

impl Call {
    /// A barrier.
    pub const NONE: Call = Call {
        operation: Operation::Barrier,
        large: false,
        send: Side::NONE,
        receive: Side::NONE,
        op: Op::ABSENT,
        root: 0,
    };

    /// The elements that `side` has for a rank.
    ///
    /// # Errors
    /// A negative count.
    pub fn elements(
        &self,
        units: &mut Units,
        side: &Side,
        rank: usize,
    ) -> Result<Elements, Refused> {
        let native = units.native();
        let each_has_its_type = self.operation == Operation::Alltoallw;
        let datatype = match each_has_its_type {
            // SAFETY: the caller of the procedure gives a handle for each rank.
            true => unsafe { native.read_handle(side.datatypes + rank * native.abi.handle_bytes) },
            false => side.datatype,
        };
        let count = match side.counts {
            0 => side.count,
            counts => self.integer_at(counts, rank),
        };
        let mut step = |datatype| units.of(datatype).map_or(0, |unit| unit.extent.step);
        let offset = match (side.displacements, count) {
            // What is empty is nowhere, and may have no datatype.
            (_, 0) => 0,
            (0, _) if rank == 0 => 0,
            (0, count) => rank as i64 * count * step(datatype),
            (displacements, _) if each_has_its_type => self.integer_at(displacements, rank),
            (displacements, _) => self.integer_at(displacements, rank) * step(datatype),
        };
        Ok(Elements {
            address: side.buffer.wrapping_add_signed(offset as isize),
            count: side.length(count)?,
            datatype,
        })
    }

    /// An element of an array of counts or displacements.
    fn integer_at(&self, array: Word, rank: usize) -> i64 {
        // SAFETY: the caller of the procedure gives arrays with an element for
        // each rank, of the width that the procedure takes.
        unsafe {
            match self.large {
                true => *(array as *const i64).add(rank),
                false => i64::from(*(array as *const c_int).add(rank)),
            }
        }
    }
}
