//! Call as a problem for a plan: the amount of data, its unit, and its addresses.

use std::ops::Range;

use treepie_collective::Operation::{self, *};
use treepie_collective::{Amount, Clusters};
use treepie_mpi::abi::ERR_BUFFER;
use treepie_mpi::native::Native;
use treepie_mpi::{Call, Handle, Op, Side, c_int};

use super::call::{Elements, Refused};
use super::call_context::CallContext;
use super::execute::Spaces;
use super::neighbours::Blocks;
use super::operands::Operands;
use super::packed::Packed;
use super::unit::{Unit, Units};

/// Call for which a plan can be run.
pub struct Job {
    /// Amount of data.
    pub amount: Amount,
    /// Memory of the call; the scratch buffer comes with the plan.
    pub spaces: Spaces,
    /// Blocks that the plan reads, and that it writes, if data is moved.
    input: Option<Packed>,
    output: Option<Packed>,
    /// True if the output holds the plan's initial data.
    output_given: bool,
    /// Operands and results, if elements are reduced.
    reduced: Option<Reduced>,
}

/// A rank's operands of a reduction, and its results.
struct Reduced {
    operands: Operands,
    results: Operands,
}

impl Job {
    /// Creates the job of the call on `place` among the ranks of these clusters.
    ///
    /// # Errors
    /// An erroneous call.
    pub fn new(
        native: &Native,
        call: &Call,
        place: CallContext,
        clusters: &Clusters,
    ) -> Result<Job, Refused> {
        let ranks = clusters.ranks();
        if !(0..ranks as i64).contains(&i64::from(call.root)) {
            return Err(Refused::ByNative);
        }
        match clusters.neighbourhoods() {
            Some(all) if call.operation.is_among_neighbours() => {
                let blocks = Blocks::new(native, call, all, place.rank)?;
                Ok(Job::of_blocks(native, blocks))
            }
            _ if call.operation.is_among_neighbours() => Err(Refused::ByNative),
            _ if call.operation.reduces() => Job::reducing(native, call, place.rank, ranks),
            _ => Job::moving(native, call, place.rank, ranks),
        }
    }

    fn of_blocks(native: &Native, blocks: Blocks) -> Job {
        Job {
            amount: blocks.amount,
            spaces: Spaces {
                unit: Unit::byte(native),
                input: blocks.input.base(),
                output: blocks.output.base(),
                scratch: 0,
                op: Op::ABSENT,
            },
            input: Some(blocks.input),
            output: Some(blocks.output),
            output_given: false,
            reduced: None,
        }
    }

