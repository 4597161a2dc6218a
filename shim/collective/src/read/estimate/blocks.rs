//! Collectives in which every rank has a block of its own: gathers, scatters, total exchanges,
//! scans; and barriers.

use crate::algorithms::by_cluster::between::{Grouped, by_tail};
use crate::algorithms::by_cluster::scan::{Run, runs};
use crate::algorithms::by_cluster::stage::Stage;
use crate::network::costs::MessageCost;
use crate::network::links::Overhead;
use crate::operation::Operation;
use crate::read::estimate::input::CostInput;
use crate::told;
use treepie_base::{Cluster, List, Slice};

/// The busiest link between clusters and the longest latency, for `messages(from, to)` blocks from
/// one cluster to another.
fn passing(input: &CostInput, messages: impl Fn(Cluster, Cluster) -> u64) -> f64 {
    let messages = |from, to| messages(from, to) as f64;
    let busiest = input.largest(|here| {
        let out: f64 = input.others(here).map(|to| messages(here, to)).sum();
        let back: f64 = input.others(here).map(|from| messages(from, here)).sum();
        // A connection carries one rank's messages.
        let used = input.others(here).filter(|&to| messages(here, to) > 0.0);
        let connections = used.map(|to| input.segment.between(here, to).gap);
        let access = f64::max(
            out * input.segment.uplink[here],
            back * input.segment.downlink[here],
        );
        connections.fold(access, f64::max)
    });
    let farthest = input.largest(|from| {
        let used = input.others(from).filter(|&to| messages(from, to) > 0.0);
        let latencies = used.map(|to| input.segment.between(from, to).latency);
        latencies.fold(0.0, f64::max)
    });
    input.volume(input.bytes) * busiest + farthest
}

/// Clusters do not start simultaneously: once, a message waits at the entry of a cluster for one
/// from another cluster.
fn waiting_to_enter(input: &CostInput) -> f64 {
    match input.count() {
        0..=2 => 0.0,
        _ => input.largest(|cluster| input.segment.downlink[cluster]),
    }
}

/// A block to each rank of the other clusters, one to each cluster round-robin: the blocks of a
/// cluster are complete when it and smaller ones are served.
fn from_root(input: &CostInput) -> f64 {
    let (root, volume) = (input.root_cluster(), input.volume(input.bytes));
    let through = input.others(root).map(|to| {
        let count = |other| input.ranks(other).min(input.ranks(to));
        let sent: u64 = input.others(root).map(count).sum();
        let (cost, uplink) = (input.segment.between(root, to), input.segment.uplink[root]);
        // The last block leaves, over its connection.
        let leaves = sent as f64 * uplink + (cost.gap - uplink).max(0.0);
        let enters = input.ranks(to) as f64 * input.segment.downlink[to];
        volume * leaves.max(enters) + cost.latency
    });
    through.fold(0.0, f64::max)
}

/// A block from each of them, in order of arrival: far ones arrive when nearer ones have entered.
fn to_root(input: &CostInput) -> f64 {
    let (root, volume) = (input.root_cluster(), input.volume(input.bytes));
    let cost = |from| input.segment.between(from, root);
    let entered = input.others(root).map(|from| {
        let latency = cost(from).latency;
        let later = |&other: &Cluster| cost(other).latency >= latency;
        let rest: u64 = input
            .others(root)
            .filter(later)
            .map(|c| input.ranks(c))
            .sum();
        let uplink = input.segment.uplink[from];
        let leaves = input.ranks(from) as f64 * uplink + (cost(from).gap - uplink).max(0.0);
        let enters = rest as f64 * input.segment.downlink[root];
        volume * leaves.max(enters) + latency
    });
    entered.fold(0.0, f64::max)
}

/// True if messages of `bytes` from the root to another cluster start after the messages inside,
/// which are sent `seconds` later, because of their rendezvous.
fn starts_late(input: &CostInput, bytes: u64, seconds: f64) -> bool {
    let root = input.root_cluster();
    let links = input
        .others(root)
        .filter_map(|to| input.network.between(root, to));
    links.map(|link| link.handshake(bytes)).fold(0.0, f64::max) > seconds
}

