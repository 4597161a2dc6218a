//! `Bcast` on several levels: between the clusters' coordinators, then inside each
//! cluster, its hosts, and so on. Segments go on as they come: a cluster is served while
//! the rest of the message is still between clusters.

use super::between::{Between, Direction, all_levels, inside};
use super::trees;
use crate::schedule::plan::Range;
use crate::schedule::{Builder, Problem};

/// The coordinators, the root first, then as clusters follow it.
pub fn coordinators(problem: &Problem) -> Vec<usize> {
    let home = problem.clusters.of(problem.root);
    std::iter::once(home)
        .chain(problem.clusters.others(home))
        .map(|cluster| problem.leader(cluster))
        .collect()
}

/// Along a tree of coordinators.
pub fn tree(problem: &Problem, rank: usize, builder: &mut Builder, between: Between) {
    let at = all_levels(problem, rank, between, Direction::Down);
    trees::broadcast(builder, &at, Range::output(0, problem.part(rank)));
}

/// The root sends each segment to one other cluster, in turn, and the coordinators
/// exchange them: the root's link carries the message once.
///
/// ```text
///   root ---s0--> c1 --s0--> c2, c3      root ---s1--> c2 --s1--> c1, c3   ...
/// ```
pub fn exchange(problem: &Problem, rank: usize, builder: &mut Builder) {
    let local = inside(problem, rank);
    let data = Range::output(0, problem.part(rank));
    let coordinators = coordinators(problem);
    let others = &coordinators[1..];
    if others.is_empty() || !coordinators.contains(&rank) {
        return trees::broadcast(builder, &local, data);
    }
    for (index, piece) in builder.pieces(data).enumerate() {
        let first = others[index % others.len()];
        if rank == problem.root {
            builder.send_piece(first, piece);
        } else if rank == first {
            builder.receive_piece(problem.root, piece);
            for &other in others.iter().filter(|&&other| other != first) {
                builder.send_piece(other, piece);
            }
        } else {
            builder.receive_piece(first, piece);
        }
        for &child in &local.children {
            builder.send_piece(child, piece);
        }
    }
}
