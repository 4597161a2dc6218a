//! Reductions between clusters in which no unit needs more than two latencies, in the lanes of
//! [`super::lanes`].
//!
//! Most of a lane's share is *reduce-scattered* (`parted`): each part is reduced in one cluster,
//! which needs a second latency to send the result. At the end, links would be idle for that
//! latency; the rest is therefore sent *direct*, to every cluster that needs it. That takes more
//! bytes, but at a time when links have nothing else to carry.
//!
//! ```text
//!   allreduce, cluster a's link:  | parts to b, c, d | direct to b, c, d | part a reduced, to b, c, d |
//!   reduce to a, cluster b's:     | parts to c, d; direct to a           | part b reduced, to a       |
//! ```

use crate::algorithms::by_cluster::lanes;
use crate::algorithms::by_cluster::lanes::Lane;
use crate::algorithms::trees;
use crate::algorithms::trees::Slots;
use crate::plan::range::Range;
use crate::problem::{Problem, share};
use crate::steps::Steps;
use treepie_base::Cluster;

/// A lane's share in segments: reduce-scattered ones (`parted`), each reduced in one of several
/// clusters, round-robin, and direct ones.
struct Divided {
    parted: Vec<Range>,
    direct: Vec<Range>,
}

impl Divided {
    /// Divides a share, whose last `direct` units are sent direct, among this number of clusters.
    fn new(steps: &dyn Steps, share: Range, clusters: usize, direct: u64) -> Self {
        let direct = direct.min(share.length);
        let parted = share.length - direct;
        let (parted, direct) = (share.part(0, parted), share.part(parted, direct));
        Divided {
            parted: steps.segments_for(parted, clusters).collect(),
            direct: steps.segments(direct).collect(),
        }
    }

    /// Reduce-scattered segments, each with the cluster that reduces it.
    fn parted(&self, clusters: &[Cluster]) -> impl Iterator<Item = (Cluster, Range)> {
        let clusters = clusters.iter().copied().cycle();
        clusters.zip(self.parted.iter().copied())
    }

    /// Reduce-scattered segments in the order in which cluster `here` sends them: to the next one
    /// first, so that in a round not all send to the same cluster.
    fn parted_after(
        &self,
        here: Cluster,
        clusters: &[Cluster],
    ) -> impl Iterator<Item = (Cluster, Range)> {
        let place = clusters.iter().position(|&cluster| cluster == here);
        let first = place.map_or(0, |place| place + 1);
        self.parted.chunks(clusters.len()).flat_map(move |round| {
            let next = move |step: usize| (first + step) % round.len();
            (0..round.len()).map(move |step| (clusters[next(step)], round[next(step)]))
        })
    }

    /// Units of the longest segment.
    fn longest(&self) -> u64 {
        let segments = self.parted.iter().chain(&self.direct);
        segments.map(|segment| segment.length).max().unwrap_or(0)
    }
}

/// Ranks of a lane in some clusters, `None` for its own.
fn sources(lane: &Lane, clusters: impl Iterator<Item = Cluster>) -> Vec<Option<usize>> {
    clusters
        .map(|cluster| (cluster != lane.at).then(|| lane.ranks[cluster]))
        .collect()
}

fn lanes_of(problem: &Problem, rank: usize, steps: &dyn Steps) -> usize {
    let length = problem.block(rank);
    let segment = steps.segment(length);
    lanes::worthwhile(problem.clusters, problem.network, length, segment)
}

/// `Reduce`: reduce-scattered segments are reduced in one of the other clusters and sent to the
/// root's.
pub fn reduce(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let root_cluster = problem.clusters.of(problem.root);
    let others: Vec<Cluster> = problem.clusters.others(root_cluster).collect();
    let lanes = lanes_of(problem, rank, steps);
    lanes::reduce(problem, rank, steps, lanes, |steps, lane, sum, result| {
        let direct = match others.len() {
            0 | 1 => sum.length,
            far => steps.in_flight() / (far * lanes) as u64,
        };
        let divided = Divided::new(steps, sum, others.len().max(1), direct);
        match result {
            Some(result) => collect(steps, lane, &others, &divided, (sum, result)),
            None => contribute(steps, lane, root_cluster, &others, &divided),
        }
    });
}

/// Steps of a lane outside the root's cluster.
fn contribute(
    steps: &mut dyn Steps,
    lane: &Lane,
    root_cluster: Cluster,
    others: &[Cluster],
    divided: &Divided,
) {
    for (other, segment) in divided.parted_after(lane.at, others) {
        if other != lane.at {
            steps.send_segment(lane.ranks[other], segment);
        }
    }
    for &segment in &divided.direct {
        steps.send_segment(lane.ranks[root_cluster], segment);
    }
    let sources = sources(lane, others.iter().copied());
    let mut slots = Slots::for_segments(steps, divided.longest(), divided.parted.len());
    for (other, segment) in divided.parted(others) {
        if other == lane.at {
            let reduced =
                trees::reduce_sources(steps, &mut slots, sources.iter().copied(), segment);
            steps.send_segment(lane.ranks[root_cluster], reduced);
        }
    }
}

