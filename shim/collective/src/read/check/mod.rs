//! Proves that the plans of all ranks together do what MPI defines.
//!
//! The plans are run on symbols instead of data: every unit holds the expression
//! that it was computed by. Sends are synchronous, the case in which a deadlock
//! shows. That steps which may overlap in time do not touch the same units is
//! checked apart, so that one order of steps stands for all.

mod expressions;
mod machine;
#[cfg(test)]
mod mutants;
mod results;

use thiserror::Error;

use crate::plan::{Action, Plan, Range, Space};
use crate::{Operation, Problem};
use machine::Machine;
use results::{contract, verify};

/// What is wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Flaw {
    /// A step touches what its buffer does not have.
    #[error("rank {rank}, step {step}: a range ends behind its buffer")]
    Outside {
        /// The rank.
        rank: usize,
        /// The step.
        step: usize,
    },
    /// The input is written.
    #[error("rank {rank}, step {step}: writes to the input buffer")]
    WritesInput {
        /// The rank.
        rank: usize,
        /// The step.
        step: usize,
    },
    /// The two ranges of a step differ in length.
    #[error("rank {rank}, step {step}: ranges differ in length ({left}, {right})")]
    Lengths {
        /// The rank.
        rank: usize,
        /// The step.
        step: usize,
        /// Units of the first range.
        left: u64,
        /// Units of the second.
        right: u64,
    },
    /// Two steps may run at the same time and touch the same units.
    #[error("rank {rank}: steps {first} and {second} touch the same units and may overlap")]
    Race {
        /// The rank.
        rank: usize,
        /// The earlier step.
        first: usize,
        /// The later step.
        second: usize,
    },
    /// The scratch buffer is larger than the operation can need.
    #[error("rank {rank}: {scratch} units of scratch, where {most} are the most")]
    Scratch {
        /// The rank.
        rank: usize,
        /// What it asks for, in units.
        scratch: u64,
        /// What it may ask for, in units.
        most: u64,
    },
    /// A unit is used that nothing was put into.
    #[error("rank {rank}, step {step}: unit {unit} of {space:?} is used before it has a value")]
    Undefined {
        /// The rank.
        rank: usize,
        /// The step.
        step: usize,
        /// The buffer.
        space: Space,
        /// The unit.
        unit: u64,
    },
    /// Two messages between the same ranks have the same tag, or sender and
    /// receiver do not agree on the length.
    #[error(
        "the message with tag {tag} from rank {from} to rank {to} is sent twice, or not as long as it is received"
    )]
    Message {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// The tag.
        tag: u32,
    },
    /// Operands that do not belong together are reduced.
    #[error("rank {rank}, step {step}: it reduces units of different places")]
    Mixed {
        /// The rank.
        rank: usize,
        /// The step.
        step: usize,
    },
    /// Some steps never start.
    #[error("deadlock: rank {rank} never completes step {step}")]
    Deadlock {
        /// The first rank that does not end.
        rank: usize,
        /// Its first step that is not done.
        step: usize,
    },
    /// A rank may leave a barrier that another has not reached.
    #[error("a rank leaves the barrier before all have reached it")]
    Barrier,
    /// Ranks that must get the same get results that were computed differently.
    #[error("rank {rank}: unit {unit} of the output is computed in another way than on rank 0")]
    Differs {
        /// The rank.
        rank: usize,
        /// The unit.
        unit: u64,
    },
    /// A result is not what it must be.
    #[error(
        "rank {rank}: unit {unit} of the output is not what MPI defines: it is of ranks {found:?}"
    )]
    Result {
        /// The rank.
        rank: usize,
        /// The unit.
        unit: u64,
        /// The ranks whose operands are there, from left to right.
        found: Vec<usize>,
    },
}

/// The buffers of a rank.
struct Contract {
    /// Units of the input.
    input: u64,
    /// Units of the output.
    output: u64,
    /// The output holds what the rank gives from the start: the message at the
    /// root of a broadcast.
    output_given: bool,
}

/// Checks the plans of all ranks for a problem, of which each rank knows its
/// part.
///
/// # Errors
/// The first flaw that shows.
pub fn check(problems: &[Problem], plans: &[Plan]) -> Result<(), Flaw> {
    let contracts: Vec<Contract> = (0..problems.len())
        .map(|rank| contract(&problems[rank], rank))
        .collect();
    for (rank, (plan, contract)) in plans.iter().zip(&contracts).enumerate() {
        well_formed(rank, plan, contract)?;
        free_of_races(rank, plan)?;
        bounded(&problems[rank], rank, plan, &contracts)?;
    }
    let mut machine = Machine::new(plans, &contracts);
    machine.run()?;
    verify(problems, machine)
}