/// Every rank that has a block for another sends it directly.
pub fn direct(input: &CostInput) -> f64 {
    use Operation::{Gather, Gatherv, Scatter, Scatterv};
    let root = input.root_cluster();
    let all_pairs = |from, to| input.ranks(from) * input.ranks(to);
    let between = match input.operation {
        Gather | Gatherv => to_root(input),
        Scatter | Scatterv => from_root(input),
        _ => passing(input, all_pairs) + waiting_to_enter(input),
    };
    let sending: f64 = input
        .others(root)
        .map(|to| {
            let leader = input.clusters.leader(to);
            let bytes = input.segment.bytes;
            let send = input
                .network
                .occupied(input.root, leader, bytes, Overhead::Send);
            input.ranks(to) as f64 * send
        })
        .sum();
    let is_near_first = match input.operation {
        Gather | Gatherv => true,
        Scatter | Scatterv => starts_late(input, input.segment.bytes, sending),
        _ => false,
    };
    let far_latency = |here: Cluster, there: Cluster| match here == there {
        true => 0.0,
        false => input.segment.between(here, there).latency,
    };
    // Every message of a rank passes its host's card, where those of an exchange contend with
    // others.
    let card = |cluster: Cluster, senders: usize, all: bool| {
        let (size, alone) = (&input.sizes[cluster], input.segment.within[cluster]);
        let inside = match all {
            true => input.in_exchange(cluster, alone),
            false => alone,
        };
        let near = (size.ranks - size.on_host) as f64 * inside.gap;
        let far: f64 = input
            .others(cluster)
            .map(|other| input.ranks(other) as f64 * input.far_card(cluster, other))
            .sum();
        // Far blocks arrive, or leave, after near ones if those are first.
        let late = match is_near_first && far > 0.0 {
            true => input.largest(|other| far_latency(cluster, other)),
            false => 0.0,
        };
        let volume = input.volume(input.bytes) * senders as f64;
        match input.operation {
            Gather | Gatherv => (volume * near).max(late) + volume * far + inside.latency,
            _ => volume * (near + far) + inside.latency.max(late),
        }
    };
    // Messages between ranks of a host do not pass it.
    let on_host = |cluster: Cluster| {
        let cost = input.in_exchange(cluster, input.segment.on_host[cluster]);
        let others = (input.sizes[cluster].on_host - 1) as f64;
        // Ranks of a host copy the data that they send and receive.
        let copies = if input.operation.has_root() { 1.0 } else { 2.0 };
        copies * input.volume(input.bytes) * others * cost.gap + cost.latency
    };
    let reduced = match input.operation.reduces() {
        true => input
            .network
            .computing
            .seconds(input.bytes * (input.all_ranks() - 1)),
        false => 0.0,
    };
    let busiest_card = match input.operation {
        Gather | Gatherv | Scatter | Scatterv => card(root, 1, false),
        _ => input.largest(|cluster| {
            card(cluster, input.sizes[cluster].on_host, true).max(on_host(cluster))
        }),
    };
    between.max(busiest_card) + reduced
}

/// Blocks are gathered inside clusters, exchanged between leaders, and forwarded on arrival.
pub(crate) fn allgather_exchange(input: &CostInput) -> f64 {
    let all = input.all_ranks();
    let own = |cluster: Cluster| input.bytes * input.ranks(cluster);
    let gathered = input.largest(|c| input.spread(c, (input.ranks(c) - 1) as f64, input.bytes));
    let passing = input.largest(|here| {
        // One connection carries all messages from one cluster to another.
        let connections = input
            .others(here)
            .map(|to| input.connection(here, to, own(here)).gap);
        let enters: f64 = input
            .others(here)
            .map(|from| input.downlink(here, own(from)))
            .sum();
        let leaves = input.number_of_others() * input.uplink(here, own(here));
        connections.fold(leaves.max(enters), f64::max)
    });
    // The blocks of a cluster are forwarded together.
    let cluster_of_most = input.largest_cluster();
    let message = own(cluster_of_most).min(input.largest);
    let inside = |c: Cluster| input.inside_in(c, message, input.bytes * all);
    let messages = |bytes: u64| bytes as f64 / message.max(1) as f64;
    let first = input.largest(|c| inside(c).first);
    let latency = input.largest_between(|cost| cost.latency);
    // The own blocks are forwarded while others are in flight, and pass the card together with
    // those that leave.
    let own_handed = input.largest(|here| {
        let far: f64 = input
            .others(here)
            .map(|to| input.card_together(here, to, own(here)))
            .sum();
        let stage = inside(here);
        (messages(own(here)) * stage.period).max(messages(own(here)) * stage.card + far)
    });
    let others_handed = input.largest(|c| messages(input.bytes * all - own(c)) * inside(c).period);
    let pieces = messages(own(cluster_of_most));
    let others = latency + passing.max(others_handed);
    let copied = input.network.computing.seconds(input.bytes * all);
    let passed = others.max(own_handed + others_handed);
    gathered / pieces.max(1.0) + passed.max(copied) + first
}

