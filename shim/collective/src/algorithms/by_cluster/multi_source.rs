//! `Gather` and `Scatter` over several ranks of the root's cluster at the same time (thesis 7.2.3,
//! item 71): where one connection does not fill the link to another cluster.
//!
//! ```text
//!   root ==> head a of cluster b --> its share of the members
//!     `--> helper ==> head b of cluster b --> the rest of them      (a gather: backwards)
//! ```
//!
//! Every rank knows from whom it receives: helpers are the first members of the root's cluster, and
//! the members of another cluster are cut into as many shares as there are sources.

use crate::algorithms::trees::led_by;
use crate::clusters::Clusters;
use crate::network::links::Network;
use crate::plan::range::Range;
use crate::problem::{Blocks, Problem};
use crate::steps::Steps;

/// So many sources where no network says how many fill the link.
const USUAL_SOURCES: usize = 4;

/// How many ranks of the root's cluster send to others, or receive from them: as many as fill the
/// link.
pub fn count(clusters: &Clusters, root: usize, network: Option<&Network>) -> usize {
    let here = clusters.of(root);
    let filling = network.map_or(USUAL_SOURCES, |network| network.pairs_to_fill(here));
    filling.min(clusters.members(here).len())
}

/// These ranks, the root first.
fn sources(problem: &Problem) -> Vec<usize> {
    let (clusters, root) = (problem.clusters, problem.root);
    let mut all = led_by(root, clusters.dealt(clusters.of(root)));
    all.truncate(count(clusters, root, problem.network));
    all
}

/// Some members of another cluster, whose blocks go together: the first of them is their head.
struct Share {
    source: usize,
    members: Vec<usize>,
    blocks: Blocks,
}

impl Share {
    fn head(&self) -> usize {
        self.members[0]
    }

    fn total(&self) -> u64 {
        self.blocks.total()
    }
}

/// The shares of a cluster, one for each source, as far as it has members.
fn shares(problem: &Problem, cluster: usize, sources: &[usize]) -> Vec<Share> {
    let leader = problem.clusters.leader_towards(cluster, problem.root);
    let members = led_by(leader, problem.clusters.dealt(cluster));
    let cut = Blocks::Cut {
        count: sources.len().min(members.len()),
        units: members.len() as u64,
    };
    (0..cut.count())
        .map(|place| {
            let of_share = cut.start(place) as usize..cut.start(place + 1) as usize;
            let members = members[of_share].to_vec();
            let lengths: Vec<u64> = members
                .iter()
                .map(|&member| problem.block(member))
                .collect();
            Share {
                source: sources[place],
                members,
                blocks: Blocks::listed(&lengths),
            }
        })
        .collect()
}

/// The shares of all other clusters, as the root serves them.
fn all_shares(problem: &Problem, sources: &[usize]) -> Vec<Share> {
    let clusters = problem.clusters;
    let others = clusters.others(clusters.of(problem.root));
    others
        .flat_map(|cluster| shares(problem, cluster, sources))
        .collect()
}

/// `Scatter` and `Scatterv`, where all know all sizes.
pub fn scatter(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let sources = sources(problem);
    let shares = all_shares(problem, &sources);
    let own = Range::output(0, problem.block(rank));
    if rank == problem.root {
        return scatter_from_root(problem, steps, &shares, own);
    }
    if problem.clusters.of(rank) == problem.clusters.of(problem.root) {
        for share in shares.iter().filter(|share| share.source == rank) {
            let all = steps.scratch(share.total());
            steps.receive(problem.root, all);
            steps.send(share.head(), all);
        }
        return steps.receive(problem.root, own);
    }
    let Some(share) = shares.iter().find(|share| share.members.contains(&rank)) else {
        return;
    };
    if rank != share.head() {
        return steps.receive(share.head(), own);
    }
    let all = steps.scratch(share.total());
    steps.receive(share.source, all);
    for (place, &member) in share.members.iter().enumerate() {
        let block = share.blocks.of(all, place);
        match member == rank {
            true => steps.copy(block, own),
            false => steps.send(member, block),
        }
    }
}

/// The helpers' shares first, so that they can go on with them; then the root's own, and what stays
/// near.
fn scatter_from_root(problem: &Problem, steps: &mut dyn Steps, shares: &[Share], own: Range) {
    let root = problem.root;
    let blocks = problem.blocks();
    let input = |owner: usize| blocks.of(Range::input(0, blocks.total()), owner);
    let (own_shares, of_helpers): (Vec<&Share>, Vec<&Share>) =
        shares.iter().partition(|share| share.source == root);
    for share in of_helpers.into_iter().chain(own_shares) {
        let all = steps.scratch(share.total());
        for (place, &member) in share.members.iter().enumerate() {
            steps.copy(input(member), share.blocks.of(all, place));
        }
        let to = match share.source == root {
            true => share.head(),
            false => share.source,
        };
        steps.send(to, all);
    }
    let near = problem.clusters.dealt(problem.clusters.of(root));
    for &member in near.iter().filter(|&&member| member != root) {
        steps.send(member, input(member));
    }
    steps.copy(input(root), own);
}

/// `Gather` and `Gatherv`, where all know all sizes: the scatter backwards.
pub fn gather(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let sources = sources(problem);
    let shares = all_shares(problem, &sources);
    let own = Range::input(0, problem.block(rank));
    if rank == problem.root {
        return gather_to_root(problem, steps, &shares, own);
    }
    if problem.clusters.of(rank) == problem.clusters.of(problem.root) {
        steps.send(problem.root, own);
        for share in shares.iter().filter(|share| share.source == rank) {
            let all = steps.scratch(share.total());
            steps.receive(share.head(), all);
            steps.send(problem.root, all);
        }
        return;
    }
    let Some(share) = shares.iter().find(|share| share.members.contains(&rank)) else {
        return;
    };
    if rank != share.head() {
        return steps.send(share.head(), own);
    }
    let all = steps.scratch(share.total());
    for (place, &member) in share.members.iter().enumerate() {
        let block = share.blocks.of(all, place);
        match member == rank {
            true => steps.copy(own, block),
            false => steps.receive(member, block),
        }
    }
    steps.send(share.source, all);
}

/// The root's side of [`gather`].
fn gather_to_root(problem: &Problem, steps: &mut dyn Steps, shares: &[Share], own: Range) {
    let root = problem.root;
    let blocks = problem.blocks();
    let output = |owner: usize| blocks.of(Range::output(0, blocks.total()), owner);
    steps.copy(own, output(root));
    let near = problem.clusters.dealt(problem.clusters.of(root));
    for &member in near.iter().filter(|&&member| member != root) {
        steps.receive(member, output(member));
    }
    for share in shares {
        let all = steps.scratch(share.total());
        let from = match share.source == root {
            true => share.head(),
            false => share.source,
        };
        steps.receive(from, all);
        for (place, &member) in share.members.iter().enumerate() {
            steps.copy(share.blocks.of(all, place), output(member));
        }
    }
}
