//! Trees between clusters, by a shape or by a scheduler's order of sends.

use crate::algorithms::by_cluster::inside::{Fan, fans, inside, tail};
use crate::algorithms::by_cluster::stage::{Flows, Stream};
use crate::algorithms::trees::{Neighbours, Shape, round};
use crate::clusters::Clusters;
use crate::network::costs::{MessageCost, MessageCosts};
use crate::network::links::Network;
use crate::problem::Problem;
use std::borrow::Cow;
use treepie_base::square::Square;
use treepie_base::{Cluster, Slice};
use treepie_platform::orders::{Costs, Order};

/// Tree between the leaders of clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Between {
    /// Tree over the clusters in cyclic order from the root's.
    Shape(Shape),
    /// Schedule of LaPIe (thesis 7.1) for the costs of the network, or for equal costs if no
    /// network is known.
    Order(Order),
}

/// Direction of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the root.
    Down,
    /// To the root.
    Up,
}

impl Between {
    /// Edges of the tree from cluster `root_cluster`, each sender before its receivers, in the
    /// order in which it serves them. `costs` are used by orders only.
    pub fn edges(
        self,
        clusters: usize,
        root_cluster: Cluster,
        costs: impl FnOnce() -> Costs,
    ) -> Vec<(Cluster, Cluster)> {
        match self {
            Between::Shape(shape) => {
                let at = |place: usize| Cluster(round(root_cluster.0 + place, clusters));
                let mut edges = Vec::with_capacity(clusters);
                for place in 0..clusters {
                    shape.visit(clusters, place, |child| edges.push((at(place), at(child))));
                }
                edges
            }
            Between::Order(order) => order.sends(&costs(), root_cluster),
        }
    }
}

/// Segment size in bytes for which orders are computed, before a message is cut.
const USUAL_SEGMENT: u64 = 32 << 10;

/// Costs of a message between leaders in the executor of plans: a sender is free when the message
/// has left its cluster, and the rest is latency. `T_k` is the time that the trees inside a
/// cluster, whose leader serves `fans(cluster)`, need after the message itself.
pub fn costs<'a>(
    network: &Network,
    message: &MessageCosts,
    fans: impl Fn(Cluster) -> Cow<'a, [Fan]>,
    direction: Direction,
) -> Costs {
    let (gap, latency) = match direction {
        Direction::Down => parted(&message.uplink, |from, to| message.between(from, to)),
        Direction::Up => parted(&message.downlink, |from, to| message.between(to, from)),
    };
    let stream = Stream {
        bytes: message.bytes.min(USUAL_SEGMENT),
        messages: message.bytes.div_ceil(USUAL_SEGMENT).max(1),
        flows: match direction {
            Direction::Down => Flows::Down,
            Direction::Up => Flows::Up,
        },
    };
    let clusters = network.all_clusters();
    let inside = clusters.map(|cluster| tail(network, cluster, &fans(cluster), stream));
    Costs::new(gap, latency, inside.collect())
        .expect("links have costs from 0, and there is one for each two clusters")
}

/// Gaps and latencies of messages, in seconds: the gap is at most the time for which the sender's
/// uplink is busy.
fn parted(
    busy: &Slice<Cluster, f64>,
    cost: impl Fn(Cluster, Cluster) -> MessageCost,
) -> (Square<Cluster, f64>, Square<Cluster, f64>) {
    let costs = Square::new(busy.len(), |(from, to)| cost(from, to));
    let gaps = Square::new(busy.len(), |(from, to)| {
        costs[(from, to)].gap.min(busy[from])
    });
    let latencies = Square::new(busy.len(), |pair| costs[pair].seconds() - gaps[pair]);
    (gaps, latencies)
}

/// Equal costs, for an unknown network.
pub(crate) fn equal_costs(clusters: usize) -> Costs {
    let all = |value: f64| Square::filled(clusters, value);
    Costs::new(all(1.0), all(4.0), vec![1.0; clusters].into())
        .expect("equal numbers from 0, one for each pair")
}