    fn moving(native: &Native, call: &Call, rank: usize, ranks: usize) -> Result<Job, Refused> {
        let is_root = call.root as usize == rank;
        let in_place = |side: &Side| side.buffer == native.abi.in_place;
        let is_buffer = |side: &Side| match in_place(side) {
            true => Err(Refused::With(ERR_BUFFER)),
            false => Ok(()),
        };
        // A rank's only block starts at the beginning of its buffer.
        let only = |units: &mut Units, side: &Side, most: u64| {
            is_buffer(side)?;
            let block =
                |units: &mut Units, _| Ok(Elements::of_only_block(side)?.at_most(units, most));
            Packed::new(units, rank..rank + 1, false, block)
        };
        let some = |units: &mut Units, side: &Side, of: Range<usize>, apart| {
            is_buffer(side)?;
            Packed::new(units, of, apart, |units, of| {
                Elements::of_rank(call, units, side, of)
            })
        };
        // Receive side: only this rank's own amount of the sent data is known. A message may be
        // shorter than its receive buffer, and MPIs let programs do so here.
        let into = |units: &mut Units, input: &Packed| {
            is_buffer(&call.receive)?;
            let sent = input.bytes();
            let most = |from: usize| match call.operation {
                Gather | Allgather | Alltoall => sent[0],
                Gatherv if from == rank => sent[0],
                Alltoallv | Alltoallw if from == rank => sent[rank],
                _ => u64::MAX,
            };
            Packed::new(units, 0..ranks, false, |units, from| {
                let block = Elements::of_rank(call, units, &call.receive, from)?;
                Ok(block.at_most(units, most(from)))
            })
        };
        let units = &mut Units::new(native);
        let (send, receive) = (&call.send, &call.receive);
        let (input, output) = match call.operation {
            Barrier => (None, None),
            Bcast => (None, Some(only(units, send, u64::MAX)?)),
            Gather | Gatherv if !is_root => (Some(only(units, send, u64::MAX)?), None),
            Gather | Gatherv | Allgather | Allgatherv => {
                let input = match in_place(send) {
                    true => some(units, receive, rank..rank + 1, false)?,
                    false => only(units, send, u64::MAX)?,
                };
                let output = into(units, &input)?;
                // All others expect the amount that they receive.
                let expected = output.bytes()[rank];
                let input = match call.operation == Allgatherv && input.bytes()[0] < expected {
                    true => input.padded(expected),
                    false => input,
                };
                (Some(input), Some(output))
            }
            Scatter | Scatterv if !is_root => (None, Some(only(units, receive, u64::MAX)?)),
            Scatter | Scatterv => {
                let input = some(units, send, 0..ranks, false)?;
                let own = input.bytes()[rank];
                let output = match in_place(receive) {
                    true => Packed::unwanted(own),
                    false => only(units, receive, own)?,
                };
                (Some(input), Some(output))
            }
            _ => {
                let input = match in_place(send) {
                    true => some(units, receive, 0..ranks, true)?,
                    false => some(units, send, 0..ranks, false)?,
                };
                let output = into(units, &input)?;
                (Some(input), Some(output))
            }
        };
        let amount = moved(call.operation, rank, ranks, is_root, &input, &output)
            .ok_or(Refused::With(native.abi.err_truncate))?;
        let unit = Unit::byte(native);
        Ok(Job {
            amount,
            spaces: Spaces {
                unit,
                input: input.as_ref().map_or(0, Packed::base),
                output: output.as_ref().map_or(0, Packed::base),
                scratch: 0,
                op: Op::ABSENT,
            },
            input,
            output,
            output_given: call.operation == Bcast && is_root,
            reduced: None,
        })
    }

    fn reducing(native: &Native, call: &Call, rank: usize, ranks: usize) -> Result<Job, Refused> {
        let mut units = Units::new(native);
        let unit = units.of(call.receive.datatype).ok_or(Refused::ByNative)?;
        let amount = match call.operation {
            ReduceScatter => Amount::Blocks(
                (0..ranks)
                    .map(|of| Elements::of_rank(call, &mut units, &call.receive, of))
                    .map(|block| block.map(|block| block.count))
                    .collect::<Result<Vec<u64>, Refused>>()?,
            ),
            _ => Amount::Each(Elements::of_only_block(&call.receive)?.count),
        };
        let total = match &amount {
            Amount::Each(units) if call.operation == ReduceScatterBlock => units * ranks as u64,
            Amount::Each(units) => *units,
            Amount::Blocks(blocks) => blocks.iter().sum(),
            // Reductions do not have this amount.
            _ => 0,
        };
        let (send, receive) = (call.send.buffer, call.receive.buffer);
        let has_result = call.operation != Reduce || call.root as usize == rank;
        let in_place = native.abi.in_place;
        if has_result && receive == in_place || !has_result && send == in_place {
            return Err(Refused::With(ERR_BUFFER));
        }
        // MPI does not allow the same buffer twice; MPIs that do not check treat it as in place.
        let operands = match has_result && (send == in_place || send == receive) {
            true => Operands::new(unit, total, receive).copied(),
            false => Operands::new(unit, total, send),
        };
        let own = match &amount {
            _ if !has_result => 0,
            Amount::Blocks(blocks) => blocks[rank],
            Amount::Each(units) => *units,
            _ => 0,
        };
        let results = Operands::new(unit, own, receive);
        Ok(Job {
            amount,
            spaces: Spaces {
                unit,
                input: operands.address,
                output: results.address,
                scratch: 0,
                op: call.op,
            },
            input: None,
            output: None,
            output_given: false,
            reduced: Some(Reduced { operands, results }),
        })
    }

    /// True if all data are used in the application's buffers.
    pub fn is_direct(&self) -> bool {
        let blocks = [&self.input, &self.output].into_iter().flatten();
        let reduced = self.reduced.iter();
        blocks.into_iter().all(|side| !side.is_copy())
            && reduced
                .flat_map(|reduced| [&reduced.operands, &reduced.results])
                .all(|side| !side.is_copy())
    }

