//! `Reduce_scatter` and `Reduce_scatter_block` with one sum for each block between two clusters.
//!
//! ```text
//!   members --all blocks--> leader == sums for b's members ==> leader of b --each its own--> members
//! ```

use crate::algorithms::by_cluster::inside::inside;
use crate::algorithms::by_cluster::stage::Stream;
use crate::algorithms::trees;
use crate::plan::range::Range;
use crate::problem::Problem;
use crate::steps::Steps;
use treepie_base::{Cluster, List};

/// Every cluster reduces all blocks to its leader; leaders exchange the sums for their members, and
/// forward them to these: each uplink carries one sum for every block.
pub fn exchange(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let clusters = problem.clusters;
    let here = clusters.of(rank);
    let all = Range::input(0, problem.total());
    let stream = Stream::of(problem, steps, all.length, all.length);
    let at = inside(problem, rank, stream);
    let result = Range::output(0, problem.block(rank));
    if at.parent.is_some() {
        // Operands go up the tree; blocks come from the leader itself.
        trees::reduce(steps, &at, all, None);
        return steps.receive(problem.leader(here), result);
    }
    let sum = steps.scratch(all.length);
    trees::reduce(steps, &at, all, Some(sum));
    let blocks = |cluster: Cluster| {
        let members = clusters.members(cluster).iter();
        members.map(|&member| (member, problem.start(member), problem.block(member)))
    };
    let length = |cluster: Cluster| blocks(cluster).map(|(_, _, length)| length).sum();
    // The sums for the members of a cluster, consecutively.
    let packed: List<Cluster, Range> = clusters
        .all()
        .map(|cluster| {
            let packed = steps.scratch(length(cluster));
            let mut done = 0;
            for (_, start, length) in blocks(cluster) {
                steps.copy(sum.part(start, length), packed.part(done, length));
                done += length;
            }
            packed
        })
        .collect();
    for other in clusters.others(here) {
        steps.send(problem.leader(other), packed[other]);
    }
    let mut reduced = packed[here];
    for other in clusters.others_towards(here) {
        let incoming = steps.scratch(reduced.length);
        steps.receive(problem.leader(other), incoming);
        steps.reduce(reduced, incoming);
        reduced = incoming;
    }
    let mut done = 0;
    for (member, _, length) in blocks(here) {
        let part = reduced.part(done, length);
        match member == rank {
            true => steps.copy(part, result),
            false => steps.send(member, part),
        }
        done += length;
    }
}
