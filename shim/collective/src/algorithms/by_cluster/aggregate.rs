//! `Gatherv`, `Scatterv`, `Alltoallv` and `Alltoallw` if the leaders of clusters have the sizes of
//! their ranks' blocks ([`told`]): small blocks of all ranks of a cluster in one message between
//! clusters, each large block directly to its receiver.
//!
//! ```text
//!   members --small--> leader ==small ones of all==> leader, or root --> members
//!   member  --large--------------------------------> receiver
//! ```

use crate::algorithms::by_cluster::alltoall::ClusterExchange;
use crate::algorithms::by_rank::linear::far_first;
use crate::algorithms::by_rank::pairwise;
use crate::plan::range::Range;
use crate::problem::{Blocks, Problem};
use crate::steps::Steps;
use crate::told;
use treepie_base::Cluster;

/// Ranks of a cluster, and their blocks that are relayed by the leader: the small ones.
struct Along<'a> {
    members: &'a [usize],
    blocks: Blocks,
}

impl<'a> Along<'a> {
    fn new(problem: &Problem<'a>, cluster: Cluster) -> Self {
        let members = problem.clusters.members(cluster);
        let along = |&rank: &usize| match goes_along(problem, rank) {
            true => problem.block(rank),
            false => 0,
        };
        let lengths: Vec<u64> = members.iter().map(along).collect();
        Along {
            members,
            blocks: Blocks::listed(&lengths),
        }
    }

    /// Relayed blocks in `all`, with their ranks.
    fn places(&self, all: Range) -> impl Iterator<Item = (usize, Range)> {
        let members = self.members.iter().enumerate();
        let places = members.map(move |(place, &member)| (member, self.blocks.of(all, place)));
        places.filter(|(_, block)| block.length > 0)
    }
}

/// True if the leader relays the block of a rank.
fn goes_along(problem: &Problem, rank: usize) -> bool {
    let bytes = problem.block(rank).saturating_mul(problem.unit_bytes);
    told::goes_along(bytes)
}

/// Rank to which a rank sends its block, or from which it receives it; a leader itself, if its
/// block is relayed.
fn partner(problem: &Problem, rank: usize) -> usize {
    let here = problem.clusters.of(rank);
    match goes_along(problem, rank) && here != problem.root_cluster() {
        true => problem.leader(here),
        false => problem.root,
    }
}

/// True if the rank leads a cluster other than the root's.
fn leads(problem: &Problem, rank: usize) -> bool {
    let here = problem.clusters.of(rank);
    rank == problem.leader(here) && here != problem.root_cluster()
}

/// Ranks that exchange their blocks with the root directly, far ones first.
fn alone(problem: &Problem) -> impl Iterator<Item = usize> {
    let others = far_first(problem).into_iter();
    others.filter(|&rank| partner(problem, rank) == problem.root)
}

/// `Gatherv`.
pub fn gather(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let own = Range::input(0, problem.block(rank));
    if rank == problem.root {
        return gather_at_root(problem, steps);
    }
    if leads(problem, rank) {
        let along = Along::new(problem, problem.clusters.of(rank));
        let all = steps.scratch(along.blocks.total());
        for (member, into) in along.places(all) {
            match member == rank {
                true => steps.copy(own, into),
                false => steps.receive(member, into),
            }
        }
        steps.send(problem.root, all);
    }
    let to = partner(problem, rank);
    if to != rank {
        steps.send(to, own);
    }
}

fn gather_at_root(problem: &Problem, steps: &mut dyn Steps) {
    let root = problem.root;
    let (blocks, output) = (problem.blocks(), Range::output(0, problem.total()));
    let place = |owner: usize| blocks.of(output, owner);
    for other in problem.clusters.others(problem.root_cluster()) {
        let along = Along::new(problem, other);
        let all = steps.scratch(along.blocks.total());
        steps.receive(problem.leader(other), all);
        for (member, from) in along.places(all) {
            steps.copy(from, place(member));
        }
    }
    for from in alone(problem) {
        steps.receive(from, place(from));
    }
    steps.copy(Range::input(0, problem.block(root)), place(root));
}

/// `Scatterv`.
pub fn scatter(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let own = Range::output(0, problem.block(rank));
    if rank == problem.root {
        return scatter_from_root(problem, steps);
    }
    if leads(problem, rank) {
        let along = Along::new(problem, problem.clusters.of(rank));
        let all = steps.scratch(along.blocks.total());
        steps.receive(problem.root, all);
        for (member, from) in along.places(all) {
            match member == rank {
                true => steps.copy(from, own),
                false => steps.send(member, from),
            }
        }
    }
    let from = partner(problem, rank);
    if from != rank {
        steps.receive(from, own);
    }
}

fn scatter_from_root(problem: &Problem, steps: &mut dyn Steps) {
    let root = problem.root;
    let (blocks, input) = (problem.blocks(), Range::input(0, problem.total()));
    let place = |owner: usize| blocks.of(input, owner);
    for other in problem.clusters.others(problem.root_cluster()) {
        let along = Along::new(problem, other);
        let all = steps.scratch(along.blocks.total());
        for (member, into) in along.places(all) {
            steps.copy(place(member), into);
        }
        steps.send(problem.leader(other), all);
    }
    for to in alone(problem) {
        steps.send(to, place(to));
    }
    steps.copy(place(root), Range::output(0, problem.block(root)));
}

/// `Alltoallv` and `Alltoallw`.
pub fn exchange(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let clusters = problem.clusters;
    let along = |from: usize, to: usize| {
        let units = told::pair(problem, rank, from, to);
        let bytes = units.saturating_mul(problem.unit_bytes);
        let is_far = clusters.of(from) != clusters.of(to);
        match is_far && told::goes_along(bytes) {
            true => units,
            false => 0,
        }
    };
    ClusterExchange::new(problem, rank, &along).in_few_messages(steps);
    pairwise::direct(problem, rank, steps, &|from, to| along(from, to) == 0);
}
