//! `Gather`, `Gatherv`, `Scatter` and `Scatterv`.

use super::trees::{Shape, rotated};
use crate::schedule::plan::Range;
use crate::schedule::{Builder, Problem};

/// The other ranks as the root serves them: those of other clusters first, one of
/// each in turn, then its own.
fn far_first(problem: &Problem) -> Vec<usize> {
    let clusters = problem.clusters;
    let home = clusters.of(problem.root);
    let deepest = (0..clusters.count()).map(|cluster| clusters.members(cluster).len());
    let mut ranks = Vec::with_capacity(problem.ranks());
    for place in 0..deepest.max().unwrap_or(0) {
        for other in clusters.others(home) {
            ranks.extend(clusters.members(other).get(place));
        }
    }
    ranks.extend(clusters.members(home));
    ranks.retain(|&rank| rank != problem.root);
    ranks
}

/// Where a rank's part is in the root's buffer.
fn part_at_root(problem: &Problem, rank: usize) -> (u64, u64) {
    (problem.start(rank), problem.part(rank))
}

/// All send to the root at once: no byte crosses a link twice, and none waits.
pub fn gather(problem: &Problem, rank: usize, builder: &mut Builder) {
    let own = Range::input(0, problem.part(rank));
    if rank != problem.root {
        return builder.send(problem.root, own);
    }
    for from in far_first(problem) {
        let (start, length) = part_at_root(problem, from);
        builder.receive(from, Range::output(start, length));
    }
    let (start, length) = part_at_root(problem, rank);
    builder.copy(own, Range::output(start, length));
}

/// The root sends to all, far ones first.
pub fn scatter(problem: &Problem, rank: usize, builder: &mut Builder) {
    let own = Range::output(0, problem.part(rank));
    if rank != problem.root {
        return builder.receive(problem.root, own);
    }
    for to in far_first(problem) {
        let (start, length) = part_at_root(problem, to);
        builder.send(to, Range::input(start, length));
    }
    let (start, length) = part_at_root(problem, rank);
    builder.copy(Range::input(start, length), own);
}

/// A rank's place in the binomial tree from the root, and how many places its
/// subtree has from there on.
fn subtree(problem: &Problem, rank: usize) -> (usize, usize) {
    let ranks = problem.ranks();
    let place = (rank + ranks - problem.root) % ranks;
    let width = match place {
        0 => ranks,
        _ => place & place.wrapping_neg(),
    };
    (place, width.min(ranks - place))
}

/// Blocks are gathered along a binomial tree, in the order of places: few
/// messages, and blocks that travel log P times.
pub fn gather_binomial(problem: &Problem, rank: usize, builder: &mut Builder) {
    let block = problem.part(rank);
    let (place, width) = subtree(problem, rank);
    let at = Shape::Binomial.neighbours(&rotated(problem.ranks(), problem.root), place);
    let own = Range::input(0, block);
    let collected = builder.scratch(width as u64 * block);
    builder.copy(own, collected.part(0, block));
    for &child in at.children.iter().rev() {
        let (below, count) = subtree(problem, child);
        let start = (below - place) as u64 * block;
        builder.receive(child, collected.part(start, count as u64 * block));
    }
    match at.parent {
        Some(parent) => builder.send(parent, collected),
        None => {
            for (place, owner) in rotated(problem.ranks(), rank).into_iter().enumerate() {
                let from = collected.part(place as u64 * block, block);
                builder.copy(from, Range::output(problem.start(owner), block));
            }
        }
    }
}

/// Blocks are scattered along a binomial tree: the gather, backwards.
pub fn scatter_binomial(problem: &Problem, rank: usize, builder: &mut Builder) {
    let block = problem.part(rank);
    let (place, width) = subtree(problem, rank);
    let at = Shape::Binomial.neighbours(&rotated(problem.ranks(), problem.root), place);
    let held = builder.scratch(width as u64 * block);
    match at.parent {
        Some(parent) => builder.receive(parent, held),
        None => {
            for (place, owner) in rotated(problem.ranks(), rank).into_iter().enumerate() {
                let into = held.part(place as u64 * block, block);
                builder.copy(Range::input(problem.start(owner), block), into);
            }
        }
    }
    for &child in &at.children {
        let (below, count) = subtree(problem, child);
        let start = (below - place) as u64 * block;
        builder.send(child, held.part(start, count as u64 * block));
    }
    builder.copy(held.part(0, block), Range::output(0, block));
}
