//! Checks of single plans, and of all plans together.

use crate::contract::Contract;
use crate::flaw::Flaw;
use crate::machine::Machine;
use crate::results::{contract, verify};
use treepie_collective::{Action, Operation, Plan, Problem, Range, Space};

/// Checks the plans of all ranks for a problem, given in the view of each rank.
///
/// # Errors
/// The first flaw that is found.
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

/// Checks the scratch memory: a rank holds at most the contributions of all ranks, once. In
/// exchanges it may hold them twice: received blocks for others, and those forwarded in one
/// message. In reductions it may hold them twice, too, since sums exist beside their operands, and
/// three more messages: the received one, the partial sum, and the one to forward.
fn bounded(
    problem: &Problem,
    rank: usize,
    plan: &Plan,
    contracts: &[Contract],
) -> Result<(), Flaw> {
    let own = &contracts[rank];
    let given: u64 = contracts.iter().map(|contract| contract.input).sum();
    // The contribution of a broadcast's root is in its output.
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

/// Checks that two steps are in order if one writes units that the other accesses.
fn free_of_races(rank: usize, plan: &Plan) -> Result<(), Flaw> {
    let before = steps_before(plan);
    let mut touched: Vec<Touch> = Vec::new();
    for (step, at) in plan.steps().iter().enumerate() {
        // The input is never written: no race is possible there.
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

/// Access of a step: range, true for a write, and the step.
type Touch = (Range, bool, usize);

/// For each step, the steps that are complete when it starts, as a bit set: 64 a word.
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
