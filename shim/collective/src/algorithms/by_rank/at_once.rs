//! Reductions in which every message can be sent, and every receive posted, at the start: no
//! message depends on another rank's computation.
//!
//! ```text
//!   allreduce     each rank's operand to all others    rank r: 0 op 1 op ... op n-1
//!   reduce        to the root                          the root alone
//!   scan          to all ranks behind it               rank r: 0 op ... op r
//!   reduce-scatter   each its block from all others
//! ```
//!
//! All combine in the order of ranks. A rank holds the operands of all others at the same time;
//! with [`super::linear`] it does not.

use crate::operation::Operation;
use crate::plan::range::Range;
use crate::problem::Problem;
use crate::steps::Steps;

/// `Reduce`.
pub fn reduce(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let length = problem.block(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    match rank == problem.root {
        true => combine(0..problem.ranks(), rank, steps, own, output),
        false => steps.send(problem.root, own),
    }
}

/// `Allreduce`.
pub fn allreduce(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let length = problem.block(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let others = (1..problem.ranks()).map(|distance| problem.after(rank, distance));
    steps.send_round_robin(others.map(|to| (to, own)));
    combine(0..problem.ranks(), rank, steps, own, output);
}

/// `Reduce_scatter` and `Reduce_scatter_block`.
pub fn reduce_scatter(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let (blocks, input) = (problem.blocks(), Range::input(0, problem.total()));
    let others = (1..problem.ranks()).map(|distance| problem.after(rank, distance));
    steps.send_round_robin(others.map(|to| (to, blocks.of(input, to))));
    let own = blocks.of(input, rank);
    let result = Range::output(0, own.length);
    combine(0..problem.ranks(), rank, steps, own, result);
}

/// `Scan` and `Exscan`.
pub fn scan(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let length = problem.block(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    steps.send_round_robin((rank + 1..problem.ranks()).map(|to| (to, own)));
    match problem.operation {
        Operation::Scan => combine(0..rank + 1, rank, steps, own, output),
        _ if rank > 0 => combine(0..rank, rank, steps, own, output),
        _ => (),
    }
}

/// Receives the operands of `sources`, this rank's `own` among them, each into a separate buffer,
/// and combines them in their order.
pub(crate) fn combine(
    sources: impl ExactSizeIterator<Item = usize>,
    rank: usize,
    steps: &mut dyn Steps,
    own: Range,
    result: Range,
) {
    let last = sources.len() - 1;
    let mut operands = Vec::with_capacity(sources.len());
    for (place, from) in sources.enumerate() {
        let operand = match place {
            _ if place == last => result,
            // Read-only: the next operand becomes the sum.
            0 if from == rank => own,
            _ => steps.scratch(own.length),
        };
        match from == rank {
            true => steps.copy(own, operand),
            false => steps.receive(from, operand),
        }
        operands.push(operand);
    }
    for pair in operands.windows(2) {
        steps.reduce(pair[0], pair[1]);
    }
}