/// Every member sends to one member of each other cluster, which forwards the block.
pub(crate) fn allgather_lanes(input: &CostInput) -> f64 {
    let passing = passing(input, |from, _| input.ranks(from));
    // A member's block is sent to one of each other cluster, and as many arrive, over the same
    // card.
    let far = |c: Cluster| {
        let from = |other: Cluster| (input.ranks(other) as f64 / input.ranks(c) as f64).max(1.0);
        let others = input.others(c);
        let far: f64 = others
            .map(|other| from(other) * input.far_card(c, other))
            .sum();
        input.volume(input.bytes) * input.sizes[c].on_host as f64 * far
    };
    let handed =
        input.largest(|c| far(c) + input.exchanged(c, input.all_ranks() as f64, input.bytes));
    let segment = input.segment.bytes.min(input.bytes);
    passing.max(handed)
        + waiting_to_enter(input)
        + input.largest(|c| input.exchanged(c, 1.0, segment))
}

/// Signals from members to leaders, between leaders, and back.
pub(crate) fn barrier_exchange(input: &CostInput) -> f64 {
    let inside = input.largest(|cluster| input.inside(cluster, 0).first);
    let passing = input.largest(|cluster| input.access(cluster)) * (input.number_of_others() - 1.0);
    2.0 * inside + passing + input.largest_between(|cost| cost.seconds())
}

/// Source and destination cluster of a message between the root's and another one.
fn ends(input: &CostInput, cluster: Cluster) -> (Cluster, Cluster) {
    let root = input.root_cluster();
    match input.operation {
        Operation::Gather | Operation::Gatherv => (cluster, root),
        _ => (root, cluster),
    }
}

/// Seconds in which the root packs or unpacks the blocks of other clusters.
fn packing(input: &CostInput) -> f64 {
    let ranks = input.all_ranks() - input.ranks(input.root_cluster());
    input.network.computing.seconds(input.bytes * ranks)
}

/// One message of all blocks of a cluster from the root or to it, in the order that the algorithm
/// uses, and the time inside.
pub fn grouped(input: &CostInput, order: Grouped) -> f64 {
    let root = input.root_cluster();
    let block = |cluster: Cluster| input.bytes * input.ranks(cluster);
    let inside = |cluster: Cluster| input.own_blocks(cluster, input.ranks(cluster));
    let cost = |cluster: Cluster| {
        let (from, to) = ends(input, cluster);
        input.connection(from, to, block(cluster))
    };
    // On the root's side, and on the other.
    let access = |cluster: Cluster| {
        let (from, to) = ends(input, cluster);
        let (out, into) = (
            input.uplink(from, block(cluster)),
            input.downlink(to, block(cluster)),
        );
        if from == root {
            (out, into)
        } else {
            (into, out)
        }
    };
    let tail = |cluster: Cluster| cost(cluster).latency + inside(cluster);
    let passes = |cluster: Cluster| cost(cluster).gap;
    let packed = packing(input);
    // Messages with a rendezvous leave after all messages inside.
    let waits = is_scatter(input) && starts_late(input, input.largest, packed);
    let (mut sent, mut last) = (if waits { inside(root) } else { 0.0 }, inside(root));
    for cluster in by_tail(input.clusters, root, order, passes, tail) {
        let (at_root, there) = access(cluster);
        let passing = cost(cluster).gap.max(there);
        last = last.max(
            sent + cost(cluster).latency + input.piped(passing, inside(cluster), block(cluster)),
        );
        sent += at_root;
    }
    let last = last.max(packed);
    // All of these messages pass the root's card.
    let card = |other| input.card_together(root, other, block(other));
    let far: f64 = input.others(root).map(card).sum();
    last.max(sent).max(far + inside(root))
}

fn is_scatter(input: &CostInput) -> bool {
    matches!(input.operation, Operation::Scatter | Operation::Scatterv)
}

