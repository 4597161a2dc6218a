//! `Allgather` and `Allgatherv`; and a broadcast that ends with one.

use super::between;
use super::trees::{self, rotated};
use crate::collective::plan::Range;
use crate::collective::problem::share;
use crate::collective::{Builder, Problem};

/// Where a rank's part ends up.
fn part(problem: &Problem, rank: usize) -> Range {
    Range::output(problem.start(rank), problem.part(rank))
}

/// The own part goes to its place.
fn keep_own(problem: &Problem, rank: usize, builder: &mut Builder) {
    builder.copy(Range::input(0, problem.part(rank)), part(problem, rank));
}

/// Everyone sends its part to all others.
pub fn flat(problem: &Problem, rank: usize, builder: &mut Builder) {
    let ranks = problem.ranks();
    keep_own(problem, rank, builder);
    for distance in 1..ranks {
        let from = (rank + ranks - distance) % ranks;
        builder.receive(from, part(problem, from));
    }
    for distance in 1..ranks {
        let own = Range::input(0, problem.part(rank));
        builder.send((rank + distance) % ranks, own);
    }
}

/// Parts go round a ring.
pub fn ring(problem: &Problem, rank: usize, builder: &mut Builder) {
    keep_own(problem, rank, builder);
    round(problem.ranks(), rank, builder, |owner| part(problem, owner));
}

/// Each sends to the next rank what it has got last, until all have all parts.
fn round(ranks: usize, rank: usize, builder: &mut Builder, part: impl Fn(usize) -> Range) {
    for distance in 0..ranks - 1 {
        let outgoing = (rank + ranks - distance) % ranks;
        let incoming = (rank + 2 * ranks - distance - 1) % ranks;
        builder.send((rank + 1) % ranks, part(outgoing));
        builder.receive((rank + ranks - 1) % ranks, part(incoming));
    }
}

/// Bruck et al. (1997): in round k each sends all that it has, but no more than
/// is missing, to the rank 2^k before. Blocks of one length.
pub fn bruck(problem: &Problem, rank: usize, builder: &mut Builder) {
    let (ranks, block) = (problem.ranks(), problem.part(rank));
    // Place i holds the block of rank `rank + i`.
    let collected = builder.scratch(ranks as u64 * block);
    builder.copy(Range::input(0, block), collected.part(0, block));
    let mut have = 1;
    while have < ranks {
        let count = have.min(ranks - have) as u64;
        builder.send(
            (rank + ranks - have) % ranks,
            collected.part(0, count * block),
        );
        builder.receive(
            (rank + have) % ranks,
            collected.part(have as u64 * block, count * block),
        );
        have *= 2;
    }
    for (place, owner) in rotated(ranks, rank).into_iter().enumerate() {
        let from = collected.part(place as u64 * block, block);
        builder.copy(from, part(problem, owner));
    }
}

/// Members hand their parts to their coordinator; coordinators exchange the parts
/// of their clusters, and hand on what comes.
pub fn grid_exchange(problem: &Problem, rank: usize, builder: &mut Builder) {
    collect(problem, rank, builder, Range::output(0, problem.total()));
}

