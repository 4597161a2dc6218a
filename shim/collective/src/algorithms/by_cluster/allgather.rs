//! `Allgather` and `Allgatherv` that send each block once over a link between clusters.
//!
//! ```text
//!   exchange   members --> leader == blocks of its cluster ==> leaders --> members
//!   lanes      a1 == its block ==> b1 --> b0, b2        every member separately, at the same time
//! ```

use crate::algorithms::by_cluster::inside::inside;
use crate::algorithms::by_cluster::stage::Stream;
use crate::algorithms::trees;
use crate::plan::range::Range;
use crate::problem::Problem;
use crate::steps::Steps;
use treepie_base::{Cluster, List};

/// Output range of a rank's block.
fn block(problem: &Problem, rank: usize) -> Range {
    Range::output(problem.start(rank), problem.block(rank))
}

/// Copies the rank's own block into the output.
fn keep_own(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    steps.copy(Range::input(0, problem.block(rank)), block(problem, rank));
}

/// Exchange between leaders: members send their blocks to their leader; leaders exchange the blocks
/// of their clusters and forward them to their members.
pub fn exchange(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    collect(problem, rank, steps, Range::output(0, problem.total()));
}

/// Collects as [`exchange`] does, into a scratch buffer for all blocks.
pub fn collect(problem: &Problem, rank: usize, steps: &mut dyn Steps, all: Range) {
    let block = |_: &Problem, rank: usize| all.part(problem.start(rank), problem.block(rank));
    let clusters = problem.clusters;
    let here = clusters.of(rank);
    let leader = |cluster: Cluster| problem.leader(cluster);
    let blocks_of = |cluster: Cluster| clusters.members(cluster).iter().map(|&m| block(problem, m));
    // The blocks of a cluster, consecutively.
    let gathered: List<Cluster, Range> = clusters
        .all()
        .map(|cluster| steps.scratch(blocks_of(cluster).map(|block| block.length).sum()))
        .collect();
    let members = clusters.members(here);
    if rank == leader(here) {
        let mut start = 0;
        for &member in members {
            let place = gathered[here].part(start, problem.block(member));
            match member == rank {
                true => steps.copy(Range::input(0, problem.block(rank)), place),
                false => steps.receive(member, place),
            }
            start += place.length;
        }
        let others = clusters.others(here).map(leader);
        steps.send_round_robin(others.map(|to| (to, gathered[here])));
    } else {
        steps.send(leader(here), Range::input(0, problem.block(rank)));
    }
    let longest = gathered.iter().map(|place| place.length).max().unwrap_or(0);
    let stream = Stream::of(problem, steps, longest, problem.total());
    let at = inside(problem, rank, stream);
    trees::broadcast(steps, &at, gathered[here]);
    for other in clusters.others_towards(here) {
        let mut at = at.clone();
        if rank == leader(here) {
            at.parent = Some(leader(other));
        }
        trees::broadcast(steps, &at, gathered[other]);
    }
    for (cluster, place) in gathered.iter_enumerated() {
        let mut start = 0;
        for block in blocks_of(cluster) {
            steps.copy(place.part(start, block.length), block);
            start += block.length;
        }
    }
}

/// Exchange in lanes: every member sends its block to one member of each other cluster, each to a
/// different one if there are enough, which forwards it inside its cluster on arrival. Each link
/// between clusters carries each block once, over several connections, and no rank collects first.
pub fn lanes(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let clusters = problem.clusters;
    let here = clusters.of(rank);
    let members = clusters.members(here);
    let own = Range::input(0, problem.block(rank));
    // The member of `cluster` that receives the block of the member at `place` in another cluster.
    let partner = |cluster: Cluster, place: usize| {
        let there = clusters.members(cluster);
        there[place % there.len()]
    };
    let place = members.iter().position(|&m| m == rank).unwrap_or(0);
    // Starts at the next one: not all send to the same member first.
    let (before, after) = (&members[..place], &members[place + 1..]);
    let near: Vec<usize> = after.iter().chain(before).copied().collect();
    keep_own(problem, rank, steps);
    let others = clusters.others(here).map(|other| partner(other, place));
    steps.send_round_robin(others.map(|to| (to, own)));
    for &member in &near {
        steps.send(member, own);
    }
    for &member in &near {
        steps.receive(member, block(problem, member));
    }
    // The far ranks whose blocks are sent to a member of this cluster, in its order.
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
        for segment in steps.segments(block(problem, from)) {
            steps.receive_segment(from, segment);
            for &member in &near {
                steps.send_segment(member, segment);
            }
        }
    }
    for &member in &near {
        for from in far(member) {
            steps.receive(member, block(problem, from));
        }
    }
}
