//! Reductions between clusters in lanes: each of k members of every cluster is
//! responsible for one k-th of the message, so that the members share the work
//! and every uplink carries each unit once.
//!
//! ```text
//!   cluster a: a0 a1 | each member sends share i to member i, who reduces it
//!   cluster b: b0 b1 |
//!   lane 0: a0 - b0    lane 1: a1 - b1      a chain or ring between clusters
//! ```

use super::between::{self, Between, Direction};
use super::trees::{self, Neighbours, Shape, Waiting, led_by};
use crate::collective::plan::Range;
use crate::collective::problem::share;
use crate::collective::{Builder, Clusters, Network, Problem};

/// The most lanes: more would only make messages smaller.
const MOST_LANES: usize = 8;

/// How many lanes there are between these clusters.
pub fn count(clusters: &Clusters) -> usize {
    clusters.lanes().clamp(1, MOST_LANES)
}

/// How many lanes a broadcast needs: as many as fill the uplinks together.
pub fn to_fill(clusters: &Clusters, network: Option<&Network>) -> usize {
    let needed = network.map_or(MOST_LANES, |network| {
        let each = (0..network.clusters()).map(|cluster| network.pairs_to_fill(cluster));
        each.max().unwrap_or(1)
    });
    count(clusters).min(needed)
}

fn lanes(problem: &Problem) -> usize {
    count(problem.clusters)
}

/// As many lanes as keep the links between clusters busy (two ranks of a host that send on one link
/// stand in each other's way there), and as a message of `length` is worth that goes in pieces of
/// `piece`: two pieces each at least.
pub fn worthwhile(
    clusters: &Clusters,
    network: Option<&Network>,
    length: u64,
    piece: u64,
) -> usize {
    let needed = network.map_or(MOST_LANES, Network::lanes);
    let pieces = length / piece.max(1);
    count(clusters)
        .min(needed)
        .min((pieces / 2).max(1) as usize)
}

/// Every member of the cluster sends each of `lanes` lanes its share; this rank's
/// share of the cluster's sum, if it has a lane.
pub fn reduce_inside(
    problem: &Problem,
    rank: usize,
    builder: &mut Builder,
    lanes: usize,
) -> Option<Range> {
    let members = problem.clusters.members(problem.clusters.of(rank));
    let length = problem.part(rank);
    let mine = |lane: usize| {
        let (start, length) = share(length, lanes, lane);
        Range::input(start, length)
    };
    let place = members.iter().position(|&member| member == rank)?;
    for distance in 1..=lanes {
        let lane = (place + distance) % lanes;
        if lane != place {
            builder.send(members[lane], mine(lane));
        }
    }
    if place >= lanes {
        return None;
    }
    let own = mine(place);
    let sum = builder.scratch(own.length);
    let at = Neighbours {
        parent: None,
        children: members
            .iter()
            .rev()
            .copied()
            .filter(|&member| member != rank)
            .collect(),
    };
    trees::reduce(builder, &at, own, Some(sum));
    Some(sum)
}

/// `Reduce`: shares are reduced inside clusters, then between them as `between`
/// says, towards the root's cluster, whose lanes hand them to the root. `between`
/// gets this rank's share, and where the root's cluster wants the result.
pub fn reduce(
    problem: &Problem,
    rank: usize,
    builder: &mut Builder,
    lanes: usize,
    between: impl Fn(&mut Builder, &Lane, Range, Option<Range>),
) {
    let clusters = problem.clusters;
    let (here, home) = (clusters.of(rank), clusters.of(problem.root));
    let sum = reduce_inside(problem, rank, builder, lanes);
    let members = clusters.members(here);
    let place = members.iter().position(|&member| member == rank);
    let result = |lane: usize| {
        let (start, length) = share(problem.part(rank), lanes, lane);
        Range::output(start, length)
    };
    if let (Some(sum), Some(place)) = (sum, place) {
        let lane = Lane::new(problem, rank, place, sum.length);
        if here != home {
            return between(builder, &lane, sum, None);
        }
        let total = match rank == problem.root {
            true => result(place),
            false => builder.scratch(sum.length),
        };
        between(builder, &lane, sum, Some(total));
        if rank != problem.root {
            builder.send(problem.root, total);
        }
    }
    if rank == problem.root {
        for (lane, &member) in members.iter().enumerate().take(lanes) {
            if member != rank {
                builder.receive(member, result(lane));
            }
        }
    }
}