/// Edges for a problem.
pub fn edges(problem: &Problem, between: Between, direction: Direction) -> Vec<(Cluster, Cluster)> {
    let clusters = problem.clusters;
    let root_cluster = problem.root_cluster();
    let bytes = problem
        .block(problem.root)
        .saturating_mul(problem.unit_bytes);
    between.edges(clusters.count(), root_cluster, || match problem.network {
        Some(network) => {
            let fans = |cluster| Cow::Owned(fans(clusters, problem.leader(cluster)));
            costs(network, &MessageCosts::new(network, bytes), fans, direction)
        }
        None => equal_costs(clusters.count()),
    })
}

/// Neighbours of this rank in a tree between leaders and the usual trees inside clusters; far ranks
/// are served first.
pub(crate) fn all_levels(
    problem: &Problem,
    rank: usize,
    between: Between,
    direction: Direction,
    stream: Stream,
) -> Neighbours {
    let clusters = problem.clusters;
    let local = inside(problem, rank, stream);
    let here = clusters.of(rank);
    let leader = |cluster: Cluster| problem.leader(cluster);
    if rank != leader(here) {
        return local;
    }
    let mut at = Neighbours::default();
    for (from, to) in edges(problem, between, direction) {
        if to == here {
            at.parent = Some(leader(from));
        }
        if from == here {
            at.children.push(leader(to));
        }
    }
    at.children.extend(local.children);
    at
}

/// Order in which a scatter serves clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grouped {
    /// Cyclic order from the root's cluster (item 68).
    InOrder,
    /// Longest transfer and delivery first (item 69).
    SlowestFirst,
    /// Longest delivery after the message has left first: the best order for one sender (item 69,
    /// remark).
    LatestTailFirst,
}

/// Clusters other than `root_cluster` in the order in which a scatter from it serves them. `block`
/// is the time in seconds for which the message of a cluster occupies the link, `tail` the time
/// that follows.
pub(crate) fn by_tail(
    clusters: &Clusters,
    root_cluster: Cluster,
    order: Grouped,
    block: impl Fn(Cluster) -> f64,
    tail: impl Fn(Cluster) -> f64,
) -> Vec<Cluster> {
    let mut served: Vec<Cluster> = clusters.others(root_cluster).collect();
    let key = |cluster: Cluster| match order {
        Grouped::InOrder => 0.0,
        Grouped::SlowestFirst => block(cluster) + tail(cluster),
        Grouped::LatestTailFirst => tail(cluster),
    };
    served.sort_by(|&one, &other| key(other).total_cmp(&key(one)));
    served
}

/// Order of a scatter on the problem's network, if all ranks know the sizes.
pub(crate) fn grouped_order(problem: &Problem, order: Grouped) -> Vec<Cluster> {
    let clusters = problem.clusters;
    let root_cluster = clusters.of(problem.root);
    let bytes = |cluster: Cluster| {
        let blocks = clusters.members(cluster).iter();
        let units: u64 = blocks.map(|&member| problem.block(member)).sum();
        units.saturating_mul(problem.unit_bytes)
    };
    let Some(network) = problem.network else {
        return clusters.others(root_cluster).collect();
    };
    let block = |cluster: Cluster| {
        network
            .between(root_cluster, cluster)
            .map_or(0.0, |link| link.gap(bytes(cluster)))
    };
    let tail = |cluster: Cluster| {
        let within = network.within(cluster);
        let inside = within.map_or(0.0, |link| link.delivery(bytes(cluster)));
        // No handshake: segments between clusters are below the rendezvous threshold.
        let link = network.between(root_cluster, cluster);
        link.map_or(0.0, |link| link.latency() + inside)
    };
    by_tail(clusters, root_cluster, order, block, tail)
}
