//! Reductions between clusters in lanes: each of k members of every cluster is
//! responsible for one k-th of the message, so that the members share the work
//! and every uplink carries each unit once.
//!
//! ```text
//!   cluster a: a0 a1 | each member sends share i to member i, which reduces it
//!   cluster b: b0 b1 |
//!   lane 0: a0 - b0    lane 1: a1 - b1      a chain or ring between clusters
//! ```

use crate::algorithms::by_cluster::between;
use crate::algorithms::by_cluster::between::{Between, Direction};
use crate::algorithms::by_cluster::inside::{inside, led_from};
use crate::algorithms::by_cluster::stage::Stream;
use crate::algorithms::trees;
use crate::algorithms::trees::{Neighbours, Shape, Slots, led_by};
use crate::clusters::Clusters;
use crate::network::links::Network;
use crate::plan::range::Range;
use crate::problem::{Problem, share};
use crate::steps::Steps;
use treepie_base::{Cluster, List};

/// Maximum number of lanes: more would only shrink messages.
const MOST_LANES: usize = 8;

/// Number of lanes between these clusters.
pub fn count(clusters: &Clusters) -> usize {
    clusters.lanes().clamp(1, MOST_LANES)
}

/// Number of lanes for a broadcast: enough to fill the uplinks together.
pub fn to_fill(clusters: &Clusters, network: Option<&Network>) -> usize {
    let needed = network.map_or(MOST_LANES, |network| {
        let clusters = network.all_clusters();
        let each = clusters.map(|cluster| network.pairs_to_fill(cluster));
        each.max().unwrap_or(1)
    });
    count(clusters).min(needed)
}

fn lanes(problem: &Problem) -> usize {
    count(problem.clusters)
}

/// Number of lanes that keeps the links between clusters busy (two ranks of a host that send on one
/// link delay each other there), limited so that each lane carries at least two segments of
/// `segment` units of a message of `length` units.
pub(crate) fn worthwhile(
    clusters: &Clusters,
    network: Option<&Network>,
    length: u64,
    segment: u64,
) -> usize {
    let needed = network.map_or(MOST_LANES, Network::lanes);
    let segments = length / segment.max(1);
    count(clusters)
        .min(needed)
        .min((segments / 2).max(1) as usize)
}

/// Sends each lane's share from every member of the cluster; returns this rank's share of the
/// cluster's sum, if it has a lane.
pub(crate) fn reduce_inside(
    problem: &Problem,
    rank: usize,
    steps: &mut dyn Steps,
    lanes: usize,
) -> Option<Range> {
    let members = problem.clusters.dealt(problem.clusters.of(rank));
    let length = problem.block(rank);
    let mine = |lane: usize| {
        let (start, length) = share(length, lanes, lane);
        Range::input(start, length)
    };
    let place = members.iter().position(|&member| member == rank)?;
    for distance in 1..=lanes {
        let lane = (place + distance) % lanes;
        if lane != place {
            steps.send(members[lane], mine(lane));
        }
    }
    if place >= lanes {
        return None;
    }
    let own = mine(place);
    let sum = steps.scratch(own.length);
    let at = Neighbours {
        parent: None,
        children: members
            .iter()
            .rev()
            .copied()
            .filter(|&member| member != rank)
            .collect(),
    };
    trees::reduce(steps, &at, own, Some(sum));
    Some(sum)
}

/// `Reduce`: shares are reduced inside clusters, then by `between` between them, towards the root's
/// cluster, whose lanes send them to the root. `between` receives this rank's share, and the range
/// of the result in the root's cluster.
pub fn reduce(
    problem: &Problem,
    rank: usize,
    steps: &mut dyn Steps,
    lanes: usize,
    between: impl Fn(&mut dyn Steps, &Lane, Range, Option<Range>),
) {
    let clusters = problem.clusters;
    let (here, root_cluster) = (clusters.of(rank), clusters.of(problem.root));
    let sum = reduce_inside(problem, rank, steps, lanes);
    let members = clusters.dealt(here);
    let place = members.iter().position(|&member| member == rank);
    let result = |lane: usize| {
        let (start, length) = share(problem.block(rank), lanes, lane);
        Range::output(start, length)
    };
    if let (Some(sum), Some(place)) = (sum, place) {
        let lane = Lane::new(problem, rank, place, sum.length);
        if here != root_cluster {
            return between(steps, &lane, sum, None);
        }
        let total = match rank == problem.root {
            true => result(place),
            false => steps.scratch(sum.length),
        };
        between(steps, &lane, sum, Some(total));
        if rank != problem.root {
            steps.send(problem.root, total);
        }
    }
    if rank == problem.root {
        for (lane, &member) in members.iter().enumerate().take(lanes) {
            if member != rank {
                steps.receive(member, result(lane));
            }
        }
    }
}

