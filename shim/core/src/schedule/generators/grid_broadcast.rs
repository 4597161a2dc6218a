//! `Bcast` in two levels: between the clusters' coordinators, then inside each
//! cluster. Segments go on as they come: a cluster is served while the rest of
//! the message is still between clusters.

use super::trees::{self, Neighbours, Shape, led_by};
use crate::schedule::plan::Range;
use crate::schedule::{Builder, Problem};

/// This rank's neighbours inside its cluster.
pub fn inside(problem: &Problem, rank: usize) -> Neighbours {
    let here = problem.clusters.of(rank);
    let members = problem.clusters.members(here);
    let ranks = led_by(problem.clusters.coordinator(here, problem.root), members);
    let place = ranks.iter().position(|&member| member == rank);
    Shape::for_cluster(ranks.len()).neighbours(&ranks, place.unwrap_or(0))
}

/// The coordinators, the root first, then as clusters follow it.
pub fn coordinators(problem: &Problem) -> Vec<usize> {
    let home = problem.clusters.of(problem.root);
    std::iter::once(home)
        .chain(problem.clusters.others(home))
        .map(|cluster| problem.clusters.coordinator(cluster, problem.root))
        .collect()
}

/// This rank's neighbours in a tree of `shape` between coordinators and the usual
/// trees inside clusters; what goes far is served first.
pub fn two_levels(problem: &Problem, rank: usize, shape: Shape) -> Neighbours {
    let local = inside(problem, rank);
    let coordinators = coordinators(problem);
    let Some(place) = coordinators.iter().position(|&other| other == rank) else {
        return local;
    };
    let mut at = shape.neighbours(&coordinators, place);
    at.children.extend(local.children);
    at
}

/// Along a tree of coordinators.
pub fn tree(problem: &Problem, rank: usize, builder: &mut Builder, shape: Shape) {
    let at = two_levels(problem, rank, shape);
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
