//! `Reduce_scatter` and `Reduce_scatter_block`.

use super::between;
use super::trees::{self, Waiting};
use crate::collective::plan::Range;
use crate::collective::{Builder, Problem};

/// Everyone sends each its part, and reduces what comes in the order of ranks.
pub fn pairwise(problem: &Problem, rank: usize, builder: &mut Builder) {
    let ranks = problem.ranks();
    let part = |owner: usize| Range::input(problem.start(owner), problem.part(owner));
    for distance in 1..ranks {
        let to = (rank + distance) % ranks;
        builder.send(to, part(to));
    }
    let own = part(rank);
    let mut waiting = Waiting::new(builder, own.length, ranks);
    let mut done = 0;
    for piece in builder.pieces(own) {
        let mut reduced: Option<Range> = None;
        for from in 0..ranks {
            let incoming = waiting.next(piece.length);
            match from == rank {
                true => builder.copy(piece, incoming),
                false => builder.receive_piece(from, incoming),
            }
            if let Some(before) = reduced {
                builder.reduce(before, incoming);
            }
            reduced = Some(incoming);
        }
        if let Some(reduced) = reduced {
            builder.copy(reduced, Range::output(done, piece.length));
        }
        done += piece.length;
    }
}

/// Every cluster reduces all parts to its coordinator, coordinators send each other the sums for
/// their members, and hand them on: each uplink carries one sum for every part.
pub fn grid_exchange(problem: &Problem, rank: usize, builder: &mut Builder) {
    let clusters = problem.clusters;
    let here = clusters.of(rank);
    let at = between::inside(problem, rank);
    let all = Range::input(0, problem.total());
    let result = Range::output(0, problem.part(rank));
    if at.parent.is_some() {
        // What is reduced goes up the tree; parts come from the coordinator itself.
        trees::reduce(builder, &at, all, None);
        return builder.receive(problem.leader(here), result);
    }
    let sum = builder.scratch(all.length);
    trees::reduce(builder, &at, all, Some(sum));
    let parts = |cluster: usize| {
        let members = clusters.members(cluster).iter();
        members.map(|&member| (member, problem.start(member), problem.part(member)))
    };
    let length = |cluster: usize| parts(cluster).map(|(_, _, length)| length).sum();
    // The sums for the members of a cluster, one behind the other.
    let packed: Vec<Range> = (0..clusters.count())
        .map(|cluster| {
            let room = builder.scratch(length(cluster));
            let mut done = 0;
            for (_, start, length) in parts(cluster) {
                builder.copy(sum.part(start, length), room.part(done, length));
                done += length;
            }
            room
        })
        .collect();
    for other in clusters.others(here) {
        builder.send(problem.leader(other), packed[other]);
    }
    let mut reduced = packed[here];
    for other in clusters.others_towards(here) {
        let incoming = builder.scratch(reduced.length);
        builder.receive(problem.leader(other), incoming);
        builder.reduce(reduced, incoming);
        reduced = incoming;
    }
    let mut done = 0;
    for (member, _, length) in parts(here) {
        let part = reduced.part(done, length);
        match member == rank {
            true => builder.copy(part, result),
            false => builder.send(member, part),
        }
        done += length;
    }
}
