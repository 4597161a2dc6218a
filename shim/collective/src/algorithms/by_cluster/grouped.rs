//! `Gather` and `Scatter` with one message for each cluster (thesis items 68 and 69); `Gatherv` and
//! `Scatterv` if all ranks know all sizes.
//!
//! ```text
//!   root == blocks of cluster b ==> leader of b --> its members, along a tree
//! ```

use crate::algorithms::by_cluster::between;
use crate::algorithms::by_cluster::between::Grouped;
use crate::algorithms::by_cluster::block_tree::BlockTree;
use crate::algorithms::trees::led_by;
use crate::plan::range::Range;
use crate::problem::Problem;
use crate::steps::Steps;
use treepie_base::Cluster;

/// Tree of a cluster, whose blocks are sent together.
fn tree(problem: &Problem, cluster: Cluster, steps: &dyn Steps) -> BlockTree {
    let leader = problem.clusters.leader_towards(cluster, problem.root);
    let members = led_by(leader, problem.clusters.members(cluster));
    BlockTree::new(problem, &members, steps)
}

/// Gathers the blocks of each cluster at its leader, which sends them to the root in one message
/// (thesis item 68, backwards).
pub fn gather(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let clusters = problem.clusters;
    let here = tree(problem, clusters.of(rank), steps);
    let own = Range::input(0, problem.block(rank));
    if rank != problem.root {
        return here.gather(rank, problem.root, own, steps);
    }
    let all_blocks = problem.blocks();
    let place = |owner: usize| all_blocks.of(Range::output(0, all_blocks.total()), owner);
    steps.copy(own, place(rank));
    here.gather_to(steps, place);
    for other in clusters.others(clusters.of(rank)) {
        let there = tree(problem, other, steps);
        let all = steps.scratch(there.total());
        steps.receive(there.leader(), all);
        for (member, block) in there.of(all) {
            steps.copy(block, place(member));
        }
    }
}

/// Sends the blocks of each cluster from the root to its leader in one message; the leader scatters
/// them (thesis items 68 and 69).
pub fn scatter(problem: &Problem, rank: usize, steps: &mut dyn Steps, order: Grouped) {
    let clusters = problem.clusters;
    let here = tree(problem, clusters.of(rank), steps);
    let own = Range::output(0, problem.block(rank));
    if rank != problem.root {
        return here.scatter(rank, problem.root, own, steps);
    }
    let all_blocks = problem.blocks();
    let block = |owner: usize| all_blocks.of(Range::input(0, all_blocks.total()), owner);
    for other in between::grouped_order(problem, order) {
        let there = tree(problem, other, steps);
        let all = steps.scratch(there.total());
        for (member, into) in there.of(all) {
            steps.copy(block(member), into);
        }
        steps.send(there.leader(), all);
    }
    here.scatter_from(steps, block);
    steps.copy(block(rank), own);
}