/// Steps of a lane in the root's cluster: combines its `sum` and the others' into the `result`.
fn collect(
    steps: &mut dyn Steps,
    lane: &Lane,
    others: &[Cluster],
    divided: &Divided,
    (sum, result): (Range, Range),
) {
    let into = |range: Range| result.part(range.start - sum.start, range.length);
    let everyone = sources(lane, std::iter::once(lane.at).chain(others.iter().copied()));
    let segments = divided.parted.len() + divided.direct.len() * others.len();
    let mut slots = Slots::for_segments(steps, divided.longest(), segments);
    for &segment in &divided.direct {
        let reduced = trees::reduce_sources(steps, &mut slots, everyone.iter().copied(), segment);
        steps.copy(reduced, into(segment));
    }
    for (other, segment) in divided.parted(others) {
        let two = [None, Some(lane.ranks[other])];
        let reduced = trees::reduce_sources(steps, &mut slots, two.iter().copied(), segment);
        steps.copy(reduced, into(segment));
    }
}

/// Number of `length` units to send direct in an allreduce among `clusters`: the reduce-scattered
/// units keep a link busy for (C - 1) / C of their transfer time before the first results can
/// arrive; direct units, sent C - 1 times each, fill the rest of a latency.
pub(crate) fn straight_of_allreduce(in_flight: u64, clusters: usize, length: u64) -> u64 {
    let others = clusters as u64 - 1;
    if others == 0 {
        return length;
    }
    let needed = in_flight.saturating_mul(clusters as u64) / others;
    (needed.saturating_sub(length) / others).min(length)
}

/// `Allreduce`: each lane's reduce-scattered segments are reduced in one cluster each and sent to
/// all others; lanes distribute results in their clusters.
pub fn allreduce(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let clusters = problem.clusters;
    let length = problem.block(rank);
    let lanes = lanes_of(problem, rank, steps);
    let direct = straight_of_allreduce(steps.in_flight(), clusters.count(), length);
    let members = clusters.dealt(clusters.of(rank));
    let sum = lanes::reduce_inside(problem, rank, steps, lanes);
    let output = |lane: usize| {
        let (start, length) = share(length, lanes, lane);
        Range::output(start, length)
    };
    let divide = |steps: &dyn Steps, range| {
        Divided::new(steps, range, clusters.count(), direct / lanes as u64)
    };
    if let (Some(sum), Some(place)) = (sum, members.iter().position(|&member| member == rank)) {
        let lane = Lane::new(problem, rank, place, sum.length);
        let (given, taken) = (divide(steps, sum), divide(steps, output(place)));
        exchange(steps, &lane, &given, &taken);
        for segment in complete(&lane, &taken) {
            for &member in members.iter().filter(|&&member| member != rank) {
                steps.send_segment(member, segment);
            }
        }
    }
    for (place, &member) in members.iter().enumerate().take(lanes) {
        if member != rank {
            let far = Lane::new(problem, member, place, output(place).length);
            let taken = divide(steps, output(place));
            for segment in complete(&far, &taken) {
                steps.receive_segment(member, segment);
            }
        }
    }
}

/// Steps between clusters: all messages of this rank.
fn exchange(steps: &mut dyn Steps, lane: &Lane, given: &Divided, taken: &Divided) {
    let clusters: Vec<Cluster> = lane.ranks.keys().collect();
    let count = clusters.len();
    // An MPI may send a message that waits for one rank before one that has waited longer for
    // another: no direct segment is sent before the last reduce-scattered one has been handed over.
    let mut parted = None;
    for (cluster, segment) in given.parted_after(lane.at, &clusters) {
        if cluster != lane.at {
            steps.send_segment(lane.ranks[cluster], segment);
            parted = steps.last_step();
        }
    }
    for &segment in &given.direct {
        for distance in 1..count {
            steps.send_segment_after(lane.rank(distance), segment, parted);
        }
    }
    let everyone = sources(lane, lane.ranks.keys());
    let segments = (given.parted.len() + given.direct.len() * count).max(count);
    let mut slots = Slots::for_segments(steps, given.longest(), segments);
    for ((cluster, segment), &result) in given.parted(&clusters).zip(&taken.parted) {
        if cluster == lane.at {
            let reduced =
                trees::reduce_sources(steps, &mut slots, everyone.iter().copied(), segment);
            steps.copy(reduced, result);
            for distance in 1..count {
                steps.send_segment(lane.rank(distance), result);
            }
        }
    }
    for (&segment, &result) in given.direct.iter().zip(&taken.direct) {
        let reduced = trees::reduce_sources(steps, &mut slots, everyone.iter().copied(), segment);
        steps.copy(reduced, result);
    }
    for (cluster, segment) in taken.parted(&clusters) {
        if cluster != lane.at {
            steps.receive_segment(lane.ranks[cluster], segment);
        }
    }
}

/// Segments of a lane's result in the approximate order of completion.
fn complete(lane: &Lane, taken: &Divided) -> Vec<Range> {
    let clusters: Vec<Cluster> = lane.ranks.keys().collect();
    let of = |own: bool| {
        let segments = taken
            .parted(&clusters)
            .filter(move |&(cluster, _)| (cluster == lane.at) == own);
        segments.map(|(_, segment)| segment)
    };
    of(true)
        .chain(taken.direct.iter().copied())
        .chain(of(false))
        .collect()
}