/// `Reduce` along a chain of clusters.
pub fn reduce_chain(problem: &Problem, rank: usize, builder: &mut Builder) {
    let home = problem.clusters.of(problem.root);
    let count = problem.clusters.count();
    let lanes = lanes(problem);
    reduce(
        problem,
        rank,
        builder,
        lanes,
        |builder, lane, sum, result| {
            let chain: Vec<usize> = (0..count)
                .map(|step| lane.ranks[(home + step) % count])
                .collect();
            let at = Shape::Chain.neighbours(&chain, (lane.at + count - home) % count);
            trees::reduce(builder, &at, sum, result);
        },
    );
}

/// `Allreduce`: shares are reduced inside clusters; each lane reduces and collects
/// them between clusters, round a ring: 2 (C - 1) latencies, and each uplink at
/// work all the time; lanes hand them round in their clusters.
pub fn allreduce(problem: &Problem, rank: usize, builder: &mut Builder) {
    let clusters = problem.clusters;
    let lanes = lanes(problem);
    let members = clusters.members(clusters.of(rank));
    let sum = reduce_inside(problem, rank, builder, lanes);
    let Some(place) = members.iter().position(|&member| member == rank) else {
        return;
    };
    let output = |lane: usize| {
        let (start, length) = share(problem.part(rank), lanes, lane);
        Range::output(start, length)
    };
    if let Some(sum) = sum {
        let mine = output(place);
        let lane = Lane::new(problem, rank, place, sum.length);
        let rest: Vec<usize> = members.iter().copied().filter(|&m| m != rank).collect();
        lane.reduce_round(builder, sum, mine);
        for part in lane.collect_round(builder, mine) {
            for &member in &rest {
                builder.send(member, part);
            }
        }
    }
    for (lane, &member) in members.iter().enumerate().take(lanes) {
        if member != rank {
            let far = Lane::new(problem, member, lane, output(lane).length);
            for (start, length) in far.round() {
                builder.receive(member, output(lane).part(start, length));
            }
        }
    }
}

/// One lane: one member of every cluster, and a part of the share for each.
pub struct Lane {
    /// The members, cluster by cluster.
    pub ranks: Vec<usize>,
    /// The cluster of the member that looks at it.
    pub at: usize,
    /// Units of the share.
    pub length: u64,
}

impl Lane {
    /// Lane number `lane`, which has `length` units, as `rank` sees it.
    pub fn new(problem: &Problem, rank: usize, lane: usize, length: u64) -> Self {
        let clusters = problem.clusters;
        Lane {
            ranks: (0..clusters.count())
                .map(|cluster| clusters.members(cluster)[lane])
                .collect(),
            at: clusters.of(rank),
            length,
        }
    }

    /// The rank `distance` further.
    fn rank(&self, distance: usize) -> usize {
        self.ranks[(self.at + distance) % self.ranks.len()]
    }

    /// The part of the place that is `distance` before this one.
    fn part_before(&self, distance: usize) -> (u64, u64) {
        let count = self.ranks.len();
        share(
            self.length,
            count,
            (self.at + count - distance % count) % count,
        )
    }

    /// Each part goes once round the ring and is reduced on its way; the last, of
    /// the next place, ends in `output`.
    fn reduce_round(&self, builder: &mut Builder, sum: Range, output: Range) {
        let count = self.ranks.len();
        if count == 1 {
            return builder.copy(sum, output);
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
                false => builder.scratch(length),
            };
            builder.send(next, outgoing);
            builder.receive(previous, incoming);
            builder.reduce(sum.part(start, length), incoming);
            outgoing = incoming;
        }
    }

    /// The parts as they are complete here: the one that was reduced last, then as
    /// they come round.
    fn round(&self) -> Vec<(u64, u64)> {
        let count = self.ranks.len();
        (0..count)
            .map(|round| self.part_before(round + count - 1))
            .collect()
    }

    /// Hands complete parts on round the ring; gives the ranges in the order in
    /// which they are complete.
    fn collect_round(&self, builder: &mut Builder, output: Range) -> Vec<Range> {
        let count = self.ranks.len();
        let parts: Vec<Range> = self
            .round()
            .into_iter()
            .map(|(start, length)| output.part(start, length))
            .collect();
        for pair in parts.windows(2) {
            builder.send(self.rank(1), pair[0]);
            builder.receive(self.rank(count - 1), pair[1]);
        }
        parts
    }
}

