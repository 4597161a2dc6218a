//! Algorithms that go by rank and know no clusters: those of hosts, and ours that keep the
//! order of ranks.

use super::exchanged::waiting_to_enter;
use super::ways::{Links, Ways};
use super::{Scene, Stage, direct, longer};
use crate::collective::algorithms::round;
use crate::collective::{Host, Operation};

/// Segments in which hosts send messages down a pipeline.
const HOST_SEGMENT: u64 = 64 << 10;

/// Along a tree by rank in which the rank at `distance` from the root has the parent
/// `parent(distance)`, nearer to the root, and gets `bytes(distance)`. Of children, those
/// farther away are served first where `far_first`.
fn tree(
    scene: &Scene,
    parent: impl Fn(usize) -> usize,
    bytes: impl Fn(usize) -> u64,
    far_first: bool,
) -> Stage {
    const NONE: usize = usize::MAX;
    let ranks = scene.clusters.ranks();
    let rank = |distance: usize| round(distance + scene.root, ranks);
    // Children of each as a list through `next`, the one to be served first in front.
    let (mut first, mut next) = (vec![NONE; ranks], vec![NONE; ranks]);
    let mut enter = |child: usize| {
        let above = parent(child);
        next[child] = first[above];
        first[above] = child;
    };
    match far_first {
        true => (1..ranks).for_each(&mut enter),
        false => (1..ranks).rev().for_each(&mut enter),
    }
    let mut links = Links::new(scene);
    let mut at = vec![0.0; ranks];
    let (mut last, mut period): (f64, f64) = (0.0, 0.0);
    let (mut leaves, mut enters) = (vec![0.0; scene.count()], vec![0.0; scene.count()]);
    for distance in 0..ranks {
        let (from, mut ready, mut own) = (rank(distance), at[distance], 0.0);
        let mut child = first[distance];
        while child != NONE {
            let (to, size) = (rank(child), bytes(child));
            let (here, there) = (scene.clusters.of(from), scene.clusters.of(to));
            let way = links.ways.of(from, to, size);
            (ready, at[child]) = links.send(ready, here, there, &way);
            last = longer(last, at[child]);
            if here == there {
                own += way.hop.gap;
            } else {
                leaves[here] += way.leaving;
                enters[there] += way.entering;
                period = longer(period, way.hop.gap);
            }
            child = next[child];
        }
        period = longer(period, own);
    }
    let period = leaves.into_iter().chain(enters).fold(period, longer);
    Stage {
        first: last,
        period,
    }
}

/// Rounds in each of which every rank sends one message: `to(rank, round)` says to whom,
/// and `bytes(round)` how large it is. Each round waits for its slowest message.
fn rounds(
    scene: &Scene,
    count: u32,
    to: impl Fn(usize, u32) -> Option<usize>,
    bytes: impl Fn(u32) -> u64,
) -> f64 {
    let (ranks, clusters) = (scene.clusters.ranks(), scene.network.cluster_of());
    let hosts = scene.network.host_of();
    let mut links = Links::new(scene);
    let mut seconds = 0.0;
    for round in 0..count {
        links.start_anew();
        let size = bytes(round);
        let mut slowest = 0.0;
        let mut send = |(from, to), messages| {
            slowest = longer(slowest, links.send_many(from, to, messages, size));
        };
        // Neighbours often send the same way.
        let mut first = None;
        let (mut way, mut messages) = ((usize::MAX, usize::MAX, false), 0);
        for from in 0..ranks {
            let Some(to) = to(from, round) else {
                continue;
            };
            let is_near = hosts[from] == hosts[to];
            let next = (clusters[from], clusters[to], is_near);
            if next != way {
                if let Some(pair) = first {
                    send(pair, messages);
                }
                (first, way, messages) = (Some((from, to)), next, 0);
            }
            messages += 1;
        }
        if let Some(pair) = first {
            send(pair, messages);
        }
        seconds += slowest;
    }
    seconds
}

/// Our own chain over ranks, in pieces.
pub fn chain(scene: &Scene) -> f64 {
    let piece = scene.piece.bytes.min(scene.bytes);
    let stage = tree(scene, |distance| distance - 1, |_| piece, false);
    stage.seconds(scene.pieces(scene.bytes))
}

