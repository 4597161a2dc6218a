//! `Barrier` in one latency between clusters.
//!
//! ```text
//!   members --> leader <==> leaders of all other clusters; leader --> members
//! ```

use crate::algorithms::by_cluster::inside::inside;
use crate::algorithms::by_cluster::stage::{Flows, Stream};
use crate::problem::Problem;
use crate::steps::Steps;

/// Barrier in one latency between clusters: members signal their leader along a tree, leaders
/// signal each other, and then their members.
pub fn exchange(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let clusters = problem.clusters;
    let here = clusters.of(rank);
    let signal = Stream {
        bytes: 0,
        messages: 1,
        flows: Flows::Down,
    };
    let at = inside(problem, rank, signal);
    for &child in &at.children {
        steps.await_signal(child);
    }
    steps.fence();
    if let Some(parent) = at.parent {
        steps.signal(parent);
        steps.await_signal(parent);
    } else {
        for other in clusters.others(here) {
            steps.signal(clusters.leader(other));
        }
        for other in clusters.others_towards(here) {
            steps.await_signal(clusters.leader(other));
        }
    }
    steps.fence();
    for &child in &at.children {
        steps.signal(child);
    }
}
