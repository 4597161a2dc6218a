//! `Reduce` on several levels: inside each cluster to its leader, then between
//! leaders; the broadcast of the same shape, backwards.

use crate::algorithms::by_cluster::between::{Between, Direction, all_levels};
use crate::algorithms::by_cluster::stage::Stream;
use crate::algorithms::trees;
use crate::plan::range::Range;
use crate::problem::Problem;
use crate::steps::Steps;

/// Reduction along a tree of leaders. Operands of the same cluster are reduced first: those of
/// other clusters take longer to arrive.
pub fn tree(problem: &Problem, rank: usize, steps: &mut dyn Steps, between: Between) {
    let length = problem.block(rank);
    let stream = Stream::of(problem, steps, length, length);
    let at = all_levels(problem, rank, between, Direction::Up, stream);
    let result = (rank == problem.root).then(|| Range::output(0, length));
    trees::reduce(steps, &at, Range::input(0, length), result);
}

/// `Allreduce` as a reduction to the leader of the first cluster and a broadcast from it, along
/// one tree.
pub fn allreduce(problem: &Problem, rank: usize, steps: &mut dyn Steps, between: Between) {
    let length = problem.block(rank);
    let stream = Stream::of(problem, steps, length, length);
    let at = all_levels(problem, rank, between, Direction::Down, stream);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    trees::reduce(steps, &at, own, at.parent.is_none().then_some(output));
    trees::broadcast(steps, &at, output);
}
