//! Reductions in which every message can be sent, and every receive posted, at the start: nobody
//! waits for what a rank does with what has come.
//!
//! ```text
//!   allreduce     each rank's operand to all others    rank r: 0 op 1 op ... op n-1
//!   reduce        to the root                          the root alone
//!   scan          to all ranks behind it               rank r: 0 op ... op r
//!   reduce-scatter   each its block from all others
//! ```
//!
//! All combine in the order of ranks. A rank holds the operands of all others at the same time,
//! which [`super::linear`] does not.

use crate::operation::Operation;
use crate::plan::range::Range;
use crate::problem::Problem;
use crate::steps::Steps;

/// `Reduce`.
pub fn reduce(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let length = problem.block(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    match rank == problem.root {
        true => combine(problem.ranks(), rank, steps, own, output),
        false => steps.send(problem.root, own),
    }
}

/// `Allreduce`.
pub fn allreduce(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let length = problem.block(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let others = (1..problem.ranks()).map(|distance| problem.after(rank, distance));
    steps.send_round_robin(others.map(|to| (to, own)));
    combine(problem.ranks(), rank, steps, own, output);
}

/// `Reduce_scatter` and `Reduce_scatter_block`.
pub fn reduce_scatter(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let (blocks, input) = (problem.blocks(), Range::input(0, problem.total()));
    let others = (1..problem.ranks()).map(|distance| problem.after(rank, distance));
    steps.send_round_robin(others.map(|to| (to, blocks.of(input, to))));
    let own = blocks.of(input, rank);
    let result = Range::output(0, own.length);
    combine(problem.ranks(), rank, steps, own, result);
}

/// `Scan` and `Exscan`.
pub fn scan(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let length = problem.block(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    steps.send_round_robin((rank + 1..problem.ranks()).map(|to| (to, own)));
    match problem.operation {
        Operation::Scan => combine(rank + 1, rank, steps, own, output),
        _ if rank > 0 => combine(rank, rank, steps, own, output),
        _ => (),
    }
}

/// Receives the operands of the first `ranks` ranks, this rank's `own` among them, each into a
/// buffer of its own, and combines them in their order.
fn combine(ranks: usize, rank: usize, steps: &mut dyn Steps, own: Range, result: Range) {
    let operands: Vec<Range> = (0..ranks)
        .map(|from| {
            let operand = steps.scratch(own.length);
            match from == rank {
                true => steps.copy(own, operand),
                false => steps.receive(from, operand),
            }
            operand
        })
        .collect();
    for pair in operands.windows(2) {
        steps.reduce(pair[0], pair[1]);
    }
    if let Some(&all) = operands.last() {
        steps.copy(all, result);
    }
}
