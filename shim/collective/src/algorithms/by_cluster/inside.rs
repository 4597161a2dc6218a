//! Trees inside clusters: each group has the shape that is fastest on its own links (thesis 6.2,
//! 7.1.2.1).
//!
//! ```text
//!   cluster   A0 --> B0 --> C0    one rank of every host: here a chain, for a long message,
//!   host      A0 --> A1, A2       then the others of each: here a flat tree
//! ```
//!
//! The widest level comes first; a user may set other shapes ([`Clusters::for_plan`]).

use crate::algorithms::by_cluster::stage::{Flows, Hop, Stage, Stream, Tree, fastest};
use crate::algorithms::trees::{Neighbours, Shape, led_by};
use crate::clusters::Clusters;
use crate::network::links::Network;
use crate::problem::Problem;
use treepie_base::Cluster;

/// Group of ranks whose leaders are joined by a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fan {
    /// Number of leaders.
    pub count: usize,
    /// Two of them: the group's leader and another.
    pub pair: (usize, usize),
    /// Shape of the tree, if the user set one.
    pub named: Option<Shape>,
}

impl Fan {
    fn new(leaders: &[usize], named: Option<Shape>) -> Self {
        Fan {
            count: leaders.len(),
            pair: (leaders[0], leaders[leaders.len().min(2) - 1]),
            named,
        }
    }

    fn fastest(self, network: &Network, stream: Stream, least_period: f64) -> (Shape, Stage) {
        let hop = Hop::new(network, self.pair.0, self.pair.1, stream);
        match self.named {
            Some(shape) if self.count > 1 => (shape, hop.stage(&Tree::walked(shape, self.count))),
            _ => fastest(self.count, &hop, stream, least_period),
        }
    }
}

/// Groups of a cluster as [`Fan`]s.
fn fans_of(clusters: &Clusters, groups: &[Vec<usize>]) -> Vec<Fan> {
    let fan = |(level, group): (usize, &Vec<usize>)| Fan::new(group, clusters.shape(level));
    groups.iter().enumerate().map(fan).collect()
}

/// Groups of `rank` on each level of its cluster, widest level first. Each lists the leaders of its
/// parts, the group's leader first. `leader` leads the cluster.
fn groups(clusters: &Clusters, rank: usize, leader: usize) -> Vec<Vec<usize>> {
    let members = led_by(leader, clusters.members(clusters.of(rank)));
    groups_among(clusters, rank, members)
}

/// Groups of `rank` among `members`, led by the first.
fn groups_among(clusters: &Clusters, rank: usize, mut members: Vec<usize>) -> Vec<Vec<usize>> {
    let mut groups = Vec::with_capacity(clusters.closer().len() + 1);
    for level in clusters.closer() {
        let mut met = std::collections::HashSet::new();
        let leaders = members.iter().copied();
        groups.push(
            leaders
                .filter(|&member| met.insert(level[member]))
                .collect(),
        );
        members.retain(|&member| level[member] == level[rank]);
    }
    groups.push(members);
    groups
}

/// Groups that the leader of a cluster serves itself, widest level first.
pub(crate) fn fans(clusters: &Clusters, leader: usize) -> Vec<Fan> {
    fans_of(clusters, &groups(clusters, leader, leader))
}

/// Groups that the first of `members`, all in one cluster, serves itself.
pub(super) fn fans_among(clusters: &Clusters, members: &[usize]) -> Vec<Fan> {
    fans_of(
        clusters,
        &groups_among(clusters, members[0], members.to_vec()),
    )
}

/// Minimum time in seconds between two segments of `bytes` that leave or enter a cluster.
fn least_period(network: &Network, cluster: Cluster, bytes: u64) -> f64 {
    let downlink = network.downlink(cluster, bytes);
    network.uplink(cluster, bytes).max(downlink)
}

/// Trees of nested groups, widest first: each has as much time between two segments as the
/// surrounding trees and the cluster's own links take.
fn composed(
    network: &Network,
    cluster: Cluster,
    fans: impl IntoIterator<Item = Fan>,
    stream: Stream,
) -> impl Iterator<Item = (Shape, Stage)> {
    let mut period = least_period(network, cluster, stream.bytes);
    fans.into_iter().map(move |fan| {
        let (shape, stage) = fan.fastest(network, stream, period);
        period = period.max(stage.period);
        (shape, stage)
    })
}

/// Pipeline stage from the leader of a cluster, which serves these groups, to all of its ranks; or
/// in reverse, if the messages are reduced.
pub(crate) fn stage(network: &Network, cluster: Cluster, fans: &[Fan], stream: Stream) -> Stage {
    let stages = composed(network, cluster, fans.iter().copied(), stream);
    stages.fold(Stage::default(), |all, (_, stage)| all.then(stage))
}

/// Shapes inside a cluster for a message of `bytes` in segments of `segment` bytes, widest level
/// first, without groups of one rank.
pub fn shapes(problem: &Problem, cluster: Cluster, bytes: u64, segment: u64) -> Vec<Shape> {
    let Some(network) = problem.network else {
        return Vec::new();
    };
    let segment = segment.min(bytes);
    let stream = Stream {
        bytes: segment,
        messages: bytes.div_ceil(segment.max(1)).max(1),
        flows: Flows::of(problem.operation),
    };
    let fans = fans(problem.clusters, problem.leader(cluster));
    let composed = composed(network, cluster, fans.iter().copied(), stream);
    let several = composed.zip(&fans).filter(|(_, fan)| fan.count > 1);
    several.map(|((shape, _), _)| shape).collect()
}

/// Seconds that the trees inside a cluster need after the last segment has reached its leader, or
/// before the last segment leaves it.
pub(crate) fn tail(network: &Network, cluster: Cluster, fans: &[Fan], stream: Stream) -> f64 {
    let stage = stage(network, cluster, fans, stream);
    let slower = stage.period - least_period(network, cluster, stream.bytes);
    stage.first + (stream.messages - 1) as f64 * slower.max(0.0)
}

/// Neighbours of a rank in the trees inside its cluster.
pub fn inside(problem: &Problem, rank: usize, stream: Stream) -> Neighbours {
    let leader = problem.leader(problem.clusters.of(rank));
    led_from(problem, rank, leader, stream)
}

/// Neighbours of a rank in these trees if `leader` is the first of its cluster that has the
/// message.
pub(crate) fn led_from(
    problem: &Problem,
    rank: usize,
    leader: usize,
    stream: Stream,
) -> Neighbours {
    let cluster = problem.clusters.of(rank);
    let groups = groups(problem.clusters, rank, leader);
    let fans = fans_of(problem.clusters, &groups);
    let by_rule = |fan: &Fan| fan.named.unwrap_or(Shape::of_unknown_links(fan.count));
    let shapes: Vec<Shape> = match problem.network {
        None => fans.iter().map(by_rule).collect(),
        Some(network) => {
            let composed = composed(network, cluster, fans, stream);
            composed.map(|(shape, _)| shape).collect()
        }
    };
    let mut at = Neighbours::default();
    for (group, shape) in groups.iter().zip(shapes) {
        if let Some(place) = group.iter().position(|&other| other == rank) {
            let more = shape.neighbours(group, place);
            at.parent = at.parent.or(more.parent);
            at.children.extend(more.children);
        }
    }
    at
}