/// The same, into room for all parts.
pub fn collect(problem: &Problem, rank: usize, builder: &mut Builder, all: Range) {
    let part = |_: &Problem, rank: usize| all.part(problem.start(rank), problem.part(rank));
    let clusters = problem.clusters;
    let here = clusters.of(rank);
    let coordinator = |cluster: usize| problem.leader(cluster);
    let parts_of = |cluster: usize| clusters.members(cluster).iter().map(|&m| part(problem, m));
    // The parts of a cluster, one behind the other.
    let gathered: Vec<Range> = (0..clusters.count())
        .map(|cluster| builder.scratch(parts_of(cluster).map(|part| part.length).sum()))
        .collect();
    let members = clusters.members(here);
    if rank == coordinator(here) {
        let mut start = 0;
        for &member in members {
            let place = gathered[here].part(start, problem.part(member));
            match member == rank {
                true => builder.copy(Range::input(0, problem.part(rank)), place),
                false => builder.receive(member, place),
            }
            start += place.length;
        }
        let others = clusters.others(here).map(coordinator);
        builder.send_in_turn(others.map(|to| (to, gathered[here])));
    } else {
        builder.send(coordinator(here), Range::input(0, problem.part(rank)));
    }
    let at = between::inside(problem, rank);
    trees::broadcast(builder, &at, gathered[here]);
    for other in clusters.others_towards(here) {
        let mut at = at.clone();
        if rank == coordinator(here) {
            at.parent = Some(coordinator(other));
        }
        trees::broadcast(builder, &at, gathered[other]);
    }
    for (cluster, place) in gathered.iter().enumerate() {
        let mut start = 0;
        for part in parts_of(cluster) {
            builder.copy(place.part(start, part.length), part);
            start += part.length;
        }
    }
}

/// Every member sends its part to one member of each other cluster, all to
/// different ones where there are enough, who hands it on in its cluster as it
/// comes: each link between clusters carries each part once, over several
/// connections, and nobody collects first.
pub fn grid_lanes(problem: &Problem, rank: usize, builder: &mut Builder) {
    let clusters = problem.clusters;
    let here = clusters.of(rank);
    let members = clusters.members(here);
    let own = Range::input(0, problem.part(rank));
    // The member of `cluster` that gets the part of the member at `place` elsewhere.
    let partner = |cluster: usize, place: usize| {
        let there = clusters.members(cluster);
        there[place % there.len()]
    };
    let near: Vec<usize> = members.iter().copied().filter(|&m| m != rank).collect();
    let place = members.iter().position(|&m| m == rank).unwrap_or(0);
    keep_own(problem, rank, builder);
    let others = clusters.others(here).map(|other| partner(other, place));
    builder.send_in_turn(others.map(|to| (to, own)));
    for &member in &near {
        builder.send(member, own);
    }
    for &member in &near {
        builder.receive(member, part(problem, member));
    }
    // The far ranks whose parts come to a member of this cluster, in its order.
    let far = |member: usize| {
        let others = clusters.others_towards(here);
        others.flat_map(move |other| {
            let there = clusters.members(other).iter().enumerate();
            there
                .filter(move |&(place, _)| partner(here, place) == member)
                .map(|(_, &from)| from)
        })
    };
    for from in far(rank) {
        for piece in builder.pieces(part(problem, from)) {
            builder.receive_piece(from, piece);
            for &member in &near {
                builder.send_piece(member, piece);
            }
        }
    }
    for &member in &near {
        for from in far(member) {
            builder.receive(member, part(problem, from));
        }
    }
}

/// `Bcast` of van de Geijn (thesis 6.2): the root scatters the message, and a ring
/// collects it.
pub fn scatter_collect(problem: &Problem, rank: usize, builder: &mut Builder) {
    let (ranks, length) = (problem.ranks(), problem.part(rank));
    // Shares by place from the root.
    let share_at = |place: usize| {
        let (start, length) = share(length, ranks, place);
        Range::output(start, length)
    };
    let place = (rank + ranks - problem.root) % ranks;
    if place == 0 {
        for other in 1..ranks {
            builder.send((problem.root + other) % ranks, share_at(other));
        }
    } else {
        builder.receive(problem.root, share_at(place));
    }
    // The root has everything, and needs none of it back.
    for distance in 0..ranks - 1 {
        let outgoing = (place + ranks - distance) % ranks;
        let incoming = (place + 2 * ranks - distance - 1) % ranks;
        let (next, previous) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        if !(place + 1).is_multiple_of(ranks) && outgoing != (place + 1) % ranks {
            builder.send(next, share_at(outgoing));
        }
        if place != 0 && incoming != place {
            builder.receive(previous, share_at(incoming));
        }
    }
}