    /// True if data are in memory that the processor cannot read.
    pub fn is_on_device(&self) -> bool {
        let blocks = [&self.input, &self.output].into_iter().flatten();
        let reduced = self.reduced.iter();
        blocks.into_iter().any(Packed::is_on_device)
            || reduced
                .flat_map(|reduced| [&reduced.operands, &reduced.results])
                .any(Operands::is_on_device)
    }

    /// Returns the job with copies of the data that the processor cannot read; the native MPI makes
    /// these copies.
    pub fn copied_by_native(mut self) -> Self {
        for (side, space) in [
            (&mut self.input, &mut self.spaces.input),
            (&mut self.output, &mut self.spaces.output),
        ] {
            *side = side.take().map(|side| match side.is_on_device() {
                true => side.copied_by_native(),
                false => side,
            });
            *space = side.as_ref().map_or(*space, Packed::base);
        }
        if let Some(Reduced { operands, results }) = &mut self.reduced {
            for (side, space) in [
                (operands, &mut self.spaces.input),
                (results, &mut self.spaces.output),
            ] {
                if side.is_on_device() {
                    *side = side.copied_by_native();
                    *space = side.address;
                }
            }
        }
        self
    }

    /// Copies the application's data to the plan's buffers.
    ///
    /// # Errors
    /// MPI's code.
    pub fn load(&self, native: &Native, place: CallContext) -> Result<(), c_int> {
        if let Some(input) = &self.input {
            input.load(native, place)?;
        }
        if let Some(Reduced { operands, results }) = &self.reduced {
            operands.load(native, place)?;
            results.load(native, place)?;
        }
        match &self.output {
            Some(output) if self.output_given => output.load(native, place),
            _ => Ok(()),
        }
    }

    /// Copies the plan's results to the application's buffers.
    ///
    /// # Errors
    /// MPI's code.
    pub fn store(&self, native: &Native, place: CallContext) -> Result<(), c_int> {
        if let Some(reduced) = &self.reduced {
            reduced.results.store(native, place)?;
        }
        match &self.output {
            Some(output) if !self.output_given => output.store(native, place),
            _ => Ok(()),
        }
    }

    /// Leaks the job's memory: a message that failed may still be in flight.
    pub fn abandon(self) {
        std::mem::forget(self);
    }
}

/// Returns the number of bytes that are moved; `None` if a rank's own blocks do not match.
fn moved(
    operation: Operation,
    rank: usize,
    ranks: usize,
    is_root: bool,
    input: &Option<Packed>,
    output: &Option<Packed>,
) -> Option<Amount> {
    let bytes = |side: &Option<Packed>| side.as_ref().map(|side| side.bytes().to_vec());
    let (given, taken) = (
        bytes(input).unwrap_or_default(),
        bytes(output).unwrap_or_default(),
    );
    // A rank other than the root knows only its own block.
    let own_alone = |bytes: u64| {
        let mut blocks = vec![0; ranks];
        blocks[rank] = bytes;
        Amount::Blocks(blocks)
    };
    let fits = |whole: &[u64], own: &[u64]| whole.get(rank) == own.first();
    match operation {
        Barrier => Some(Amount::Each(0)),
        Bcast => Some(Amount::Each(taken[0])),
        Gather | Scatter if !is_root => Some(Amount::Each(*given.first().or(taken.first())?)),
        Gatherv | Scatterv if !is_root => Some(own_alone(*given.first().or(taken.first())?)),
        Gather | Allgather => fits(&taken, &given).then(|| Amount::Each(taken[0])),
        Gatherv | Allgatherv => fits(&taken, &given).then(|| Amount::Blocks(taken.clone())),
        Scatter => fits(&given, &taken).then(|| Amount::Each(given[0])),
        Scatterv => fits(&given, &taken).then(|| Amount::Blocks(given.clone())),
        Alltoall => (given == taken).then(|| Amount::Each(taken[0])),
        Alltoallv | Alltoallw => {
            let own_fits = given.get(rank) == taken.get(rank);
            own_fits.then_some(Amount::Exchanged {
                sent: given,
                received: taken,
            })
        }
        // The amount of others is not computed here.
        _ => None,
    }
}