/// The blocks of each cluster in as many messages as there are `sources` in the root's cluster,
/// each over its own connection; those of helpers first pass the root's host, and are forwarded on
/// arrival.
pub(crate) fn multi_source(input: &CostInput, sources: usize) -> f64 {
    let (root, sources) = (input.root_cluster(), sources.max(1));
    let share = |cluster: Cluster| input.ranks(cluster).div_ceil(sources as u64);
    let inside = |cluster: Cluster| input.own_blocks(cluster, share(cluster));
    let own = input.bytes * (input.ranks(root) - 1);
    let packed = packing(input);
    let inside_root = input.spread(root, 1.0, own);
    let waits = is_scatter(input) && starts_late(input, input.largest, packed);
    let mut sent = if waits { inside_root } else { 0.0 };
    let (mut last, mut to_helpers) = (0.0_f64, 0);
    for cluster in input.others(root) {
        let (from, to) = ends(input, cluster);
        let cost = input.connection(from, to, input.bytes * share(cluster));
        let messages = input.ranks(cluster) as f64 / share(cluster) as f64;
        let bytes = input.bytes * share(cluster);
        let (out, into) = (input.uplink(from, bytes), input.downlink(to, bytes));
        let passes = cost.gap.max(messages * out.max(into));
        last = last.max(sent + cost.latency + input.piped(passes, inside(cluster), bytes));
        sent += messages * if from == root { out } else { into };
        to_helpers += input.bytes * (input.ranks(cluster) - share(cluster));
    }
    // The root's own share for other clusters, or from them, also passes its card.
    let far: f64 = input
        .others(root)
        .map(|other| input.card_together(root, other, input.bytes * share(other)))
        .sum();
    let near = input.spread(root, 1.0, to_helpers + own) + far;
    let segment = input.largest.min(to_helpers);
    let handed = if sources > 1 { 1.0 } else { 0.0 };
    last.max(sent).max(near).max(packed) + input.spread(root, handed, segment)
}

/// Blocks between two clusters are sent in one message between leaders.
pub(crate) fn alltoall_grouped(input: &CostInput) -> f64 {
    between_leaders(input) + input.largest_between(|cost| cost.latency)
}

/// Time without the latency: to leaders, on their links, and from leaders.
fn between_leaders(input: &CostInput) -> f64 {
    let away = |c: Cluster| input.bytes * (input.all_ranks() - input.ranks(c));
    let pair = |from: Cluster, to: Cluster| input.bytes * input.ranks(from) * input.ranks(to);
    let passing = input.largest(|here| {
        let out: f64 = input
            .others(here)
            .map(|to| input.uplink(here, pair(here, to)))
            .sum();
        let back: f64 = input
            .others(here)
            .map(|from| input.downlink(here, pair(from, here)))
            .sum();
        let connections = input
            .others(here)
            .map(|to| input.connection(here, to, pair(here, to)).gap);
        connections.fold(out.max(back), f64::max)
    });
    let local = input
        .largest(|cluster| input.spread(cluster, (input.ranks(cluster) - 1) as f64, away(cluster)));
    // Blocks that arrive at leaders in several messages are forwarded while others arrive.
    let largest = input.largest(|from| {
        let pairs = input.others(from).map(|to| pair(from, to));
        pairs.max().unwrap_or(0) as f64
    });
    if largest <= input.largest as f64 || told::goes_along(input.bytes) {
        return 2.0 * local + passing;
    }
    // Each is a message of its own.
    let forwarded = input.largest(|cluster| {
        let (own, all) = (input.ranks(cluster), input.all_ranks());
        input.spread(cluster, ((own - 1) * (all - own)) as f64, input.bytes)
    });
    local + passing.max(forwarded)
}

/// Small blocks as in the grouped exchange, others directly, once leaders have the sizes.
pub fn aggregate(input: &CostInput) -> f64 {
    let told = input.largest(|c| match &input.sizes[c] {
        size if size.ranks == 1 => 0.0,
        size if size.hosts == 1 => input.segment.on_host[c].latency,
        _ => input.segment.within[c].latency,
    });
    let is_small = told::goes_along(input.bytes);
    let call = match is_small {
        false => direct(input),
        true if input.operation.has_root() => grouped(input, Grouped::InOrder),
        // Short messages pass a link while others are in flight.
        true => between_leaders(input) + input.largest_between(|cost| cost.latency),
    };
    told + call
}

