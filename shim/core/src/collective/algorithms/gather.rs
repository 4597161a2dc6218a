//! `Gather`, `Gatherv`, `Scatter` and `Scatterv`.

use super::between::{self, Grouped};
use super::trees::{Shape, led_by, rotated};
use crate::collective::plan::Range;
use crate::collective::{Builder, Problem};

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

/// The ranks of a cluster whose parts go together, its coordinator first.
fn group(problem: &Problem, cluster: usize) -> Vec<usize> {
    let leader = problem.clusters.coordinator(cluster, problem.root);
    led_by(leader, problem.clusters.members(cluster))
}

/// The blocks of a cluster come to its coordinator, and go to the root in one message (thesis item
/// 68, backwards). Blocks of one length.
pub fn gather_grouped(problem: &Problem, rank: usize, builder: &mut Builder) {
    let clusters = problem.clusters;
    let (here, home) = (clusters.of(rank), clusters.of(problem.root));
    if here == home {
        return gather_to_root(problem, rank, builder);
    }
    let group = group(problem, here);
    let own = Range::input(0, problem.part(rank));
    if rank != group[0] {
        return builder.send(group[0], own);
    }
    let all = builder.scratch(group.len() as u64 * own.length);
    for (place, &member) in group.iter().enumerate() {
        let into = all.part(place as u64 * own.length, own.length);
        match member == rank {
            true => builder.copy(own, into),
            false => builder.receive(member, into),
        }
    }
    builder.send(problem.root, all);
}

/// The root's side of [`gather_grouped`], and that of the members of its cluster.
fn gather_to_root(problem: &Problem, rank: usize, builder: &mut Builder) {
    let clusters = problem.clusters;
    let home = clusters.of(problem.root);
    let own = Range::input(0, problem.part(rank));
    if rank != problem.root {
        return builder.send(problem.root, own);
    }
    let place = |owner: usize| Range::output(problem.start(owner), own.length);
    builder.copy(own, place(rank));
    for &member in clusters.members(home).iter().filter(|&&m| m != rank) {
        builder.receive(member, place(member));
    }
    for other in clusters.others(home) {
        let group = group(problem, other);
        let all = builder.scratch(group.len() as u64 * own.length);
        builder.receive(group[0], all);
        for (at, &member) in group.iter().enumerate() {
            builder.copy(all.part(at as u64 * own.length, own.length), place(member));
        }
    }
}

/// The root sends the blocks of each cluster to its coordinator in one message, and it
/// scatters them (thesis items 68 and 69). Blocks of one length.
pub fn scatter_grouped(problem: &Problem, rank: usize, builder: &mut Builder, order: Grouped) {
    let clusters = problem.clusters;
    let (here, home) = (clusters.of(rank), clusters.of(problem.root));
    let own = Range::output(0, problem.part(rank));
    if rank == problem.root {
        let block = |owner: usize| Range::input(problem.start(owner), own.length);
        for other in between::grouped_order(problem, order) {
            let group = group(problem, other);
            let all = builder.scratch(group.len() as u64 * own.length);
            for (at, &member) in group.iter().enumerate() {
                builder.copy(block(member), all.part(at as u64 * own.length, own.length));
            }
            builder.send(group[0], all);
        }
        for &member in clusters.members(home).iter().filter(|&&m| m != rank) {
            builder.send(member, block(member));
        }
        return builder.copy(block(rank), own);
    }
    let leader = clusters.coordinator(here, problem.root);
    if rank != leader {
        return builder.receive(leader, own);
    }
    let group = group(problem, here);
    let all = builder.scratch(group.len() as u64 * own.length);
    builder.receive(problem.root, all);
    for (at, &member) in group.iter().enumerate() {
        let block = all.part(at as u64 * own.length, own.length);
        match member == rank {
            true => builder.copy(block, own),
            false => builder.send(member, block),
        }
    }
}
