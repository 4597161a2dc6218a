//! Every rank sends to the next, and receives from the previous one.
//!
//! ```text
//!   allgather                         reduce-scatter: the sum for rank b starts at b + 1
//!   0 --a--> 1 --b--> 2 --c--> 0      0 --c--> 1 --c+c--> 2       and ends at b
//!   0 --c--> 1 --a--> 2 --b--> 0      1 --a--> 2 --a+a--> 0
//! ```
//!
//! Optimal bandwidth, P - 1 latencies. An allreduce of a long message is a reduce-scatter followed
//! by an allgather (Rabenseifner 2004; Patarasuk and Yuan 2009).

use crate::plan::range::Range;
use crate::problem::{Blocks, Problem};
use crate::steps::Steps;

/// `Allgather` and `Allgatherv`.
pub fn allgather(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let (blocks, output) = (problem.blocks(), Range::output(0, problem.total()));
    steps.copy(
        Range::input(0, problem.block(rank)),
        blocks.of(output, rank),
    );
    pass_on(problem, rank, steps, |distance| {
        blocks.of(output, problem.before(rank, distance))
    });
}

/// Sends the block that was received last to the next rank, until all ranks have all blocks:
/// `block(distance)` is that of the rank `distance` before this one.
pub(crate) fn pass_on(
    problem: &Problem,
    rank: usize,
    steps: &mut dyn Steps,
    block: impl Fn(usize) -> Range,
) {
    let (next, previous) = (problem.after(rank, 1), problem.before(rank, 1));
    for distance in 1..problem.ranks() {
        if steps.is_over() {
            return;
        }
        steps.send(next, block(distance - 1));
        steps.receive(previous, block(distance));
    }
}

/// Reduces block `last` of the input into `result`: the blocks before it are reduced on their way
/// round.
fn reduce_round(
    problem: &Problem,
    rank: usize,
    steps: &mut dyn Steps,
    blocks: &Blocks,
    last: usize,
    result: Range,
) {
    let (next, previous) = (problem.after(rank, 1), problem.before(rank, 1));
    let input = Range::input(0, blocks.total());
    // Round k brings the sum of the block k + 1 before the last one's successor.
    let own = |distance: usize| blocks.of(input, problem.before(last, distance));
    let mut outgoing = own(1 % problem.ranks());
    if problem.ranks() == 1 {
        return steps.copy(outgoing, result);
    }
    for distance in 2..=problem.ranks() {
        let operand = own(distance);
        let incoming = match distance == problem.ranks() {
            true => result,
            false => steps.scratch(operand.length),
        };
        steps.send(next, outgoing);
        steps.receive(previous, incoming);
        steps.reduce(operand, incoming);
        outgoing = incoming;
    }
}

/// `Reduce_scatter` and `Reduce_scatter_block`: each rank ends with the sum of its own block.
pub fn reduce_scatter(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let result = Range::output(0, problem.block(rank));
    reduce_round(problem, rank, steps, &problem.blocks(), rank, result);
}

/// `Allreduce`: each rank ends with the sum of the next rank's block, and blocks travel round once
/// more.
pub fn allreduce(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let blocks = problem.cut(rank, problem.ranks());
    let output = Range::output(0, problem.block(rank));
    let last = problem.after(rank, 1);
    reduce_round(problem, rank, steps, &blocks, last, blocks.of(output, last));
    pass_on(problem, rank, steps, |distance| {
        blocks.of(output, problem.before(last, distance))
    });
}