/// Blocks reduced inside clusters, exchanged between leaders, and forwarded.
pub(crate) fn reduce_scatter_exchange(input: &CostInput) -> f64 {
    let (all, others) = (input.all_ranks(), input.number_of_others());
    let total = input.bytes * all;
    let message = total.min(input.largest);
    let messages = total as f64 / message.max(1) as f64;
    let first = input.largest(|c| input.inside_in(c, message, total).first);
    let period = input.largest(|c| input.inside_in(c, message, total).period);
    let block = |cluster: Cluster| input.bytes * input.ranks(cluster);
    let passing = input.largest(|here| {
        let leaves: f64 = input
            .others(here)
            .map(|to| input.uplink(here, block(to)))
            .sum();
        let enters = others * input.downlink(here, block(here));
        let connections = input
            .others(here)
            .map(|to| input.connection(here, to, block(to)).gap);
        connections.fold(leaves.max(enters), f64::max)
    });
    let handed = input.largest(|c| input.spread(c, (input.ranks(c) - 1) as f64, input.bytes));
    let farthest = input.largest_between(|cost| cost.latency);
    let own = block(input.largest_cluster());
    let computing = &input.network.computing;
    let computing = computing.seconds(total) + others * computing.seconds(own);
    let inside = (messages - 1.0).max(0.0) * period;
    first + inside + farthest + computing + input.piped(passing, handed, own)
}

/// Sums of runs to the leaders, each of which computes the prefixes of a block of the message, and
/// the prefixes back.
pub(crate) fn scan_exchange(input: &CostInput) -> f64 {
    let runs = runs(input.clusters);
    // The last run sends no sum, and the first one receives no prefix.
    let none: List<Cluster, f64> = vec![0.0; input.count()].into();
    let (mut gives, mut gets) = (none.clone(), none);
    for pair in runs.windows(2) {
        gives[input.clusters.of(pair[0].first)] += 1.0;
        gets[input.clusters.of(pair[1].first)] += 1.0;
    }
    let (all, clusters) = (runs.len() as f64, input.count() as f64);
    let bytes = input.bytes as f64 / clusters;
    // A block that is smaller than a segment loads links nearly in proportion.
    let block = (bytes / input.segment.bytes.max(1) as f64).max(0.02);
    // Blocks of a cluster's own runs are exchanged with all other clusters, those of other runs are
    // sent or received once.
    type Runs = Slice<Cluster, f64>;
    let own = |runs: &Runs, cluster: Cluster| block * runs[cluster] * (clusters - 1.0);
    let others = |runs: &Runs, cluster: Cluster| block * (all - 1.0 - runs[cluster]);
    let busy = |leaves: &dyn Fn(Cluster) -> f64, enters: &dyn Fn(Cluster) -> f64| {
        let (uplink, downlink) = (&input.segment.uplink, &input.segment.downlink);
        input.largest(|c| f64::max(leaves(c) * uplink[c], enters(c) * downlink[c]))
    };
    let sums = busy(&|c| own(&gives, c), &|c| others(&gives, c));
    let prefixes = busy(&|c| others(&gets, c), &|c| own(&gets, c));
    let both = busy(&|c| own(&gives, c) + others(&gets, c), &|c| {
        others(&gives, c) + own(&gets, c)
    });
    let latency = input.largest_between(|cost| cost.latency);
    // Prefixes follow immediately if there is enough other data to send meanwhile.
    let last = prefixes / input.largest(|c| gives[c]).max(block).max(1.0);
    let passing = (sums + latency + last).max(both);
    let segments = input.segments(input.bytes);
    let inside = runs.iter().map(|run| along(input, run).seconds(segments));
    let inside = inside.fold(0.0, f64::max);
    2.0 * inside + latency + passing + all * input.reducing() / clusters
}

/// Segments along a run, each added up on the way.
fn along(input: &CostInput, run: &Run) -> Stage {
    let bytes = input.segment.bytes.min(input.bytes);
    let next = |rank| input.network.link(rank, rank + 1);
    let hops = (run.first..run.last).map(|rank| MessageCost::on(next(rank), bytes));
    hops.fold(Stage::default(), |stage, hop| {
        stage.then(Stage {
            first: hop.seconds() + input.reducing(),
            period: hop.gap + input.reducing(),
            ..Stage::default()
        })
    })
}
