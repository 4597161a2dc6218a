//! Broadcasts between clusters, and the reduction that reverses one of them.

use crate::algorithms::by_cluster::stage::Stage;
use crate::network::costs::MessageCosts;
use crate::read::estimate::input::CostInput;
use std::borrow::Cow;
use treepie_base::{Cluster, List};

/// Broadcast along a tree of clusters. Every cluster forwards each segment inside after it has sent
/// it to the other clusters.
pub(crate) fn broadcast_tree(input: &CostInput) -> f64 {
    along(input, 1)
}

/// Broadcast along the tree with several ranks of every cluster in parallel: each carries every
/// `lanes`-th segment, so that a connection that cannot fill the uplink alone does not delay the
/// others.
pub(crate) fn broadcast_lanes(input: &CostInput, lanes: usize) -> f64 {
    let handed = match lanes {
        1 => 0.0,
        _ => input.segment.within[input.root_cluster()].seconds(),
    };
    handed + along(input, lanes)
}

fn along(input: &CostInput, lanes: usize) -> f64 {
    // Path to each cluster, and time for which it has sent the first segment to others.
    let mut path: List<Cluster, Stage> = vec![Stage::default(); input.count()].into();
    let mut sent: List<Cluster, f64> = vec![0.0; input.count()].into();
    for &(from, to) in input.edges {
        let (cost, uplink) = (input.segment.between(from, to), input.segment.uplink[from]);
        let degree = input.edges.iter().filter(|edge| edge.0 == from).count() as f64;
        let shared = (degree * uplink).max(input.segment.downlink[to]);
        path[to] = path[from].then(Stage {
            first: sent[from] + cost.seconds(),
            period: shared.max(cost.gap / lanes as f64),
            ..Stage::default()
        });
        sent[from] += uplink;
    }
    let segments = input.segments(input.bytes);
    input.largest(|cluster| {
        let inside = input.inside(cluster, input.bytes);
        // Messages of a leader to other clusters and inside pass its card.
        let below = input.edges.iter().filter(|edge| edge.0 == cluster);
        let far: f64 = below.map(|&(from, to)| input.far_card(from, to)).sum();
        let shared = Stage {
            first: far,
            period: inside.card + far,
            ..Stage::default()
        };
        path[cluster].then(shared).then(inside).seconds(segments)
    })
}

/// The root sends each segment to one other cluster, round-robin; the clusters exchange them.
pub(crate) fn broadcast_exchange(input: &CostInput) -> f64 {
    let segment = exchanged_segments(input);
    exchange(input, &segment, 0.0)
}

/// Each cluster reduces some segments, and sends them to the root.
pub(crate) fn reduce_exchange(input: &CostInput) -> f64 {
    let segment = exchanged_segments(input).reversed();
    // Results wait for the parts of two rounds.
    exchange(input, &segment, 2.0) + input.reducing()
}

/// Costs of the segments between clusters.
fn exchanged_segments<'a>(input: &'a CostInput) -> Cow<'a, MessageCosts> {
    input.segments_for(input.bytes - input.direct_part(), input.count() - 1)
}

/// An exchange of segments with this cost; the rest is segmented as in `whole`.
fn exchange(whole: &CostInput, segment: &MessageCosts, rounds: f64) -> f64 {
    let input = &CostInput { segment, ..*whole };
    let (root, others) = (input.root_cluster(), (input.count() - 1).max(1) as u64);
    let inside = |cluster| input.inside(cluster, input.bytes);
    let direct = input.direct_part();
    let late = input.late(whole.segment.bytes.min(direct));
    let exchanged = CostInput {
        bytes: input.bytes - direct,
        ..*input
    };
    // Direct segments leave the root once for each cluster.
    let sent = exchanged.bytes + others * direct;
    let leaves = input.volume(sent) * input.segment.uplink[root];
    // Over one connection with each cluster.
    let own = input
        .others(root)
        .map(|other| input.segment.between(root, other).gap);
    let leaves = leaves.max(input.volume(direct) * own.fold(0.0, f64::max));
    let last = input.largest(|cluster| inside(cluster).first);
    let latency = input.largest(|cluster| input.segment.between(root, cluster).latency);
    let latency = latency.max(late);
    // Each segment is forwarded inside, which may take longer than its way out of the root, over
    // the same card.
    let further = input.volume(input.bytes) - 1.0;
    let handed_on = input.largest(|cluster| {
        let inside = inside(cluster);
        let others = input.others(cluster);
        let far = others.map(|other| input.far_card(cluster, other));
        let far = far.fold(0.0, f64::max);
        let card = match input.operation.reduces() {
            true => input.on_card(cluster, further, far, latency),
            false => further * (inside.card + far),
        };
        card.max(further * inside.period)
    });
    let arrives = leaves.max(input.segment.uplink[root] + handed_on) + latency + last;
    match exchanged.bytes {
        0 => arrives,
        _ => arrives.max(relayed(&exchanged, inside, rounds)),
    }
}

/// Part that each cluster forwards to the others.
fn relayed(input: &CostInput, inside: impl Fn(Cluster) -> Stage, rounds: f64) -> f64 {
    let (root, others) = (input.root_cluster(), input.number_of_others());
    let volume = input.volume(input.bytes);
    let uplink = &input.segment.uplink;
    let busiest = input.others(root).map(|other| {
        let passed_on = volume / others * (others - 1.0) * uplink[other];
        let slowest = input.segment.between(root, other).gap / others;
        passed_on.max(volume * input.segment.downlink[other].max(slowest))
    });
    let busiest = busiest.fold(volume * uplink[root], f64::max);
    let onwards = input.largest_between(|cost| cost.gap);
    let busiest = busiest.max(volume / others * onwards);
    // With few segments, not all other clusters forward some.
    let relays = input.clusters.others(root);
    let relays = relays.take(input.segments(input.bytes) as usize);
    let first = relays.map(|relay| {
        let next = input.others(relay).filter(|&next| next != root);
        let onwards = next.map(|next| input.segment.between(relay, next).seconds());
        input.segment.between(root, relay).seconds() + onwards.fold(0.0, f64::max)
    });
    // Segments wait at the relay for half a round on average; for whole rounds, once that many are
    // in flight.
    let rounds = rounds * (volume / others / 8.0).min(1.0);
    let slowest_relay = input.others(root).map(|other| uplink[other]);
    let waits =
        ((others - 1.0).max(0.0) / 2.0 + rounds * others) * slowest_relay.fold(0.0, f64::max);
    let period = input.largest(|cluster| inside(cluster).period);
    first.fold(0.0, f64::max)
        + waits
        + input.largest(|cluster| inside(cluster).first)
        + (busiest - uplink[root])
            .max(0.0)
            .max((volume - 1.0) * period)
}