/// Our own binomial tree over ranks, in pieces.
pub fn binomial(scene: &Scene) -> f64 {
    let piece = scene.piece.bytes.min(scene.bytes);
    let stage = tree(scene, |distance| distance & (distance - 1), |_| piece, true);
    stage.seconds(scene.pieces(scene.bytes))
}

/// Our own exchanges at distances 1, 2, 4, ...
pub fn doubling(scene: &Scene) -> f64 {
    let ranks = scene.clusters.ranks();
    let to = |rank: usize, round: u32| Some(rank ^ (1 << round)).filter(|&to| to < ranks);
    let pieces = scene.pieces(scene.bytes);
    let piece = scene.piece.bytes.min(scene.bytes);
    rounds(scene, doublings(ranks), to, |_| piece) * pieces.max(1.0)
}

/// The least number of rounds that double up to so many.
fn doublings(ranks: usize) -> u32 {
    ranks.next_power_of_two().trailing_zeros()
}

/// A tree of the host's with the message for each rank, or the blocks of all below it.
fn host_tree(scene: &Scene, algorithm: &str, blocks: bool) -> f64 {
    let ranks = scene.clusters.ranks();
    let lowest_bit_cleared = |distance: usize| distance & (distance - 1);
    let highest_bit = |distance: usize| 1usize << distance.ilog2();
    let base_four = |distance: usize| {
        let digit = 2 * (distance.trailing_zeros() / 2);
        distance & !(3 << digit)
    };
    let size = |distance: usize| match blocks {
        false => scene.bytes,
        true => {
            let below = distance & distance.wrapping_neg();
            below.min(ranks - distance) as u64 * scene.bytes
        }
    };
    let stage = match algorithm {
        "linear" | "synchronised-linear" => tree(scene, |_| 0, |_| scene.bytes, false),
        "highest-bit-binomial" => tree(scene, |d| d - highest_bit(d), |_| scene.bytes, false),
        "quadrinomial" => tree(scene, base_four, |_| scene.bytes, true),
        "binary" | "in-order-binary" => tree(scene, |d| (d - 1) / 2, |_| scene.bytes, false),
        "chain" => {
            let segment = scene.bytes.min(HOST_SEGMENT);
            let stage = tree(scene, |d| d - 1, |_| segment, false);
            let segments = scene.bytes.div_ceil(HOST_SEGMENT).max(1);
            return stage.seconds(segments as f64);
        }
        _ => tree(scene, lowest_bit_cleared, size, true),
    };
    stage.first
}

/// Everyone sends to the next rank, P - 1 times: what arrives last has come along nearly the whole ring, unless
/// a link between clusters takes longer.
fn ring(scene: &Scene, bytes: u64) -> f64 {
    let ranks = scene.clusters.ranks();
    let mut leaving = vec![0.0; scene.count()];
    let mut around = 0.0;
    let mut ways = Ways::new(scene);
    for from in 0..ranks {
        let way = ways.of(from, round(from + 1, ranks), bytes);
        around += way.hop.seconds();
        leaving[scene.clusters.of(from)] += way.leaving;
    }
    let steps = (ranks - 1) as f64;
    let busiest = leaving.into_iter().fold(0.0, longer);
    (around / ranks as f64).max(busiest) * steps
}

/// So many messages are looked at for the time of an exchange in turn; of larger ones it is that of some
/// steps.
const LOOKED_AT: usize = 2048;

/// Ranks exchange with one partner after the other, which all have done with a step before the next one: in
/// each step some cluster has the most to send, which depends on where the ranks run; and where the partner is in
/// another cluster than the one before, a message waits for half a message of others to enter it, on average.
/// The partners are MPICH's; Open MPI's, which are always those at a distance, come to the same for ranks in
/// blocks.
fn in_turn(scene: &Scene) -> f64 {
    let (ranks, clusters) = (scene.clusters.ranks(), scene.network.cluster_of());
    let partner = |rank: usize, step: usize| match ranks.is_power_of_two() {
        true => rank ^ step,
        false => round(rank + step, ranks),
    };
    let apart = (ranks * ranks).div_ceil(LOOKED_AT);
    let waiting = 0.5 * waiting_to_enter(scene) / ranks as f64;
    let (mut steps, mut seconds) = (0.0, 0.0);
    for step in (1..ranks).step_by(apart) {
        let (mut leaving, mut entering) = (vec![0.0; scene.count()], vec![0.0; scene.count()]);
        for rank in 0..ranks {
            let (here, there) = (clusters[rank], clusters[partner(rank, step)]);
            if here != there {
                leaving[here] += scene.piece.leaving[here];
                entering[there] += scene.piece.entering[there];
                if clusters[partner(rank, step - 1)] != there {
                    seconds += waiting;
                }
            }
        }
        steps += 1.0;
        seconds += leaving.into_iter().chain(entering).fold(0.0, longer);
    }
    match steps > 0.0 {
        true => scene.volume(scene.bytes) * seconds * (ranks - 1) as f64 / steps,
        false => 0.0,
    }
}

