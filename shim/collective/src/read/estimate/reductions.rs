//! Reductions between clusters.

use crate::algorithms::by_cluster::direct::straight_of_allreduce;
use crate::algorithms::by_cluster::stage::Stage;
use crate::read::estimate::input::CostInput;
use crate::read::estimate::trees::broadcast_tree;
use treepie_base::{Cluster, List};

/// A reduction along a tree of clusters, the reverse of the broadcast's.
pub(crate) fn reduce_tree(input: &CostInput) -> f64 {
    let (stage, further) = (reduce_stage(input), input.segments(input.bytes) - 1.0);
    stage.first + (further * stage.period).max(on_cards(input, further))
}

/// Seconds in which this number of segments from inside clusters passes the cards of leaders.
fn on_cards(input: &CostInput, segments: f64) -> f64 {
    input.largest(|cluster| {
        let edges = input.edges.iter().filter(|edge| edge.0 == cluster);
        let (mut far, mut latency) = (0.0, f64::INFINITY);
        for &(to, from) in edges {
            far += input.far_card(to, from);
            latency = latency.min(input.segment.between(from, to).latency);
        }
        input.on_card(cluster, segments, far, latency)
    })
}

fn reduce_stage(input: &CostInput) -> Stage {
    // Data that each cluster has to send, and time for which it has received the first segment from
    // others.
    let clusters = input.sizes.keys();
    let mut ready: List<Cluster, Stage> = clusters
        .map(|cluster| input.inside(cluster, input.bytes))
        .collect();
    let mut received: List<Cluster, f64> = vec![0.0; input.count()].into();
    for &(to, from) in input.edges.iter().rev() {
        let (cost, downlink) = (input.segment.between(from, to), input.segment.downlink[to]);
        let degree = input.edges.iter().filter(|edge| edge.0 == to).count() as f64;
        let shared = degree * downlink.max(input.reducing());
        let period = cost.gap.max(input.segment.uplink[from]).max(shared);
        let comes = ready[from].then(Stage {
            first: cost.seconds() + input.reducing(),
            period,
            one_way: period,
            card: 0.0,
        });
        // Segments that arrive together pass the downlink one after the other.
        ready[to] = Stage {
            first: ready[to].first.max(comes.first + received[to]),
            period: ready[to].period.max(comes.period),
            one_way: ready[to].one_way.max(comes.one_way),
            card: 0.0,
        };
        received[to] += downlink;
    }
    ready[input.root_cluster()]
}

/// To the cluster in the centre along a tree and back: if there are enough segments, some travel
/// down while others travel up, on the same links.
pub(crate) fn allreduce_tree(input: &CostInput) -> f64 {
    let up = reduce_stage(input);
    let down = broadcast_tree(&CostInput {
        bytes: input.bytes.min(input.segment.bytes),
        ..*input
    });
    let used = |cluster: Cluster| {
        let edges = input.edges.iter();
        let own = edges.filter(|&&(from, to)| from == cluster || to == cluster);
        own.count() as f64 * input.segment.uplink[cluster]
    };
    let further = input.segments(input.bytes) - 1.0;
    let both = further * up.period.max(input.largest(used));
    up.first
        + (down + further * up.one_way)
            .max(both)
            .max(down + on_cards(input, further))
}

/// Seconds in which the members of a cluster scatter the operands, or collect the result: each
/// transfers all except one of its own `lanes` blocks.
fn scattered(input: &CostInput, lanes: usize) -> f64 {
    input.largest(|cluster| {
        let (others, block) = (input.ranks(cluster) - 1, input.bytes / lanes as u64);
        // Lanes are distributed over the hosts.
        let on_host = lanes.div_ceil(input.sizes[cluster].hosts);
        input.between_members(cluster, others as f64, block, on_host)
            + input.network.computing.seconds(others * block)
    })
}

/// A reduction inside, along a chain of clusters in lanes, and to the root.
pub(crate) fn reduce_lanes(input: &CostInput, lanes: usize) -> f64 {
    let (root, count) = (input.root_cluster(), input.count());
    let block = input.bytes.div_ceil(lanes as u64);
    // A block that is smaller than a segment loads links in proportion.
    let scale = (block as f64 / input.segment.bytes.max(1) as f64).min(1.0);
    let mut stage = Stage::default();
    let at = |distance: usize| Cluster((root.0 + distance) % count);
    for distance in (1..count).rev() {
        let (from, to) = (at(distance), at(distance - 1));
        let cost = input.segment.between(from, to);
        let shared = input.segment.uplink[from].max(input.segment.downlink[to]);
        stage = stage.then(Stage {
            first: cost.latency + scale * cost.gap + input.reducing(),
            period: scale * shared.max(cost.gap / lanes as f64),
            ..Stage::default()
        });
    }
    let to_root = input.spread(root, 1.0, input.segment.bytes.min(block));
    scattered(input, lanes) + stage.seconds(input.volume(block) * lanes as f64) + to_root
}

