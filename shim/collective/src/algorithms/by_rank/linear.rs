//! Every rank to the root, the root to every rank, or every rank to every other, without relay.
//!
//! ```text
//!   gather       scatter      synchronised gather          allgather, allreduce, barrier
//!   0  1  2       root         root --begin--> 1           0 <--> 1
//!    \ | /        / | \        root <--first half-- 1         \  / |     each to all others
//!    root        0  1  2       root <--second half- 1          2 -+
//! ```
//!
//! No byte crosses a link twice, and no byte waits for another rank.

use crate::algorithms::trees;
use crate::algorithms::trees::Slots;
use crate::operation::Operation;
use crate::plan::range::Range;
use crate::problem::{Blocks, Problem};
use crate::steps::Steps;

/// The other ranks in the root's order of service: those of other clusters first, one of each
/// round-robin, then its own.
pub(crate) fn far_first(problem: &Problem) -> Vec<usize> {
    let clusters = problem.clusters;
    let root_cluster = clusters.of(problem.root);
    let deepest = clusters
        .all()
        .map(|cluster| clusters.members(cluster).len());
    let mut ranks = Vec::with_capacity(problem.ranks());
    if clusters.count() > 1 {
        for place in 0..deepest.max().unwrap_or(0) {
            for other in clusters.others(root_cluster) {
                ranks.extend(clusters.members(other).get(place));
            }
        }
    }
    ranks.extend(clusters.members(root_cluster));
    ranks.retain(|&rank| rank != problem.root);
    ranks
}

/// `Gather` and `Gatherv`.
pub fn gather(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let own = Range::input(0, problem.block(rank));
    if rank != problem.root {
        return steps.send(problem.root, own);
    }
    let (blocks, output) = (problem.blocks(), Range::output(0, problem.total()));
    for from in far_first(problem) {
        steps.receive(from, blocks.of(output, from));
    }
    steps.copy(own, blocks.of(output, rank));
}

/// `Gather` in which the root signals each rank to begin, and receives its block in two messages
/// (Open MPI): no rank fills the root's memory with unexpected messages.
pub(crate) fn gather_synchronised(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let halves = |block: Range| {
        let both = Blocks::Cut {
            count: 2,
            units: block.length,
        };
        [both.of(block, 0), both.of(block, 1)]
    };
    let own = Range::input(0, problem.block(rank));
    if rank != problem.root {
        steps.await_signal(problem.root);
        steps.fence();
        for half in halves(own) {
            steps.send(problem.root, half);
        }
        return;
    }
    let (blocks, output) = (problem.blocks(), Range::output(0, problem.total()));
    for from in far_first(problem) {
        let [first, second] = halves(blocks.of(output, from));
        steps.signal(from);
        steps.receive(from, first);
        steps.one_by_one();
        steps.receive(from, second);
    }
    steps.copy(own, blocks.of(output, rank));
}

/// `Scatter` and `Scatterv`, far ranks first.
pub fn scatter(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let own = Range::output(0, problem.block(rank));
    if rank != problem.root {
        return steps.receive(problem.root, own);
    }
    let (blocks, input) = (problem.blocks(), Range::input(0, problem.total()));
    for to in far_first(problem) {
        steps.send(to, blocks.of(input, to));
    }
    steps.copy(blocks.of(input, rank), own);
}

/// `Allgather` and `Allgatherv`.
pub fn allgather(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let (blocks, output) = (problem.blocks(), Range::output(0, problem.total()));
    let own = Range::input(0, problem.block(rank));
    steps.copy(own, blocks.of(output, rank));
    for distance in 1..problem.ranks() {
        let from = problem.before(rank, distance);
        steps.receive(from, blocks.of(output, from));
    }
    for distance in 1..problem.ranks() {
        steps.send(problem.after(rank, distance), own);
    }
}

/// `Allreduce`: each rank sends its operand to all others, and reduces all in the order of ranks.
pub fn allreduce(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let length = problem.block(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    for distance in 1..problem.ranks() {
        steps.send(problem.after(rank, distance), own);
    }
    reduce_all(problem.ranks(), rank, steps, own, output);
}

/// `Reduce_scatter` and `Reduce_scatter_block`: each rank sends each other rank its block, and
/// reduces the received ones in the order of ranks.
pub fn reduce_scatter(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let (blocks, input) = (problem.blocks(), Range::input(0, problem.total()));
    for distance in 1..problem.ranks() {
        let to = problem.after(rank, distance);
        steps.send(to, blocks.of(input, to));
    }
    let own = blocks.of(input, rank);
    reduce_all(
        problem.ranks(),
        rank,
        steps,
        own,
        Range::output(0, own.length),
    );
}

/// Reduces the operands of the first `ranks` ranks, this rank's `own` among them.
fn reduce_all(ranks: usize, rank: usize, steps: &mut dyn Steps, own: Range, result: Range) {
    let mut slots = Slots::new(steps, own.length, ranks);
    for segment in steps.segments(own) {
        let sources = (0..ranks).map(|from| (from != rank).then_some(from));
        let reduced = trees::reduce_sources(steps, &mut slots, sources, segment);
        steps.copy(
            reduced,
            result.part(segment.start - own.start, segment.length),
        );
    }
}

/// `Scan` and `Exscan`: each rank sends its operand to all after it, and reduces those before it.
pub fn scan(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let length = problem.block(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    for to in rank + 1..problem.ranks() {
        steps.send(to, own);
    }
    match problem.operation {
        Operation::Scan => reduce_all(rank + 1, rank, steps, own, output),
        _ if rank > 0 => reduce_all(rank, rank, steps, own, output),
        _ => (),
    }
}

/// `Barrier`: each rank signals all others.
pub fn barrier(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    for distance in 1..problem.ranks() {
        steps.signal(problem.after(rank, distance));
    }
    for distance in 1..problem.ranks() {
        steps.await_signal(problem.before(rank, distance));
    }
}