/// Hosts do not wait for messages that go at once; with those that ask first, each rank waits for one partner
/// after the other.
fn pairwise(scene: &Scene) -> f64 {
    let at_once = direct(scene, Operation::Alltoall).max(in_turn(scene));
    let asks = scene.others(0).any(|to| {
        let link = scene.network.between(0, to);
        link.is_some_and(|link| link.handshake(scene.bytes) > 0.0)
    });
    if !asks {
        return at_once;
    }
    let asking = scene.most(|here| {
        let partners = scene.others(here);
        partners
            .map(|there| scene.sizes[there].ranks as f64 * scene.piece.hop(here, there).seconds())
            .sum()
    });
    asking.max(at_once)
}

/// What a host's own collective takes, by the algorithm that it usually has for it: an
/// estimate for what goes by rank.
pub fn host_seconds(scene: &Scene, host: Host, operation: Operation) -> f64 {
    let usual = host.usual_algorithm(operation, scene.clusters.ranks(), scene.bytes);
    seconds(scene, operation, usual)
}

/// What an algorithm by rank takes.
pub(in crate::collective) fn seconds(scene: &Scene, operation: Operation, algorithm: &str) -> f64 {
    use Operation::*;
    let ranks = scene.clusters.ranks();
    let bytes = scene.bytes;
    let exchange = |rank: usize, round: u32| Some(rank ^ (1 << round)).filter(|&to| to < ranks);
    let shift = |rank: usize, times: u32| Some(round(rank + (1 << times), ranks));
    let many = doublings(ranks);
    let share = bytes.div_ceil(ranks as u64);
    let halved = |round: u32| bytes >> (round + 1).min(63);
    let doubled = |round: u32| bytes.saturating_mul(1 << round);
    let ring = |bytes| ring(scene, bytes);
    let doubling = |bytes| rounds(scene, many, exchange, |_| bytes);
    // The nearest first, which exchange most, as the long reductions of both MPIs do.
    let halving = || rounds(scene, many, exchange, halved);
    let of = |operation, bytes| {
        let part = Scene { bytes, ..*scene };
        host_tree(&part, "binomial", matches!(operation, Gather | Scatter))
    };
    let total = bytes.saturating_mul(ranks as u64);
    match (operation, algorithm) {
        (Scan | Exscan, "linear") => tree(scene, |d| d - 1, |_| bytes, false).first,
        (Alltoall | Alltoallv | Alltoallw | ReduceScatter | ReduceScatterBlock, "pairwise") => {
            pairwise(scene)
        }
        (Barrier, "binomial" | "linear") => 2.0 * host_tree(scene, algorithm, false),
        (Barrier | Allreduce | Scan | Exscan, "recursive-doubling") => doubling(bytes),
        (Barrier, _) => rounds(scene, many, shift, |_| 0),
        (Alltoall, _) => rounds(scene, many, shift, |_| total / 2),
        (Allgather | Allgatherv, "recursive-doubling") => rounds(scene, many, exchange, doubled),
        (Allgather | Allgatherv, "bruck") => rounds(scene, many, shift, doubled),
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
        (ReduceScatter | ReduceScatterBlock, _) => {
            let whole = Scene {
                bytes: total,
                ..*scene
            };
            rounds(&whole, many, exchange, |round| total >> (round + 1).min(63))
        }
        (Bcast, "scatter-allgather") => of(Scatter, share) + ring(share),
        (Bcast, "scatter-doubling") => {
            of(Scatter, share) + rounds(scene, many, exchange, |round| share << round.min(63))
        }
        (Reduce, "reduce-scatter-gather") => halving() + of(Gather, share),
        (Gather | Scatter, "binomial") => host_tree(scene, "binomial", true),
        (_, algorithm) => host_tree(scene, algorithm, false),
    }
}