/// `Reduce` along a chain of clusters.
pub(crate) fn reduce_chain(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let clusters = problem.clusters;
    let root_cluster = clusters.of(problem.root);
    let lanes = lanes(problem);
    reduce(problem, rank, steps, lanes, |steps, lane, sum, result| {
        let clusters = std::iter::once(root_cluster).chain(clusters.others(root_cluster));
        let chain: Vec<usize> = clusters.map(|cluster| lane.ranks[cluster]).collect();
        let place = (lane.at.0 + chain.len() - root_cluster.0) % chain.len();
        let at = Shape::Chain.neighbours(&chain, place);
        trees::reduce(steps, &at, sum, result);
    });
}

/// `Allreduce`: shares are reduced inside clusters; each lane reduces and collects them between
/// clusters, round a ring, in 2 (C - 1) latencies with each uplink busy all the time; lanes
/// distribute the results in their clusters.
pub fn allreduce(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let clusters = problem.clusters;
    let lanes = lanes(problem);
    let members = clusters.dealt(clusters.of(rank));
    let sum = reduce_inside(problem, rank, steps, lanes);
    let Some(place) = members.iter().position(|&member| member == rank) else {
        return;
    };
    let output = |lane: usize| {
        let (start, length) = share(problem.block(rank), lanes, lane);
        Range::output(start, length)
    };
    if let Some(sum) = sum {
        let mine = output(place);
        let lane = Lane::new(problem, rank, place, sum.length);
        let rest: Vec<usize> = members.iter().copied().filter(|&m| m != rank).collect();
        lane.reduce_round(steps, sum, mine);
        for part in lane.collect_round(steps, mine) {
            for &member in &rest {
                steps.send(member, part);
            }
        }
    }
    for (lane, &member) in members.iter().enumerate().take(lanes) {
        if member != rank {
            let far = Lane::new(problem, member, lane, output(lane).length);
            for (start, length) in far.round() {
                steps.receive(member, output(lane).part(start, length));
            }
        }
    }
}

/// One lane: one member of every cluster, each with a part of the share.
pub(crate) struct Lane {
    /// Members, by cluster.
    pub ranks: List<Cluster, usize>,
    /// Cluster of this rank.
    pub at: Cluster,
    /// Units of the share.
    pub length: u64,
}

impl Lane {
    /// Lane number `lane` of `length` units, for `rank`.
    pub fn new(problem: &Problem, rank: usize, lane: usize, length: u64) -> Self {
        let clusters = problem.clusters;
        Lane {
            ranks: clusters
                .all()
                .map(|cluster| clusters.dealt(cluster)[lane])
                .collect(),
            at: clusters.of(rank),
            length,
        }
    }

    /// Rank of the cluster `distance` further on.
    pub(super) fn rank(&self, distance: usize) -> usize {
        self.ranks[Cluster((self.at.0 + distance) % self.ranks.len())]
    }

    /// Part of the cluster `distance` before this one: start and length.
    fn part_before(&self, distance: usize) -> (u64, u64) {
        let count = self.ranks.len();
        share(
            self.length,
            count,
            (self.at.0 + count - distance % count) % count,
        )
    }

    /// Sends each part once round the ring, reduced on its way; the last, of the next place, ends
    /// in `output`.
    fn reduce_round(&self, steps: &mut dyn Steps, sum: Range, output: Range) {
        let count = self.ranks.len();
        if count == 1 {
            return steps.copy(sum, output);
        }
        let (next, previous) = (self.rank(1), self.rank(count - 1));
        let mut outgoing = {
            let (start, length) = self.part_before(0);
            sum.part(start, length)
        };
        for round in 1..count {
            let (start, length) = self.part_before(round);
            let incoming = match round + 1 == count {
                true => output.part(start, length),
                false => steps.scratch(length),
            };
            steps.send(next, outgoing);
            steps.receive(previous, incoming);
            steps.reduce(sum.part(start, length), incoming);
            outgoing = incoming;
        }
    }

