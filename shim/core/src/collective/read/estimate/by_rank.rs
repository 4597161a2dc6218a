//! Algorithms that go by rank and know no clusters: those of the native MPI, and ours that keep the
//! order of ranks.

use super::blocks::{direct, waiting_to_enter};
use super::{CostInput, Stage};
use crate::collective::algorithms::round;
use crate::collective::network::PathCost;
use crate::collective::{Host, Operation};

/// Segments in which native broadcasts go down a pipeline.
const NATIVE_SEGMENT: u64 = 64 << 10;

/// The uplink or the downlink of a cluster.
#[derive(Debug, Clone, Copy, Default)]
struct Access {
    /// Until when it is busy, in seconds.
    busy: f64,
    /// How long it has been busy in all.
    load: f64,
}

/// The links between clusters.
struct Links<'a> {
    clusters: &'a [usize],
    uplink: Vec<Access>,
    downlink: Vec<Access>,
}

impl<'a> Links<'a> {
    /// All links are free.
    fn new(input: &CostInput<'a>) -> Self {
        Links {
            clusters: input.network.cluster_of(),
            uplink: vec![Access::default(); input.count()],
            downlink: vec![Access::default(); input.count()],
        }
    }

    /// A message whose sender is ready: when it has left, and when it is there.
    fn send(&mut self, ready: f64, (from, to): (usize, usize), path: &PathCost) -> (f64, f64) {
        let (here, there) = (self.clusters[from], self.clusters[to]);
        if here == there {
            return (ready + path.message.gap, ready + path.message.seconds());
        }
        let (uplink, downlink) = (&mut self.uplink[here], &mut self.downlink[there]);
        let start = ready.max(uplink.busy);
        uplink.busy = start + path.uplink;
        uplink.load += path.uplink;
        downlink.busy = (start + path.message.latency).max(downlink.busy) + path.downlink;
        downlink.load += path.downlink;
        let there = downlink.busy.max(start + path.message.seconds());
        (uplink.busy, there)
    }

    /// All links are free again.
    fn release(&mut self) {
        for link in self.uplink.iter_mut().chain(&mut self.downlink) {
            link.busy = 0.0;
        }
    }

    /// How long the busiest link has been busy.
    fn largest_load(&self) -> f64 {
        let loads = self
            .uplink
            .iter()
            .chain(&self.downlink)
            .map(|link| link.load);
        loads.fold(0.0, f64::max)
    }
}

/// Along a tree by rank in which the rank at `distance` from the root has the parent
/// `parent(distance)`, nearer to the root, and gets `bytes(distance)`. Of children, those
/// farther away are served first where `far_first`.
fn tree(
    input: &CostInput,
    parent: impl Fn(usize) -> usize,
    bytes: impl Fn(usize) -> u64,
    far_first: bool,
) -> Stage {
    let ranks = input.clusters.ranks();
    let rank = |distance: usize| round(distance + input.root, ranks);
    let mut children = vec![Vec::new(); ranks];
    for child in 1..ranks {
        children[parent(child)].push(child);
    }
    let mut links = Links::new(input);
    let (mut at, mut period) = (vec![0.0; ranks], 0.0_f64);
    for distance in 0..ranks {
        let (from, mut ready, mut own) = (rank(distance), at[distance], 0.0);
        if far_first {
            children[distance].reverse();
        }
        for &child in &children[distance] {
            let to = rank(child);
            let path = input.network.path(from, to, bytes(child));
            (ready, at[child]) = links.send(ready, (from, to), &path);
            match input.clusters.of(from) == input.clusters.of(to) {
                true => own += path.message.gap,
                false => period = period.max(path.message.gap),
            }
        }
        period = period.max(own);
    }
    Stage {
        first: at.into_iter().fold(0.0, f64::max),
        period: period.max(links.largest_load()),
    }
}

/// Rounds in each of which every rank sends one message: `to(rank, round)` is its receiver,
/// and `bytes(round)` its size. Each round waits for its slowest message.
fn rounds(
    input: &CostInput,
    count: u32,
    to: impl Fn(usize, u32) -> Option<usize>,
    bytes: impl Fn(u32) -> u64,
) -> Stage {
    let (mut links, mut first, mut inside) = (Links::new(input), 0.0, 0.0);
    for round in 0..count {
        links.release();
        let (mut slowest, mut gap) = (0.0_f64, 0.0_f64);
        for from in 0..input.clusters.ranks() {
            let Some(to) = to(from, round) else {
                continue;
            };
            let path = input.network.path(from, to, bytes(round));
            slowest = slowest.max(links.send(0.0, (from, to), &path).1);
            gap = gap.max(path.message.gap);
        }
        first += slowest;
        inside += gap;
    }
    Stage {
        first,
        period: links.largest_load().max(inside),
    }
}

/// Rounds up to the number of ranks, at distances 1, 2, 4, ...
fn doublings(input: &CostInput) -> u32 {
    let ranks = input.clusters.ranks();
    ranks.next_power_of_two().trailing_zeros()
}

