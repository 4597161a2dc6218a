//! Trees between clusters: of a shape, or as a scheduler orders the sends.

use crate::algorithms::by_cluster::inside::{Fan, fans, inside, tail};
use crate::algorithms::by_cluster::stage::{Flows, Stream};
use crate::algorithms::trees::{Neighbours, Shape, round};
use crate::clusters::Clusters;
use crate::network::costs::{MessageCost, MessageCosts};
use crate::network::links::Network;
use crate::problem::Problem;
use std::borrow::Cow;
use treepie_platform::orders::{Costs, Order};

/// How the clusters' leaders send to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Between {
    /// A tree over clusters as they follow the root's.
    Shape(Shape),
    /// A schedule of LaPIe's (thesis 7.1) for the costs of the network, or for equal ones where no
    /// network is known.
    Order(Order),
}

/// Which way the message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the root.
    Down,
    /// To the root.
    Up,
}

impl Between {
    /// The edges of the tree from cluster `root_cluster`, senders before their receivers, in the
    /// order in which each sender serves its own. `costs` are looked at by orders alone.
    pub fn edges(
        self,
        clusters: usize,
        root_cluster: usize,
        costs: impl FnOnce() -> Costs,
    ) -> Vec<(usize, usize)> {
        match self {
            Between::Shape(shape) => {
                let at = |place: usize| round(root_cluster + place, clusters);
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

/// Orders are made before a message is cut: for segments of this size, in bytes.
const USUAL_SEGMENT: u64 = 32 << 10;

/// Costs of a message between leaders as the plans' executor meets them: a sender is
/// free when the message has left its cluster, and the rest is latency. `T_k` is the time that the
/// trees inside a cluster, whose leader serves `fans(cluster)`, need behind the message itself.
pub fn costs<'a>(
    network: &Network,
    message: &MessageCosts,
    fans: impl Fn(usize) -> Cow<'a, [Fan]>,
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
    let inside =
        (0..network.clusters()).map(|cluster| tail(network, cluster, &fans(cluster), stream));
    Costs::new(gap, latency, inside.collect())
        .expect("links have costs from 0, and there is one for each two clusters")
}

/// Gaps and latencies of messages, row by row: the sender is busy as long as its link to other
/// clusters, at most.
fn parted(busy: &[f64], cost: impl Fn(usize, usize) -> MessageCost) -> (Vec<f64>, Vec<f64>) {
    let pairs = (0..busy.len()).flat_map(|from| (0..busy.len()).map(move |to| (from, to)));
    pairs
        .map(|(from, to)| {
            let cost = cost(from, to);
            let gap = cost.gap.min(busy[from]);
            (gap, cost.seconds() - gap)
        })
        .unzip()
}

/// Equal costs, where nothing is known.
pub(crate) fn equal_costs(clusters: usize) -> Costs {
    let all = |value: f64| vec![value; clusters * clusters];
    Costs::new(all(1.0), all(4.0), vec![1.0; clusters])
        .expect("equal numbers from 0, one for each pair")
}

/// The edges for a problem.
pub fn edges(problem: &Problem, between: Between, direction: Direction) -> Vec<(usize, usize)> {
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

/// This rank's neighbours in a tree between leaders and the usual trees inside
/// clusters; what goes far is served first.
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
    let leader = |cluster: usize| problem.leader(cluster);
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

/// In which order a scatter serves clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grouped {
    /// As they follow the root's (item 68).
    InOrder,
    /// The one first that would be done last if it were served alone (item 69).
    SlowestFirst,
    /// The one first that needs longest when its message has left: the best order of one sender
    /// (item 69, remark).
    LatestTailFirst,
}

/// The clusters other than `root_cluster` in the order in which a scatter from it serves them.
/// `block` and `tail` say how long the message of a cluster occupies the way, and what follows.
pub(crate) fn by_tail(
    clusters: &Clusters,
    root_cluster: usize,
    order: Grouped,
    block: impl Fn(usize) -> f64,
    tail: impl Fn(usize) -> f64,
) -> Vec<usize> {
    let mut served: Vec<usize> = clusters.others(root_cluster).collect();
    let key = |cluster: usize| match order {
        Grouped::InOrder => 0.0,
        Grouped::SlowestFirst => block(cluster) + tail(cluster),
        Grouped::LatestTailFirst => tail(cluster),
    };
    served.sort_by(|&one, &other| key(other).total_cmp(&key(one)));
    served
}

/// The same for a scatter on the problem's network whose sizes all ranks know.
pub(crate) fn grouped_order(problem: &Problem, order: Grouped) -> Vec<usize> {
    let clusters = problem.clusters;
    let root_cluster = clusters.of(problem.root);
    let bytes = |cluster: usize| {
        let blocks = clusters.members(cluster).iter();
        let units: u64 = blocks.map(|&member| problem.block(member)).sum();
        units.saturating_mul(problem.unit_bytes)
    };
    let Some(network) = problem.network else {
        return clusters.others(root_cluster).collect();
    };
    let block = |cluster: usize| {
        network
            .between(root_cluster, cluster)
            .map_or(0.0, |link| link.gap(bytes(cluster)))
    };
    let tail = |cluster: usize| {
        let within = network.within(cluster);
        let inside = within.map_or(0.0, |link| link.delivery(bytes(cluster)));
        // No handshake: between clusters, messages are cut so that none asks.
        let link = network.between(root_cluster, cluster);
        link.map_or(0.0, |link| link.latency() + inside)
    };
    by_tail(clusters, root_cluster, order, block, tail)
}