    /// Parts in the order in which they are complete here: the last one reduced, then in the order
    /// of their arrival round the ring.
    fn round(&self) -> Vec<(u64, u64)> {
        let count = self.ranks.len();
        (0..count)
            .map(|round| self.part_before(round + count - 1))
            .collect()
    }

    /// Forwards complete parts round the ring; returns the ranges in the order in which they are
    /// complete.
    fn collect_round(&self, steps: &mut dyn Steps, output: Range) -> Vec<Range> {
        let count = self.ranks.len();
        let parts: Vec<Range> = self
            .round()
            .into_iter()
            .map(|(start, length)| output.part(start, length))
            .collect();
        for pair in parts.windows(2) {
            steps.send(self.rank(1), pair[0]);
            steps.receive(self.rank(count - 1), pair[1]);
        }
        parts
    }
}

/// `Allreduce` of a message that is faster undivided: leaders reduce their clusters, send the sums
/// to each other, and each reduces them in the same order.
pub(crate) fn allreduce_exchange(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let clusters = problem.clusters;
    let here = clusters.of(rank);
    let length = problem.block(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let stream = Stream::of(problem, steps, length, length);
    let at = inside(problem, rank, stream);
    if at.parent.is_some() {
        trees::reduce(steps, &at, own, None);
        return trees::broadcast(steps, &at, output);
    }
    let sum = steps.scratch(length);
    trees::reduce(steps, &at, own, Some(sum));
    let leader = |cluster: Cluster| problem.leader(cluster);
    for other in clusters.others(here) {
        steps.send(leader(other), sum);
    }
    let mut slots = Slots::new(steps, length, clusters.count());
    for segment in steps.segments(sum) {
        let sources = clusters.all().map(|of| (of != here).then(|| leader(of)));
        let reduced = trees::reduce_sources(steps, &mut slots, sources, segment);
        steps.copy(
            reduced,
            output.part(segment.start - sum.start, segment.length),
        );
    }
    trees::broadcast(steps, &at, output);
}

/// `Bcast` along a tree of clusters with a lane for every few segments: each lane has a rank of
/// every cluster, which carries every k-th segment between clusters and forwards it inside. For
/// links that one connection cannot fill.
///
/// ```text
///   root --> a1 --s1, s3, ..--> b1 --> b0      lane 1
///     \-------s0, s2, ..------> b0 --> b1      lane 0
/// ```
pub fn broadcast(problem: &Problem, rank: usize, steps: &mut dyn Steps, between: Between) {
    let clusters = problem.clusters;
    let lanes = to_fill(clusters, problem.network);
    let (here, root_cluster) = (clusters.of(rank), clusters.of(problem.root));
    let lane_of = |cluster: Cluster, lane: usize| {
        led_by(problem.leader(cluster), clusters.dealt(cluster))[lane]
    };
    let edges = between::edges(problem, between, Direction::Down);
    let above = edges.iter().find(|&&(_, to)| to == here);
    let below: Vec<Cluster> = edges
        .iter()
        .filter(|&&(from, _)| from == here)
        .map(|&(_, to)| to)
        .collect();
    let data = Range::output(0, problem.block(rank));
    let stream = Stream::of(problem, steps, data.length, data.length);
    // Inside, from the first rank with the segment: the root, or the lane's own rank.
    let inside: Vec<Neighbours> = (0..lanes)
        .map(|lane| {
            let first = match here == root_cluster {
                true => problem.root,
                false => lane_of(here, lane),
            };
            led_from(problem, rank, first, stream)
        })
        .collect();
    for (index, segment) in steps.segments(data).enumerate() {
        let lane = index % lanes;
        let carries = rank == lane_of(here, lane);
        match (above, carries) {
            (Some(&(from, _)), true) => steps.receive_segment(lane_of(from, lane), segment),
            _ => {
                if let Some(parent) = inside[lane].parent {
                    steps.receive_segment(parent, segment);
                }
            }
        }
        if carries {
            for &cluster in &below {
                steps.send_segment(lane_of(cluster, lane), segment);
            }
        }
        for &child in &inside[lane].children {
            steps.send_segment(child, segment);
        }
    }
}
