//! `Reduce` on several levels: inside each cluster to its coordinator, then between
//! coordinators; the broadcast of the same shape, backwards.

use super::between::{Between, Direction, all_levels};
use super::trees;
use crate::collective::plan::Range;
use crate::collective::{Builder, Problem};

/// Along a tree of coordinators. Who is in the same cluster is reduced first:
/// what comes from far takes longer.
pub fn tree(problem: &Problem, rank: usize, builder: &mut Builder, between: Between) {
    let at = all_levels(problem, rank, between, Direction::Up);
    let length = problem.part(rank);
    let result = (rank == problem.root).then(|| Range::output(0, length));
    trees::reduce(builder, &at, Range::input(0, length), result);
}

/// `Allreduce` as a reduction to the coordinator of the first cluster and a broadcast from it, along
/// one tree.
pub fn allreduce(problem: &Problem, rank: usize, builder: &mut Builder, between: Between) {
    let at = all_levels(problem, rank, between, Direction::Down);
    let output = Range::output(0, problem.part(rank));
    let own = Range::input(0, problem.part(rank));
    trees::reduce(builder, &at, own, at.parent.is_none().then_some(output));
    trees::broadcast(builder, &at, output);
}
