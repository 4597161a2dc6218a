//! What a rank has to send and to receive by the arguments of a collective call.

use treepie_collective::Operation;
use treepie_mpi::abi::ERR_COUNT;
use treepie_mpi::{Call, Counts, Datatype, Side, Word, c_int};

use super::unit::Units;

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

/// A call that is wrong in a way that this rank alone may see. Others may be in its plan already:
/// it returns an error at once, and they wait as they would without us.
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

    /// The elements of a rank that has one block only, which starts where its buffer does.
    ///
    /// # Errors
    /// A negative count.
    pub fn of_only_block(side: &Side) -> Result<Elements, Refused> {
        Ok(Elements {
            address: side.buffer,
            count: length(side, side.count)?,
            datatype: side.datatype,
        })
    }

    /// The elements that `side` has for a rank.
    ///
    /// # Errors
    /// A negative count.
    pub fn of_rank(
        call: &Call,
        units: &mut Units,
        side: &Side,
        rank: usize,
    ) -> Result<Elements, Refused> {
        let native = units.native();
        let each_has_its_type = matches!(
            call.operation,
            Operation::Alltoallw | Operation::NeighborAlltoallw
        );
        let datatype = match each_has_its_type {
            // SAFETY: the caller of the procedure gives a handle for each rank.
            true => unsafe { side.datatypes.at(native, rank) },
            false => side.datatype,
        };
        // SAFETY: the caller of the procedure gives an element for each rank.
        let at = |array: Counts| (!array.is_absent()).then(|| unsafe { array.at(rank) });
        let count = at(side.counts).unwrap_or(side.count);
        let mut step = |datatype| units.of(datatype).map_or(0, |unit| unit.extent.step);
        let offset = match (at(side.displacements), count) {
            // What is empty is nowhere, and may have no datatype.
            (_, 0) => 0,
            (None, _) if rank == 0 => 0,
            (None, count) => rank as i64 * count * step(datatype),
            (Some(displacement), _) if each_has_its_type => displacement,
            (Some(displacement), _) => displacement * step(datatype),
        };
        Ok(Elements {
            address: side.buffer.wrapping_add_signed(offset as isize),
            count: length(side, count)?,
            datatype,
        })
    }
}

/// A count as a length.
fn length(side: &Side, count: i64) -> Result<u64, Refused> {
    u64::try_from(count).map_err(|_| match side.counts.is_absent() {
        true => Refused::ByNative,
        false => Refused::With(ERR_COUNT),
    })
}