/// Leaders exchange the sums of their clusters.
pub(crate) fn allreduce_exchange(input: &CostInput) -> f64 {
    let (others, segments) = (input.number_of_others(), input.segments(input.bytes));
    let access = input.largest(|c| input.access(c));
    let clusters = input.sizes.keys();
    let inside: List<Cluster, Stage> = clusters.map(|c| input.inside(c, input.bytes)).collect();
    let first = input.largest(|c| inside[c].first);
    let latency = input.largest_between(|cost| cost.seconds());
    // Segments travel up, between clusters and down at the same time, if there are enough of them.
    let both = input.largest(|c| {
        let far: f64 = input.others(c).map(|other| input.far_card(c, other)).sum();
        inside[c].period.max(inside[c].card + far)
    });
    let one_way = input.largest(|c| inside[c].one_way);
    let reducing = others * input.reducing();
    let period = (others * access).max(reducing);
    let further = segments - 1.0;
    let turned = latency + further * period.max(one_way);
    2.0 * first + (others - 1.0) * access + reducing + turned.max(further * period.max(both))
}

/// Lanes that reduce and collect, with each block sent directly to its cluster.
pub(crate) fn allreduce_direct(input: &CostInput, lanes: usize) -> f64 {
    let (others, count) = (input.number_of_others(), input.count());
    let product = input
        .network
        .in_flight(input.operation, input.root_cluster());
    let direct = straight_of_allreduce(product, count, input.bytes);
    let segment = input.segments_for((input.bytes - direct) / lanes as u64, count);
    let late = input.late(input.segment.bytes.min(direct / lanes as u64));
    let input = &CostInput {
        segment: &segment,
        ..*input
    };
    let busiest = input.largest(|c| input.access(c));
    // Each lane has this many segments for each cluster to reduce.
    let blocks = (lanes * count) as u64;
    let rounds = ((input.bytes - direct) / blocks).div_ceil(input.segment.bytes.max(1));
    let scattered_blocks = others / count as f64 * input.volume(input.bytes - direct) * busiest;
    let direct = others * input.volume(direct) * busiest;
    let latency = input.largest_between(|cost| cost.latency).max(late);
    // Results follow immediately if there is enough other data to send meanwhile; the last ones
    // when their operands have arrived.
    let last = scattered_blocks / rounds.max(1) as f64;
    let sent = match scattered_blocks > 0.0 {
        true => (2.0 * scattered_blocks + direct).max(scattered_blocks + latency + last),
        false => direct,
    };
    // The stages inside and between clusters overlap segment by segment.
    let (local, segments) = (2.0 * scattered(input, lanes), input.segments(input.bytes));
    latency + local.max(sent) + local.min(sent) / segments + input.reducing()
}

/// Lanes whose segments are reduced in other clusters, or in the root's.
pub(crate) fn reduce_direct(input: &CostInput, lanes: usize) -> f64 {
    let (root, others) = (input.root_cluster(), (input.count() - 1).max(1) as f64);
    let direct = input.direct_part();
    let segment = input.segments_for((input.bytes - direct) / lanes as u64, input.count() - 1);
    let late = input.late(input.segment.bytes.min(direct / lanes as u64));
    let input = &CostInput {
        segment: &segment,
        ..*input
    };
    let scattered_blocks = input.volume(input.bytes - direct);
    let share = scattered_blocks * (others - 1.0) / others;
    let uplink = input.largest(|c| input.segment.uplink[c]);
    let downlink = input.segment.downlink[root];
    let latency = input.largest_between(|cost| cost.latency).max(late);
    // Segments to others leave first, and fill the link that results need.
    let sent = (share + input.volume(direct)) * uplink;
    let results = match scattered_blocks > 0.0 {
        true => {
            sent.max(share * uplink + latency) + scattered_blocks * downlink.max(uplink / others)
        }
        false => 0.0,
    };
    let at_once = share * uplink + others * input.volume(direct) * downlink;
    let to_root = input.spread(root, 1.0, input.bytes / lanes as u64);
    scattered(input, lanes) + latency + results.max(at_once) + input.reducing() + to_root
}

/// Lanes that reduce and collect round a ring of clusters.
pub(crate) fn allreduce_ring(input: &CostInput, lanes: usize) -> f64 {
    let block = input.bytes / (lanes * input.count()) as u64;
    let segment = block.clamp(1, input.segment.bytes.max(1));
    // A block that is smaller than a segment loads links nearly in proportion.
    let scale = (segment as f64 / input.segment.bytes.max(1) as f64).max(0.02);
    let segments = block.div_ceil(segment).max(1) as f64;
    let passing = lanes as f64 * segments * scale * input.largest(|c| input.access(c));
    let alone = input.largest_between(|cost| cost.latency + scale * cost.gap);
    let steps = 2.0 * input.number_of_others();
    2.0 * scattered(input, lanes) + steps * passing.max(alone) + alone.min(passing)
}