fn well_formed(rank: usize, plan: &Plan, contract: &Contract) -> Result<(), Flaw> {
    for (step, at) in plan.steps().iter().enumerate() {
        let (left, right) = match at.action {
            Action::Reduce { left, right } => (left.length, right.length),
            Action::Copy { from, into } => (from.length, into.length),
            Action::Send { .. } | Action::Receive { .. } => (0, 0),
        };
        if left != right {
            return Err(Flaw::Lengths {
                rank,
                step,
                left,
                right,
            });
        }
        let written = at.action.writes().filter(|range| range.length > 0);
        if written.is_some_and(|range| range.space == Space::Input) {
            return Err(Flaw::WritesInput { rank, step });
        }
        for range in at.action.reads().chain(written) {
            let size = match range.space {
                Space::Input => contract.input,
                Space::Output => contract.output,
                Space::Scratch => plan.scratch(),
            };
            if range.end() > size {
                return Err(Flaw::Outside { rank, step });
            }
        }
    }
    Ok(())
}

/// A rank holds no more than all ranks give, once. In exchanges it may hold it twice: what comes
/// for others, and what goes on in one message. Where they reduce it is twice as well, since sums
/// stand beside what they are made of, and three messages more: what comes, what was reduced so
/// far, and what is handed on.
fn bounded(
    problem: &Problem,
    rank: usize,
    plan: &Plan,
    contracts: &[Contract],
) -> Result<(), Flaw> {
    let own = &contracts[rank];
    let given: u64 = contracts.iter().map(|contract| contract.input).sum();
    // What a broadcast's root gives is in its output.
    let given = given.max(own.output);
    let most = match problem.operation {
        operation if operation.reduces() => 2 * given + 3 * own.input.max(own.output),
        Operation::Alltoall | Operation::Alltoallv | Operation::Alltoallw => 2 * given,
        _ => given,
    };
    let scratch = plan.scratch();
    match scratch <= most {
        true => Ok(()),
        false => Err(Flaw::Scratch {
            rank,
            scratch,
            most,
        }),
    }
}

/// Any two steps of which one writes what the other touches are in order.
fn free_of_races(rank: usize, plan: &Plan) -> Result<(), Flaw> {
    let before = steps_before(plan);
    let mut touched: Vec<Touch> = Vec::new();
    for (step, at) in plan.steps().iter().enumerate() {
        // The input is never written: nothing can go wrong there.
        let reads = at
            .action
            .reads()
            .filter(|range| range.space != Space::Input);
        touched.extend(reads.map(|range| (range, false, step)));
        touched.extend(at.action.writes().map(|range| (range, true, step)));
    }
    touched.retain(|(range, _, _)| range.length > 0);
    touched.sort_by_key(|(range, _, step)| (range.space, range.start, *step));
    for (place, (range, writes, one)) in touched.iter().enumerate() {
        let rest = touched[place + 1..].iter();
        for (_, also_writes, other) in rest.take_while(|(other, _, _)| other.overlaps(range)) {
            let (first, second) = (*one.min(other), *one.max(other));
            let ordered = first == second || before[second][first / 64] >> (first % 64) & 1 == 1;
            if (*writes || *also_writes) && !ordered {
                return Err(Flaw::Race {
                    rank,
                    first,
                    second,
                });
            }
        }
    }
    Ok(())
}

/// A touch of a step: what, whether it writes it, and which step.
type Touch = (Range, bool, usize);

/// For each step, which steps are complete when it starts: 64 a word.
fn steps_before(plan: &Plan) -> Vec<Vec<u64>> {
    let steps = plan.steps();
    let mut before: Vec<Vec<u64>> = Vec::with_capacity(steps.len());
    for step in steps {
        let mut row = vec![0u64; steps.len().div_ceil(64)];
        for &needed in plan.needs(step) {
            let needed = needed as usize;
            row[needed / 64] |= 1 << (needed % 64);
            for (word, more) in row.iter_mut().zip(&before[needed]) {
                *word |= more;
            }
        }
        before.push(row);
    }
    before
}
