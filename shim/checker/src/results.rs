//! Contributions and results of each rank, as MPI defines them.

use crate::contract::Contract;
use crate::expressions::{Expressions, Value};
use crate::flaw::Flaw;
use crate::machine::Machine;
use treepie_collective::algorithms::blocks_of_neighbours;
use treepie_collective::operation::Operation::*;
use treepie_collective::told::pair;
use treepie_collective::{Problem, Range};

/// Buffers of a rank.
pub(super) fn contract(problem: &Problem, rank: usize) -> Contract {
    let (block, total) = (problem.block(rank), problem.total());
    let is_root = rank == problem.root;
    let at_root = |units| if is_root { units } else { 0 };
    let (input, output) = match problem.operation {
        Barrier => (0, 0),
        Bcast => (0, block),
        Gather | Gatherv => (block, at_root(total)),
        Scatter | Scatterv => (at_root(total), block),
        Allgather | Allgatherv => (block, total),
        Alltoall | Alltoallv | Alltoallw => {
            let all = |of: &dyn Fn(usize) -> u64| (0..problem.ranks()).map(of).sum();
            (
                all(&|to| pair(problem, rank, rank, to)),
                all(&|from| pair(problem, rank, from, rank)),
            )
        }
        Reduce => (block, at_root(block)),
        Allreduce | Scan | Exscan => (block, block),
        ReduceScatter | ReduceScatterBlock => (total, block),
        NeighborAllgather | NeighborAllgatherv | NeighborAlltoall | NeighborAlltoallv
        | NeighborAlltoallw => {
            let (input, output) = of_neighbours(problem, rank);
            let end = |blocks: &[Range]| blocks.iter().map(Range::end).max().unwrap_or(0);
            (end(&input), end(&output))
        }
    };
    Contract {
        input,
        output,
        output_given: problem.operation == Bcast && is_root,
    }
}

/// Ranges of the blocks of a rank that are sent to neighbours, and of those received from them.
fn of_neighbours(problem: &Problem, rank: usize) -> (Vec<Range>, Vec<Range>) {
    let all = problem.clusters.neighbourhoods();
    all.map(|all| blocks_of_neighbours(problem, all, rank))
        .unwrap_or_default()
}

/// Expected value of a unit of a block from a neighbour.
fn from_neighbour(problems: &[Problem], rank: usize, unit: u64) -> Expected {
    let (_, output) = of_neighbours(&problems[rank], rank);
    let place = output.iter().position(|block| unit < block.end());
    let all = problems[rank].clusters.neighbourhoods();
    let end = all
        .zip(place)
        .and_then(|(all, place)| all.incoming(rank)[place]);
    let (Some(end), Some(place)) = (end, place) else {
        return Expected::Untouched;
    };
    let (input, _) = of_neighbours(&problems[end.rank], end.rank);
    Expected::Moved(
        end.rank,
        input[end.block].start + unit - output[place].start,
    )
}

/// Expected value of a unit of an output.
enum Expected {
    /// Value of a unit of a rank's input.
    Moved(usize, u64),
    /// Reduction of a unit of the first ranks.
    Reduced { ranks: usize, unit: u64 },
    /// Unchanged initial value.
    Untouched,
}

/// Compares the outputs with those that MPI defines.
pub(super) fn verify(problems: &[Problem], machine: Machine) -> Result<(), Flaw> {
    if problems[0].operation == Barrier {
        return match machine.all_heard_of_all() {
            true => Ok(()),
            false => Err(Flaw::Barrier),
        };
    }
    let (outputs, expressions) = machine.into_outputs();
    for (rank, output) in outputs.iter().enumerate() {
        for (unit, found) in output.iter().enumerate() {
            let expected = expected(problems, rank, unit as u64);
            if !is(&expressions, *found, &expected, problems[rank].ordered) {
                let ranks = found.map(|value| expressions.ranks(value).to_vec());
                return Err(Flaw::Result {
                    rank,
                    unit: unit as u64,
                    found: ranks.unwrap_or_default(),
                });
            }
            if problems[rank].operation == Allreduce && *found != outputs[0][unit] {
                return Err(Flaw::Differs {
                    rank,
                    unit: unit as u64,
                });
            }
        }
    }
    Ok(())
}

fn is(expressions: &Expressions, found: Option<Value>, expected: &Expected, ordered: bool) -> bool {
    let Some(value) = found else {
        return matches!(expected, Expected::Untouched);
    };
    match *expected {
        Expected::Moved(rank, unit) => {
            expressions.ranks(value) == [rank] && expressions.unit(value) == unit
        }
        Expected::Reduced { ranks, unit } => {
            let mut found = expressions.ranks(value).to_vec();
            if !ordered {
                found.sort_unstable();
            }
            expressions.unit(value) == unit && found.iter().copied().eq(0..ranks)
        }
        Expected::Untouched => false,
    }
}

/// Rank whose part contains `unit`, and the unit of its part, if parts of these lengths are
/// consecutive.
fn owner(lengths: impl Iterator<Item = u64>, mut unit: u64) -> (usize, u64) {
    for (rank, length) in lengths.enumerate() {
        if unit < length {
            return (rank, unit);
        }
        unit -= length;
    }
    (usize::MAX, unit)
}

fn expected(problems: &[Problem], rank: usize, unit: u64) -> Expected {
    let (problem, ranks) = (&problems[rank], problems.len());
    match problem.operation {
        Barrier => Expected::Untouched,
        Bcast => Expected::Moved(problem.root, unit),
        Gather | Gatherv | Allgather | Allgatherv => {
            let (owner, unit) = owner((0..ranks).map(|rank| problem.block(rank)), unit);
            Expected::Moved(owner, unit)
        }
        Scatter | Scatterv => {
            Expected::Moved(problem.root, problems[problem.root].start(rank) + unit)
        }
        Alltoall | Alltoallv | Alltoallw => {
            let received = |from: usize| pair(problem, rank, from, rank);
            let (from, unit) = owner((0..ranks).map(received), unit);
            let before = (0..rank).map(|to| pair(&problems[from], from, from, to));
            Expected::Moved(from, before.sum::<u64>() + unit)
        }
        Reduce | Allreduce => Expected::Reduced { ranks, unit },
        ReduceScatter | ReduceScatterBlock => Expected::Reduced {
            ranks,
            unit: problem.start(rank) + unit,
        },
        Scan => Expected::Reduced {
            ranks: rank + 1,
            unit,
        },
        Exscan if rank == 0 => Expected::Untouched,
        Exscan => Expected::Reduced { ranks: rank, unit },
        NeighborAllgather | NeighborAllgatherv | NeighborAlltoall | NeighborAlltoallv
        | NeighborAlltoallw => from_neighbour(problems, rank, unit),
    }
}
