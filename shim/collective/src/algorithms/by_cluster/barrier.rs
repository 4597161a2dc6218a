//! `Barrier` in one latency between clusters.
//!
//! ```text
//!   members --> leader <==> leaders of all other clusters; leader --> members
//! ```

use crate::problem::Problem;
use crate::steps::Steps;

/// Members signal their leader, leaders each other, and then their
/// members: one latency between clusters.
pub fn exchange(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let clusters = problem.clusters;
    let here = clusters.of(rank);
    let leader = clusters.leader(here);
    let members = || {
        let all = clusters.members(here).iter().copied();
        all.filter(|&member| member != leader)
    };
    if rank != leader {
        steps.signal(leader);
        steps.await_signal(leader);
        return;
    }
    for member in members() {
        steps.await_signal(member);
    }
    steps.fence();
    for other in clusters.others(here) {
        steps.signal(clusters.leader(other));
    }
    for other in clusters.others_towards(here) {
        steps.await_signal(clusters.leader(other));
    }
    steps.fence();
    for member in members() {
        steps.signal(member);
    }
}