/// Our own chain over ranks, in segments.
pub fn chain(input: &CostInput) -> f64 {
    own_tree(input, |distance| distance - 1, false)
}

/// Our own binomial tree over ranks, in segments.
pub fn binomial(input: &CostInput) -> f64 {
    own_tree(input, |distance| distance & (distance - 1), true)
}

fn own_tree(input: &CostInput, parent: impl Fn(usize) -> usize, far_first: bool) -> f64 {
    let segment = input.segment.bytes.min(input.bytes);
    let stage = tree(input, parent, |_| segment, far_first);
    let seconds = stage.seconds(input.segments(input.bytes));
    match input.operation {
        // Up and down.
        Operation::Allreduce => 2.0 * seconds,
        _ => seconds,
    }
}

/// Our own exchanges at distances 1, 2, 4, ...
pub fn doubling(input: &CostInput) -> f64 {
    let ranks = input.clusters.ranks();
    let segment = input.segment.bytes.min(input.bytes);
    let stage = |to: &dyn Fn(usize, usize) -> usize| {
        let to = |rank, round: u32| Some(to(rank, 1 << round)).filter(|&to| to < ranks);
        rounds(input, doublings(input), to, |_| segment)
    };
    let exchange = stage(&|rank, distance| rank ^ distance);
    let more = match input.operation {
        // Every rank sends to a higher one: more messages cross between clusters, beside those of an exchange.
        Operation::Scan | Operation::Exscan => {
            let upwards = stage(&|rank, distance| rank + distance);
            (upwards.period - exchange.period).max(0.0)
        }
        _ => 0.0,
    };
    (exchange.first + more) * input.segments(input.bytes)
}

/// A native tree with the message for each rank, or the blocks of all below it.
fn native_tree(input: &CostInput, algorithm: &str, blocks: bool) -> f64 {
    let ranks = input.clusters.ranks();
    let base_four = |distance: usize| {
        let digit = 2 * (distance.trailing_zeros() / 2);
        distance & !(3 << digit)
    };
    let size = |distance: usize| match blocks {
        false => input.bytes,
        true => {
            let below = distance & distance.wrapping_neg();
            below.min(ranks - distance) as u64 * input.bytes
        }
    };
    let tree = |parent: &dyn Fn(usize) -> usize, far_first| {
        tree(input, parent, |_| input.bytes, far_first).first
    };
    match algorithm {
        "linear" | "synchronised-linear" => tree(&|_| 0, false),
        "highest-bit-binomial" => tree(&|d| d - (1usize << d.ilog2()), false),
        "quadrinomial" => tree(&base_four, true),
        "binary" | "in-order-binary" => tree(&|d| (d - 1) / 2, false),
        "chain" => {
            let segment = input.bytes.min(NATIVE_SEGMENT);
            let segments = input.bytes.div_ceil(NATIVE_SEGMENT).max(1);
            let stage = self::tree(input, |d| d - 1, |_| segment, false);
            stage.seconds(segments as f64)
        }
        _ => self::tree(input, |d| d & (d - 1), size, true).first,
    }
}

/// Everyone sends to the next rank, P - 1 times: what arrives last has come along nearly the whole ring, unless
/// a link between clusters takes longer.
fn ring(input: &CostInput, bytes: u64) -> f64 {
    let ranks = input.clusters.ranks();
    let (mut uplink, mut around) = (vec![0.0; input.count()], 0.0);
    for from in 0..ranks {
        let path = input.network.path(from, round(from + 1, ranks), bytes);
        around += path.message.seconds();
        uplink[input.clusters.of(from)] += path.uplink;
    }
    let busiest = uplink.into_iter().fold(0.0, f64::max);
    (around / ranks as f64).max(busiest) * (ranks - 1) as f64
}

/// Messages of a pairwise exchange that are looked at; of more, those of some steps stand for all.
const MOST_MESSAGES: usize = 2048;

/// Ranks exchange with one partner after the other, which all have done with a step before the next one: in
/// each step some cluster has the most to send, which depends on where the ranks run; and where the partner is in
/// another cluster than the one before, a message waits for half a message of others to enter it, on average.
/// The partners are MPICH's; Open MPI's, which are always those at a distance, come to the same for ranks in
/// blocks.
fn step_by_step(input: &CostInput) -> f64 {
    let (ranks, clusters) = (input.clusters.ranks(), input.network.cluster_of());
    let partner = |rank: usize, step: usize| match ranks.is_power_of_two() {
        true => rank ^ step,
        false => round(rank + step, ranks),
    };
    let waiting = 0.5 * waiting_to_enter(input) / ranks as f64;
    let apart = (ranks * ranks).div_ceil(MOST_MESSAGES);
    let seconds = (1..ranks).step_by(apart).map(|step| {
        let (mut uplink, mut downlink) = (vec![0.0; input.count()], vec![0.0; input.count()]);
        let mut waits = 0.0;
        for rank in 0..ranks {
            let (here, there) = (clusters[rank], clusters[partner(rank, step)]);
            if here != there {
                uplink[here] += input.segment.uplink[here];
                downlink[there] += input.segment.downlink[there];
                if clusters[partner(rank, step - 1)] != there {
                    waits += waiting;
                }
            }
        }
        waits + uplink.into_iter().chain(downlink).fold(0.0, f64::max)
    });
    let seconds: Vec<f64> = seconds.collect();
    let mean = seconds.iter().sum::<f64>() / seconds.len().max(1) as f64;
    input.volume(input.bytes) * mean * (ranks - 1) as f64
}

