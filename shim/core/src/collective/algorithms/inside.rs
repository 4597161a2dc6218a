//! Rooted collectives along one tree over all ranks, whatever clusters they are
//! in (thesis 6.2): flat, chain (pipelined where the message has several
//! segments), binary, binomial.

use super::trees::{self, Neighbours, Shape, rotated};
use crate::collective::plan::Range;
use crate::collective::{Builder, Problem};

/// This rank's neighbours in the tree from the root, over ranks in their order
/// from the root on.
fn from_root(problem: &Problem, rank: usize, shape: Shape) -> Neighbours {
    let ranks = rotated(problem.ranks(), problem.root);
    let place = (rank + problem.ranks() - problem.root) % problem.ranks();
    shape.neighbours(&ranks, place)
}

/// `Bcast`.
pub fn broadcast(problem: &Problem, rank: usize, builder: &mut Builder, shape: Shape) {
    let at = from_root(problem, rank, shape);
    trees::broadcast(builder, &at, Range::output(0, problem.part(rank)));
}

/// `Reduce`. Where the order matters, the tree starts from rank 0, and the
/// result goes on to the root.
pub fn reduce(problem: &Problem, rank: usize, builder: &mut Builder, shape: Shape) {
    let length = problem.part(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let is_root = rank == problem.root;
    if !problem.ordered || problem.root == 0 {
        let at = from_root(problem, rank, shape);
        return trees::reduce(builder, &at, own, is_root.then_some(output));
    }
    let ranks = rotated(problem.ranks(), 0);
    let at = shape.neighbours(&ranks, rank);
    if rank == 0 {
        let result = builder.scratch(length);
        trees::reduce(builder, &at, own, Some(result));
        builder.send(problem.root, result);
    } else {
        trees::reduce(builder, &at, own, None);
        if is_root {
            builder.receive(0, output);
        }
    }
}

/// `Allreduce` as a reduction to rank 0 and a broadcast from it.
pub fn allreduce(problem: &Problem, rank: usize, builder: &mut Builder, shape: Shape) {
    let length = problem.part(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let at = shape.neighbours(&rotated(problem.ranks(), 0), rank);
    trees::reduce(builder, &at, own, (rank == 0).then_some(output));
    trees::broadcast(builder, &at, output);
}

/// `Barrier`: signals go up a tree from rank 0, then down.
pub fn barrier(problem: &Problem, rank: usize, builder: &mut Builder, shape: Shape) {
    let at = shape.neighbours(&rotated(problem.ranks(), 0), rank);
    for &child in &at.children {
        builder.await_signal(child);
    }
    builder.fence();
    if let Some(parent) = at.parent {
        builder.signal(parent);
        builder.await_signal(parent);
        builder.fence();
    }
    for &child in &at.children {
        builder.signal(child);
    }
}
