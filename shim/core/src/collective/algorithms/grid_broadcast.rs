//! `Bcast` on several levels: between the clusters' coordinators, then inside each
//! cluster, its hosts, and so on. Segments go on as they come: a cluster is served while
//! the rest of the message is still between clusters.

use super::between::{Between, Direction, all_levels, inside};
use super::trees;
use crate::collective::plan::Range;
use crate::collective::{Builder, Problem};

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
/// exchange them: the root's link carries the message once, but its last segment
/// needs two latencies. So the root goes on, and sends straight to all clusters
/// what it can send in the time of one latency: all arrives together.
///
/// ```text
///   root ---s0--> c1 --s0--> c2, c3      root ---s1--> c2 --s1--> c1, c3   ...
///   root ---s8--> c1, c2, c3             root ---s9--> c1, c2, c3          at last
/// ```
pub fn exchange(problem: &Problem, rank: usize, builder: &mut Builder) {
    let local = inside(problem, rank);
    let data = Range::output(0, problem.part(rank));
    let coordinators = coordinators(problem);
    let others = &coordinators[1..];
    let straight = match others.len() {
        0 => data.length,
        far => (builder.in_flight() / far as u64).min(data.length),
    };
    let exchanged = data.part(0, data.length - straight);
    let straight = data.part(exchanged.length, straight);
    let pieces = builder.pieces_for(exchanged, others.len());
    if others.is_empty() || !coordinators.contains(&rank) {
        trees::broadcast_pieces(builder, &local, pieces);
        return trees::broadcast(builder, &local, straight);
    }
    for (index, piece) in pieces.enumerate() {
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
    let mut at = local;
    match rank == problem.root {
        true => at.children = others.iter().chain(&at.children).copied().collect(),
        false => at.parent = Some(problem.root),
    }
    trees::broadcast(builder, &at, straight);
}