/// Native exchanges do not wait for messages that go at once; with those that ask first, each rank waits
/// for one partner after the other.
fn pairwise(input: &CostInput) -> f64 {
    let at_once = direct(input).max(step_by_step(input));
    let asks = input.others(0).any(|to| {
        let link = input.network.between(0, to);
        link.is_some_and(|link| link.handshake(input.bytes) > 0.0)
    });
    let one_by_one = |here: usize| -> f64 {
        let seconds = |to: usize| input.segment.between(here, to).seconds();
        let partners = input.others(here);
        partners
            .map(|to| input.ranks(to) as f64 * seconds(to))
            .sum()
    };
    match asks {
        true => input.largest(one_by_one).max(at_once),
        false => at_once,
    }
}

/// Seconds of the native collective, by the algorithm that the MPI usually takes.
pub fn native_seconds(input: &CostInput, native: Host) -> f64 {
    let ranks = input.clusters.ranks();
    let usual = native.usual_algorithm(input.operation, ranks, input.bytes);
    seconds(input, usual)
}

/// Seconds of an algorithm by rank.
pub(super) fn seconds(input: &CostInput, algorithm: &str) -> f64 {
    use Operation::*;
    let (ranks, bytes) = (input.clusters.ranks(), input.bytes);
    let exchange = |bytes: &dyn Fn(u32) -> u64| {
        let to = |rank: usize, round: u32| Some(rank ^ (1 << round)).filter(|&to| to < ranks);
        rounds(input, doublings(input), to, bytes).first
    };
    let shift = |bytes: &dyn Fn(u32) -> u64| {
        let to = |rank: usize, times: u32| Some(round(rank + (1 << times), ranks));
        rounds(input, doublings(input), to, bytes).first
    };
    let share = bytes.div_ceil(ranks as u64);
    let halved = |bytes: u64| move |round: u32| bytes >> (round + 1).min(63);
    let doubled = |round: u32| bytes.saturating_mul(1 << round);
    let ring = |bytes| ring(input, bytes);
    // The nearest first, which exchange most, as the long reductions of both MPIs do.
    let halving = || exchange(&halved(bytes));
    let of = |operation, bytes| {
        let part = CostInput { bytes, ..*input };
        native_tree(&part, "binomial", matches!(operation, Gather | Scatter))
    };
    let total = bytes.saturating_mul(ranks as u64);
    match (input.operation, algorithm) {
        (Scan | Exscan, "linear") => tree(input, |d| d - 1, |_| bytes, false).first,
        (Alltoall | Alltoallv | Alltoallw | ReduceScatter | ReduceScatterBlock, "pairwise") => {
            pairwise(input)
        }
        (Barrier, "binomial" | "linear") => 2.0 * native_tree(input, algorithm, false),
        (Barrier | Allreduce | Scan | Exscan, "recursive-doubling") => exchange(&|_| bytes),
        (Barrier, _) => shift(&|_| 0),
        (Alltoall, _) => shift(&|_| total / 2),
        (Allgather | Allgatherv, "recursive-doubling") => exchange(&doubled),
        (Allgather | Allgatherv, "bruck") => shift(&doubled),
        (Allgather | Allgatherv, "gather-broadcast") => of(Gather, bytes) + of(Bcast, total),
        (Allgather | Allgatherv, _) => ring(bytes),
        (Allreduce, "ring") => 2.0 * ring(share),
        (Allreduce, "reduce-scatter-allgather" | "reduce-scatter-allgather-shared") => {
            2.0 * halving()
        }
        (Allreduce, _) => of(Reduce, bytes) + of(Bcast, bytes),
        (ReduceScatter | ReduceScatterBlock, "ring") => ring(bytes),
        (ReduceScatter | ReduceScatterBlock, "reduce-scatterv") => {
            of(Reduce, total) + of(Scatter, bytes)
        }
        (ReduceScatter | ReduceScatterBlock, _) => exchange(&halved(total)),
        (Bcast, "scatter-allgather") => of(Scatter, share) + ring(share),
        (Bcast, "scatter-doubling") => {
            of(Scatter, share) + exchange(&|round| share << round.min(63))
        }
        (Reduce, "reduce-scatter-gather") => halving() + of(Gather, share),
        (Gather | Scatter, "binomial") => native_tree(input, "binomial", true),
        (_, algorithm) => native_tree(input, algorithm, false),
    }
}
