//! Collectives along one tree over all ranks, independently of clusters (thesis 6.2): shapes are
//! drawn in [`super::super::trees`]. Messages of several segments are pipelined.
//!
//! ```text
//!   reduce in order, 7 ranks: all below a rank precede it, half of them each; the last has the result
//!        6 --> root
//!       / \
//!      2   5
//!     / \  / \
//!    0  1 3  4
//! ```

use crate::algorithms::trees;
use crate::algorithms::trees::{Shape, Slots};
use crate::plan::range::Range;
use crate::problem::Problem;
use crate::steps::Steps;

/// `Bcast`.
pub fn broadcast(problem: &Problem, rank: usize, steps: &mut dyn Steps, shape: Shape) {
    let at = shape.neighbours_from(problem, problem.root, rank);
    trees::broadcast(steps, &at, Range::output(0, problem.block(rank)));
}

/// `Reduce`. If the order matters, the tree starts from rank 0, and the result is sent to the root,
/// segment by segment.
pub fn reduce(problem: &Problem, rank: usize, steps: &mut dyn Steps, shape: Shape) {
    let length = problem.block(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let is_root = rank == problem.root;
    let top = if problem.ordered { 0 } else { problem.root };
    let mut at = shape.neighbours_from(problem, top, rank);
    if rank == top && !is_root {
        at.parent = Some(problem.root);
    }
    let total = (is_root && rank == top).then_some(output);
    trees::reduce(steps, &at, own, total);
    if is_root && rank != top {
        steps.receive(top, output);
    }
}

/// `Reduce` along a binary tree in which all descendants of a rank precede it (Open MPI's in-order
/// binary tree): operands are combined in their order.
pub(crate) fn reduce_in_order(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let length = problem.block(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let last = problem.ranks() - 1;
    let (parent, children) = in_order(last, rank);
    let mut slots = Slots::new(steps, length, children.len() + 1);
    let is_root = rank == problem.root;
    let total = match rank == last {
        true if is_root => Some(output),
        true => Some(steps.scratch(length)),
        false => None,
    };
    for segment in steps.segments(own) {
        let sources = children.iter().map(|&child| Some(child)).chain([None]);
        let reduced = trees::reduce_sources(steps, &mut slots, sources, segment);
        if let Some(parent) = parent {
            steps.send_segment(parent, reduced);
        }
        if let Some(total) = total {
            steps.copy(reduced, total.part(segment.start, segment.length));
        }
    }
    match total {
        Some(total) if !is_root => steps.send(problem.root, total),
        None if is_root => steps.receive(last, output),
        _ => (),
    }
}

/// Parent of `rank` in the tree below `last`, and its children from low to high.
fn in_order(last: usize, rank: usize) -> (Option<usize>, Vec<usize>) {
    // The ranks `first..top` are descendants of `top`.
    let (mut first, mut top, mut parent) = (0, last, None);
    loop {
        let half = (top + 1 - first) / 2;
        let below = [(first, first + half), (first + half, top)];
        let below = below.into_iter().filter(|(first, end)| first < end);
        if rank == top {
            return (parent, below.map(|(_, end)| end - 1).collect());
        }
        let (from, end) = match rank < first + half {
            true => (first, first + half),
            false => (first + half, top),
        };
        (parent, first, top) = (Some(top), from, end - 1);
    }
}

/// `Allreduce` as a reduction to rank 0 and a broadcast from it.
pub fn allreduce(problem: &Problem, rank: usize, steps: &mut dyn Steps, shape: Shape) {
    let length = problem.block(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let at = shape.neighbours_from(problem, 0, rank);
    trees::reduce(steps, &at, own, (rank == 0).then_some(output));
    trees::broadcast(steps, &at, output);
}

/// `Barrier`: synchronization messages travel up a tree to rank 0, then down.
pub fn barrier(problem: &Problem, rank: usize, steps: &mut dyn Steps, shape: Shape) {
    let at = shape.neighbours_from(problem, 0, rank);
    for &child in &at.children {
        steps.await_signal(child);
    }
    steps.fence();
    if let Some(parent) = at.parent {
        steps.signal(parent);
        steps.await_signal(parent);
        steps.fence();
    }
    for &child in &at.children {
        steps.signal(child);
    }
}