/// `Allreduce` of a message that is better not divided: coordinators reduce their
/// clusters, send the sums to each other, and each reduces them in the same order.
pub fn allreduce_exchange(problem: &Problem, rank: usize, builder: &mut Builder) {
    let clusters = problem.clusters;
    let here = clusters.of(rank);
    let length = problem.part(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let at = between::inside(problem, rank);
    if at.parent.is_some() {
        trees::reduce(builder, &at, own, None);
        return trees::broadcast(builder, &at, output);
    }
    let sum = builder.scratch(length);
    trees::reduce(builder, &at, own, Some(sum));
    let coordinator = |cluster: usize| problem.leader(cluster);
    for other in clusters.others(here) {
        builder.send(coordinator(other), sum);
    }
    let mut waiting = Waiting::new(builder, length, clusters.count());
    let mut done = 0;
    for piece in builder.pieces(sum) {
        let mut reduced: Option<Range> = None;
        for cluster in 0..clusters.count() {
            let incoming = waiting.next(piece.length);
            match cluster == here {
                true => builder.copy(piece, incoming),
                false => builder.receive_piece(coordinator(cluster), incoming),
            }
            if let Some(before) = reduced {
                builder.reduce(before, incoming);
            }
            reduced = Some(incoming);
        }
        if let Some(reduced) = reduced {
            builder.copy(reduced, output.part(done, piece.length));
        }
        done += piece.length;
    }
    trees::broadcast(builder, &at, output);
}

/// `Bcast` along a tree of clusters with a lane for every few pieces: each lane has a rank of every
/// cluster, which carries every k-th piece between clusters and hands it on inside. For links
/// that one connection cannot fill.
///
/// ```text
///   root --> a1 --s1, s3, ..--> b1 --> b0      lane 1
///     \-------s0, s2, ..------> b0 --> b1      lane 0
/// ```
pub fn broadcast(problem: &Problem, rank: usize, builder: &mut Builder, between: Between) {
    let clusters = problem.clusters;
    let lanes = to_fill(clusters, problem.network);
    let (here, home) = (clusters.of(rank), clusters.of(problem.root));
    let lane_of = |cluster: usize, lane: usize| {
        led_by(problem.leader(cluster), clusters.members(cluster))[lane]
    };
    let edges = between::edges(problem, between, Direction::Down);
    let above = edges.iter().find(|&&(_, to)| to == here);
    let below: Vec<usize> = edges
        .iter()
        .filter(|&&(from, _)| from == here)
        .map(|&(_, to)| to)
        .collect();
    // Inside, from whoever has the piece first: the root, or the lane's own rank.
    let inside: Vec<Neighbours> = (0..lanes)
        .map(|lane| {
            let first = match here == home {
                true => problem.root,
                false => lane_of(here, lane),
            };
            let ranks = led_by(first, clusters.members(here));
            let place = ranks.iter().position(|&member| member == rank);
            Shape::for_cluster(ranks.len()).neighbours(&ranks, place.unwrap_or(0))
        })
        .collect();
    let data = Range::output(0, problem.part(rank));
    for (index, piece) in builder.pieces(data).enumerate() {
        let lane = index % lanes;
        let carries = rank == lane_of(here, lane);
        match (above, carries) {
            (Some(&(from, _)), true) => builder.receive_piece(lane_of(from, lane), piece),
            _ => {
                if let Some(parent) = inside[lane].parent {
                    builder.receive_piece(parent, piece);
                }
            }
        }
        if carries {
            for &cluster in &below {
                builder.send_piece(lane_of(cluster, lane), piece);
            }
        }
        for &child in &inside[lane].children {
            builder.send_piece(child, piece);
        }
    }
}
