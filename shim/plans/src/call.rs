//! Data that a rank sends and receives, by the arguments of a collective call.

use treepie_collective::Operation;
use treepie_mpi::abi::ERR_COUNT;
use treepie_mpi::{Call, Counts, Datatype, Side, Word, c_int};

use super::unit::Units;

/// Elements in memory.
#[derive(Debug, Clone, Copy)]
pub struct Elements {
    /// Address of the first one.
    pub address: Word,
    /// Number of elements.
    pub count: u64,
    /// Their datatype.
    pub datatype: Datatype,
}

/// Call with an error that possibly only this rank can see. Others may have begun their plan
/// already: this rank returns an error immediately, and they wait as they would without this
/// library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// In its plain arguments (a root, a count, a datatype), which every MPI checks before it
    /// communicates: the native collective returns immediately, and reports the error best.
    ByNative,
    /// In an argument that some MPIs do not check, so that they would wait for messages that never
    /// come: this code is returned.
    With(c_int),
}

impl Elements {
    /// Returns as many of them as fit `bytes` bytes.
    pub fn at_most(self, units: &mut Units, bytes: u64) -> Self {
        let fit = match (self.count, bytes) {
            // An empty side may have no datatype.
            (0, _) | (_, u64::MAX) => None,
            _ => units
                .of(self.datatype)
                .and_then(|unit| bytes.checked_div(unit.bytes)),
        };
        let count = fit.map_or(self.count, |fit| fit.min(self.count));
        Elements { count, ..self }
    }

    /// Returns the elements of a rank that has only one block, which starts at the beginning of its
    /// buffer.
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

    /// Returns the elements that `side` has for a rank.
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
            true => side.datatypes.at(native, rank),
            false => side.datatype,
        };
        let at = |array: Counts| (!array.is_absent()).then(|| array.at(rank));
        let count = at(side.counts).unwrap_or(side.count);
        let mut step = |datatype| units.of(datatype).map_or(0, |unit| unit.extent.step);
        let offset = match (at(side.displacements), count) {
            // An empty block has no address, and may have no datatype.
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

/// Converts a count to a length.
fn length(side: &Side, count: i64) -> Result<u64, Refused> {
    u64::try_from(count).map_err(|_| match side.counts.is_absent() {
        true => Refused::ByNative,
        false => Refused::With(ERR_COUNT),
    })
}
