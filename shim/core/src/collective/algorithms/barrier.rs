//! `Barrier` without a root.

use crate::collective::{Builder, Problem};

/// Dissemination (Hensgen, Finkel and Manber, 1988): in round k each signals the
/// rank 2^k further, and waits for the one 2^k before.
pub fn dissemination(problem: &Problem, rank: usize, builder: &mut Builder) {
    let ranks = problem.ranks();
    let mut distance = 1;
    while distance < ranks {
        builder.signal((rank + distance) % ranks);
        builder.await_signal((rank + ranks - distance) % ranks);
        builder.fence();
        distance *= 2;
    }
}

/// Members signal their coordinator, coordinators each other, and then their
/// members: one latency between clusters.
pub fn grid_exchange(problem: &Problem, rank: usize, builder: &mut Builder) {
    let clusters = problem.clusters;
    let here = clusters.of(rank);
    let coordinator = clusters.speaker(here);
    let members = || {
        let all = clusters.members(here).iter().copied();
        all.filter(|&member| member != coordinator)
    };
    if rank != coordinator {
        builder.signal(coordinator);
        builder.await_signal(coordinator);
        return;
    }
    for member in members() {
        builder.await_signal(member);
    }
    builder.fence();
    for other in clusters.others(here) {
        builder.signal(clusters.speaker(other));
    }
    for other in clusters.others_towards(here) {
        builder.await_signal(clusters.speaker(other));
    }
    builder.fence();
    for member in members() {
        builder.signal(member);
    }
}
