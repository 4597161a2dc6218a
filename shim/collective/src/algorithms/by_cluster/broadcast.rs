//! `Bcast` on several levels: between the clusters' leaders, then inside each cluster, its hosts,
//! and so on. Segments are forwarded on arrival: a cluster is served while the rest of the message
//! is still between clusters.

use crate::algorithms::by_cluster::between::{Between, Direction, all_levels};
use crate::algorithms::by_cluster::inside::inside;
use crate::algorithms::by_cluster::stage::Stream;
use crate::algorithms::trees;
use crate::plan::range::Range;
use crate::problem::Problem;
use crate::steps::Steps;

/// Leaders, the root first, then in cyclic order of clusters.
pub fn leaders(problem: &Problem) -> Vec<usize> {
    let root_cluster = problem.clusters.of(problem.root);
    std::iter::once(root_cluster)
        .chain(problem.clusters.others(root_cluster))
        .map(|cluster| problem.leader(cluster))
        .collect()
}

/// Broadcast along a tree of leaders.
pub fn tree(problem: &Problem, rank: usize, steps: &mut dyn Steps, between: Between) {
    let length = problem.block(rank);
    let stream = Stream::of(problem, steps, length, length);
    let at = all_levels(problem, rank, between, Direction::Down, stream);
    trees::broadcast(steps, &at, Range::output(0, length));
}

/// Scatter and exchange of segments: the root sends each segment to one other cluster, round-robin,
/// and the leaders exchange them. The root's link carries the message once, but its last segment
/// needs two latencies. The root therefore sends, at the end, as many segments directly to all
/// clusters as fit into one latency: all segments arrive at the same time.
///
/// ```text
///   root ---s0--> c1 --s0--> c2, c3      root ---s1--> c2 --s1--> c1, c3   ...
///   root ---s8--> c1, c2, c3             root ---s9--> c1, c2, c3          at last
/// ```
pub fn exchange(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let data = Range::output(0, problem.block(rank));
    let stream = Stream::of(problem, steps, data.length, data.length);
    let local = inside(problem, rank, stream);
    let leaders = leaders(problem);
    let others = &leaders[1..];
    let direct = match others.len() {
        0 => data.length,
        far => (steps.in_flight() / far as u64).min(data.length),
    };
    let exchanged = data.part(0, data.length - direct);
    let direct = data.part(exchanged.length, direct);
    let segments = steps.segments_for(exchanged, others.len());
    if others.is_empty() || !leaders.contains(&rank) {
        trees::broadcast_segments(steps, &local, segments);
        return trees::broadcast(steps, &local, direct);
    }
    for (index, segment) in segments.enumerate() {
        let first = others[index % others.len()];
        if rank == problem.root {
            steps.send_segment(first, segment);
        } else if rank == first {
            steps.receive_segment(problem.root, segment);
            for &other in others.iter().filter(|&&other| other != first) {
                steps.send_segment(other, segment);
            }
        } else {
            steps.receive_segment(first, segment);
        }
        for &child in &local.children {
            steps.send_segment(child, segment);
        }
    }
    let mut at = local;
    match rank == problem.root {
        true => at.children = others.iter().chain(&at.children).copied().collect(),
        false => at.parent = Some(problem.root),
    }
    trees::broadcast(steps, &at, direct);
}
