//! Inputs of cost estimates.

use crate::clusters::Clusters;
use crate::network::costs::{MessageCost, MessageCosts};
use crate::network::links::Network;
use crate::operation::Operation;
use crate::read::estimate::stage::Stage;

/// Ranks and hosts of one cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Its ranks.
    pub ranks: usize,
    /// Its hosts.
    pub hosts: usize,
    /// Ranks on its fullest host.
    pub on_host: usize,
}

/// The sizes of all clusters.
pub fn sizes(network: &Network, clusters: &Clusters) -> Vec<Size> {
    (0..clusters.count())
        .map(|cluster| {
            let mut on: std::collections::HashMap<usize, usize> = Default::default();
            for &rank in clusters.members(cluster) {
                *on.entry(network.host_of()[rank]).or_default() += 1;
            }
            Size {
                ranks: clusters.members(cluster).len(),
                hosts: on.len(),
                on_host: on.values().copied().max().unwrap_or(1),
            }
        })
        .collect()
}

/// Inputs of a cost estimate.
#[derive(Debug, Clone, Copy)]
pub struct CostInput<'a> {
    /// The links.
    pub network: &'a Network,
    /// The ranks, as algorithms see them.
    pub clusters: &'a Clusters,
    /// The sizes of the clusters.
    pub sizes: &'a [Size],
    /// The collective.
    pub operation: Operation,
    /// Bytes of the message, or of one rank's block.
    pub bytes: u64,
    /// The root; where there is none, the leader of the cluster in the middle.
    pub root: usize,
    /// Whether operands must stay in order.
    pub ordered: bool,
    /// Costs of one segment.
    pub segment: &'a MessageCosts,
    /// The tree between clusters of an algorithm that has one: senders before their receivers,
    /// those of one sender in the order in which it serves them.
    pub edges: &'a [(usize, usize)],
}

impl CostInput<'_> {
    /// Number of clusters.
    pub(super) fn count(&self) -> usize {
        self.sizes.len()
    }

    /// All clusters but one.
    pub(super) fn others(&self, cluster: usize) -> impl Iterator<Item = usize> + use<> {
        (0..self.count()).filter(move |&other| other != cluster)
    }

    /// Number of clusters but one.
    pub(super) fn number_of_others(&self) -> f64 {
        (self.count() - 1) as f64
    }

    /// The root's cluster.
    pub(super) fn root_cluster(&self) -> usize {
        self.clusters.of(self.root)
    }

    /// Ranks of a cluster.
    pub(super) fn ranks(&self, cluster: usize) -> u64 {
        self.sizes[cluster].ranks as u64
    }

    /// Ranks of all clusters.
    pub(super) fn all_ranks(&self) -> u64 {
        self.clusters.ranks() as u64
    }

    /// Number of segments of `bytes`, at least one.
    pub(super) fn segments(&self, bytes: u64) -> f64 {
        bytes.div_ceil(self.segment.bytes.max(1)).max(1) as f64
    }

    /// The load of `bytes` on a link, in segments: the last one counts in proportion.
    pub(super) fn volume(&self, bytes: u64) -> f64 {
        match self.segment.bytes {
            0 => 1.0,
            segment => (bytes as f64 / segment as f64).max(1.0),
        }
    }

    /// The largest of a number for each cluster.
    pub(super) fn largest(&self, of: impl Fn(usize) -> f64) -> f64 {
        (0..self.count()).map(of).fold(0.0, f64::max)
    }

    /// The largest of a cost of one message between two clusters.
    pub(super) fn largest_between(&self, of: impl Fn(MessageCost) -> f64) -> f64 {
        self.largest(|from| {
            let others = self.others(from);
            let costs = others.map(|to| of(self.segment.between(from, to)));
            costs.fold(0.0, f64::max)
        })
    }

    /// Seconds of one segment on the uplink or the downlink of a cluster, whichever is slower.
    pub(super) fn access(&self, cluster: usize) -> f64 {
        self.segment.uplink[cluster].max(self.segment.downlink[cluster])
    }

    /// Seconds to reduce one segment.
    pub(super) fn reducing(&self) -> f64 {
        let bytes = self.segment.bytes.min(self.bytes);
        self.network.computing.seconds(bytes)
    }

    /// Bytes that each other cluster gets directly, so that the path is full while the first
    /// segments come back over a relay: the bandwidth-delay product, shared among the others.
    pub(super) fn direct_part(&self) -> u64 {
        let product = self.network.in_flight(self.operation, self.root_cluster());
        match self.count() - 1 {
            0 | 1 => self.bytes,
            others => (product / others as u64).min(self.bytes),
        }
    }

    /// The leader of a cluster sends segments to its members, or receives them: hosts first, then
    /// the ranks of a host.
    pub(super) fn inside(&self, cluster: usize) -> Stage {
        let size = self.sizes[cluster];
        let last = Stage::group(size.on_host, self.segment.on_host[cluster]);
        match size.hosts {
            1 => last,
            hosts => Stage::group(hosts, self.segment.within[cluster]).then(last),
        }
    }

    /// The segments of a cluster reduced at its leader: the way back of [`CostInput::inside`], and
    /// the computation.
    pub(super) fn reduced_inside(&self, cluster: usize) -> Stage {
        let stage = self.inside(cluster);
        let members = self.sizes[cluster].ranks.min(5) as f64 - 1.0;
        Stage {
            first: stage.first + self.reducing(),
            period: stage.period + members * self.reducing(),
        }
    }

    /// The cost of a segment between members of a cluster that all send to all others.
    pub(super) fn in_exchange(&self, cluster: usize, cost: MessageCost) -> MessageCost {
        let bytes = self.segment.bytes.min(self.bytes);
        cost.in_exchange(self.network.contention(cluster), bytes)
    }

    /// [`CostInput::spread`] from all members to all others.
    pub(super) fn exchanged(&self, cluster: usize, bytes: u64) -> f64 {
        self.between_members(cluster, bytes, |cost| self.in_exchange(cluster, cost))
    }

    /// The members of a cluster exchange `bytes` in all: seconds of the busiest of them.
    pub(super) fn spread(&self, cluster: usize, bytes: u64) -> f64 {
        self.between_members(cluster, bytes, |cost| cost)
    }

    /// Seconds of the busiest member, where messages cost what `met` makes of them.
    fn between_members(
        &self,
        cluster: usize,
        bytes: u64,
        met: impl Fn(MessageCost) -> MessageCost,
    ) -> f64 {
        let size = self.sizes[cluster];
        if size.ranks < 2 {
            return 0.0;
        }
        let cost = met(match size.hosts {
            1 => self.segment.on_host[cluster],
            _ => self.segment.within[cluster],
        });
        self.volume(bytes) * cost.gap + cost.latency
    }
}
