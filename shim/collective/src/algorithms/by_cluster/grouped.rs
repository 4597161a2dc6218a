//! `Gather` and `Scatter` with one message for each cluster (thesis items 68 and 69); `Gatherv` and
//! `Scatterv` where all ranks know all sizes.
//!
//! ```text
//!   root == blocks of cluster b ==> leader of b --> its members
//! ```

use crate::algorithms::by_cluster::between;
use crate::algorithms::by_cluster::between::Grouped;
use crate::algorithms::trees::led_by;
use crate::plan::range::Range;
use crate::problem::{Blocks, Problem};
use crate::steps::Steps;

/// The ranks of a cluster whose blocks go together, its leader first, and their blocks.
fn group(problem: &Problem, cluster: usize) -> (Vec<usize>, Blocks) {
    let leader = problem.clusters.leader_towards(cluster, problem.root);
    let members = led_by(leader, problem.clusters.members(cluster));
    let lengths: Vec<u64> = members
        .iter()
        .map(|&member| problem.block(member))
        .collect();
    (members, Blocks::listed(&lengths))
}

/// The blocks of a cluster come to its leader, and go to the root in one message (thesis item
/// 68, backwards).
pub fn gather(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let clusters = problem.clusters;
    let (here, root_cluster) = (clusters.of(rank), clusters.of(problem.root));
    if here == root_cluster {
        return gather_to_root(problem, rank, steps);
    }
    let (group, blocks) = group(problem, here);
    let own = Range::input(0, problem.block(rank));
    if rank != group[0] {
        return steps.send(group[0], own);
    }
    let all = steps.scratch(blocks.total());
    for (place, &member) in group.iter().enumerate() {
        let into = blocks.of(all, place);
        match member == rank {
            true => steps.copy(own, into),
            false => steps.receive(member, into),
        }
    }
    steps.send(problem.root, all);
}

/// The root's side of [`gather`], and that of the members of its cluster.
fn gather_to_root(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let clusters = problem.clusters;
    let root_cluster = clusters.of(problem.root);
    let own = Range::input(0, problem.block(rank));
    if rank != problem.root {
        return steps.send(problem.root, own);
    }
    let all_blocks = problem.blocks();
    let place = |owner: usize| all_blocks.of(Range::output(0, all_blocks.total()), owner);
    steps.copy(own, place(rank));
    for &member in clusters
        .members(root_cluster)
        .iter()
        .filter(|&&m| m != rank)
    {
        steps.receive(member, place(member));
    }
    for other in clusters.others(root_cluster) {
        let (group, blocks) = group(problem, other);
        let all = steps.scratch(blocks.total());
        steps.receive(group[0], all);
        for (at, &member) in group.iter().enumerate() {
            steps.copy(blocks.of(all, at), place(member));
        }
    }
}

/// The root sends the blocks of each cluster to its leader in one message, and it
/// scatters them (thesis items 68 and 69).
pub fn scatter(problem: &Problem, rank: usize, steps: &mut dyn Steps, order: Grouped) {
    let clusters = problem.clusters;
    let (here, root_cluster) = (clusters.of(rank), clusters.of(problem.root));
    let own = Range::output(0, problem.block(rank));
    if rank == problem.root {
        let all_blocks = problem.blocks();
        let block = |owner: usize| all_blocks.of(Range::input(0, all_blocks.total()), owner);
        for other in between::grouped_order(problem, order) {
            let (group, blocks) = group(problem, other);
            let all = steps.scratch(blocks.total());
            for (at, &member) in group.iter().enumerate() {
                steps.copy(block(member), blocks.of(all, at));
            }
            steps.send(group[0], all);
        }
        for &member in clusters
            .members(root_cluster)
            .iter()
            .filter(|&&m| m != rank)
        {
            steps.send(member, block(member));
        }
        return steps.copy(block(rank), own);
    }
    let leader = clusters.leader_towards(here, problem.root);
    if rank != leader {
        return steps.receive(leader, own);
    }
    let (group, blocks) = group(problem, here);
    let all = steps.scratch(blocks.total());
    steps.receive(problem.root, all);
    for (at, &member) in group.iter().enumerate() {
        let block = blocks.of(all, at);
        match member == rank {
            true => steps.copy(block, own),
            false => steps.send(member, block),
        }
    }
}
