//! `Gather` and `Scatter` over several ranks of the root's cluster at the same time (thesis 7.2.3,
//! item 71), if one connection does not fill the link to another cluster.
//!
//! ```text
//!   root ==> head a of cluster b --> its share of the members
//!     `--> helper ==> head b of cluster b --> the rest of them      (a gather: backwards)
//! ```
//!
//! Every rank can compute its sender: helpers are the first members of the root's cluster, and the
//! members of another cluster are cut into one share for each source.

use crate::algorithms::by_cluster::block_tree::BlockTree;
use crate::algorithms::trees::led_by;
use crate::clusters::Clusters;
use crate::network::links::Network;
use crate::plan::range::Range;
use crate::problem::{Blocks, Problem};
use crate::steps::Steps;
use treepie_base::Cluster;

/// Number of sources if no network gives the number that fills the link.
const USUAL_SOURCES: usize = 4;

/// Number of ranks of the root's cluster that send to others, or receive from them: enough to fill
/// the link.
pub fn count(clusters: &Clusters, root: usize, network: Option<&Network>) -> usize {
    let here = clusters.of(root);
    let filling = network.map_or(USUAL_SOURCES, |network| network.pairs_to_fill(here));
    filling.min(clusters.members(here).len())
}

/// The sources, root first.
fn sources(problem: &Problem) -> Vec<usize> {
    let (clusters, root) = (problem.clusters, problem.root);
    let mut all = led_by(root, clusters.dealt(clusters.of(root)));
    all.truncate(count(clusters, root, problem.network));
    all
}

/// Some members of another cluster, whose blocks are sent together.
struct Share {
    source: usize,
    tree: BlockTree,
}

/// Shares of a cluster, one for each source, if it has enough members.
fn shares(problem: &Problem, cluster: Cluster, sources: &[usize], steps: &dyn Steps) -> Vec<Share> {
    let leader = problem.clusters.leader_towards(cluster, problem.root);
    let members = led_by(leader, problem.clusters.dealt(cluster));
    let cut = Blocks::Cut {
        count: sources.len().min(members.len()),
        units: members.len() as u64,
    };
    (0..cut.count())
        .map(|place| {
            let of_share = cut.start(place) as usize..cut.start(place + 1) as usize;
            Share {
                source: sources[place],
                tree: BlockTree::new(problem, &members[of_share], steps),
            }
        })
        .collect()
}

/// Shares of all other clusters, in the root's order of service.
fn all_shares(problem: &Problem, sources: &[usize], steps: &dyn Steps) -> Vec<Share> {
    let clusters = problem.clusters;
    let others = clusters.others(clusters.of(problem.root));
    others
        .flat_map(|cluster| shares(problem, cluster, sources, steps))
        .collect()
}

/// The shares that a rank of the root's cluster relays: most relay none, and build no trees.
fn relayed(problem: &Problem, rank: usize, sources: &[usize], steps: &dyn Steps) -> Vec<Share> {
    if !sources.contains(&rank) {
        return Vec::new();
    }
    let mut shares = all_shares(problem, sources, steps);
    shares.retain(|share| share.source == rank);
    shares
}

/// Tree of the root's cluster.
fn near(problem: &Problem, steps: &dyn Steps) -> BlockTree {
    let near = problem.clusters.dealt(problem.clusters.of(problem.root));
    BlockTree::new(problem, &led_by(problem.root, near), steps)
}

/// `Scatter` and `Scatterv`, if all ranks know all sizes.
pub fn scatter(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let (clusters, root) = (problem.clusters, problem.root);
    let sources = sources(problem);
    let own = Range::output(0, problem.block(rank));
    if clusters.of(rank) != clusters.of(root) {
        for share in shares(problem, clusters.of(rank), &sources, steps) {
            share.tree.scatter(rank, share.source, own, steps);
        }
        return;
    }
    if rank == root {
        let shares = all_shares(problem, &sources, steps);
        return scatter_from_root(problem, steps, &shares, own);
    }
    for share in relayed(problem, rank, &sources, steps) {
        let all = steps.scratch(share.tree.total());
        steps.receive(root, all);
        steps.send(share.tree.leader(), all);
    }
    near(problem, steps).scatter(rank, root, own, steps);
}

/// Sends the helpers' shares first, so that they can forward them; then the root's own, and the
/// blocks of its cluster.
fn scatter_from_root(problem: &Problem, steps: &mut dyn Steps, shares: &[Share], own: Range) {
    let root = problem.root;
    let blocks = problem.blocks();
    let input = |owner: usize| blocks.of(Range::input(0, blocks.total()), owner);
    let (own_shares, of_helpers): (Vec<&Share>, Vec<&Share>) =
        shares.iter().partition(|share| share.source == root);
    for share in of_helpers.into_iter().chain(own_shares) {
        let all = steps.scratch(share.tree.total());
        for (member, into) in share.tree.of(all) {
            steps.copy(input(member), into);
        }
        let to = match share.source == root {
            true => share.tree.leader(),
            false => share.source,
        };
        steps.send(to, all);
    }
    near(problem, steps).scatter_from(steps, input);
    steps.copy(input(root), own);
}

/// `Gather` and `Gatherv`, if all ranks know all sizes: the scatter backwards.
pub fn gather(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let (clusters, root) = (problem.clusters, problem.root);
    let sources = sources(problem);
    let own = Range::input(0, problem.block(rank));
    if clusters.of(rank) != clusters.of(root) {
        for share in shares(problem, clusters.of(rank), &sources, steps) {
            share.tree.gather(rank, share.source, own, steps);
        }
        return;
    }
    if rank == root {
        let shares = all_shares(problem, &sources, steps);
        return gather_to_root(problem, steps, &shares, own);
    }
    near(problem, steps).gather(rank, root, own, steps);
    for share in relayed(problem, rank, &sources, steps) {
        let all = steps.scratch(share.tree.total());
        steps.receive(share.tree.leader(), all);
        steps.send(root, all);
    }
}

/// Steps of [`gather`] at the root.
fn gather_to_root(problem: &Problem, steps: &mut dyn Steps, shares: &[Share], own: Range) {
    let root = problem.root;
    let blocks = problem.blocks();
    let output = |owner: usize| blocks.of(Range::output(0, blocks.total()), owner);
    steps.copy(own, output(root));
    near(problem, steps).gather_to(steps, output);
    for share in shares {
        let all = steps.scratch(share.tree.total());
        let from = match share.source == root {
            true => share.tree.leader(),
            false => share.source,
        };
        steps.receive(from, all);
        for (member, block) in share.tree.of(all) {
            steps.copy(block, output(member));
        }
    }
}
