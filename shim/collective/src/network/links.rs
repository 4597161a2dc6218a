//! Links between the ranks of a communicator, and the costs of messages on them.

use crate::network::computing::Computing;
use crate::network::inside::Inner;
use crate::operation::Operation;
use std::collections::BTreeSet;
use std::sync::Arc;
use treepie_base::square::Square;
use treepie_base::{Cluster, List, Slice};
use treepie_platform::orders::{Costs, CostsError};
use treepie_platform::{Contention, Link};

/// Link that messages of several pairs share: each occupies it for `share` times the gap of a link.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shared {
    pub(super) link: Arc<Link>,
    pub(super) share: f64,
}

/// Distance between two ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// On one host.
    Host,
    /// On two hosts of a cluster.
    Cluster,
    /// In two clusters.
    Grid,
}

/// Ranks of a communicator on a platform. Clusters are in the platform's order, independently of
/// the order of ranks; those without a rank here are omitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    pub(super) cluster_of: Vec<Cluster>,
    pub(super) host_of: Vec<usize>,
    pub(super) hosts: usize,
    /// Links from cluster to cluster.
    pub(super) between: Square<Cluster, Option<Arc<Link>>>,
    pub(super) within: List<Cluster, Option<Arc<Link>>>,
    pub(super) on_host: List<Cluster, Option<Arc<Link>>>,
    /// Levels inside hosts, widest first.
    pub(super) inside: Vec<Inner>,
    pub(super) contention: List<Cluster, Option<Contention>>,
    pub(super) uplink: List<Cluster, Option<Shared>>,
    pub(super) downlink: List<Cluster, Option<Shared>>,
    /// Leader of each cluster.
    pub(super) leaders: List<Cluster, usize>,
    pub(super) is_near: bool,
    pub(super) is_in_memory: bool,
    pub(super) centre: Cluster,
    /// Longest latency between two clusters, in seconds.
    pub(super) farthest: f64,
    /// Seconds that [`LONG`] bytes occupy the slowest of all uplinks and downlinks.
    pub(super) slowest: f64,
    /// Maximum number of members of a cluster that share the traffic between clusters.
    pub(super) lanes: usize,
    /// Computing time of reductions and copies.
    pub computing: Computing,
}

/// Size in bytes that determines the bandwidth-delay product: typical of messages between clusters.
pub(super) const LONG: u64 = 64 << 10;

/// Smallest plausible eager limit of an MPI, in bytes.
const LEAST_LIMIT: u64 = 512;

/// Work on a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overhead {
    Send,
    Receive,
}

impl Network {
    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.cluster_of.len()
    }

    /// Number of clusters.
    pub fn clusters(&self) -> usize {
        self.within.len()
    }

    /// All clusters, in order.
    pub fn all_clusters(&self) -> impl DoubleEndedIterator<Item = Cluster> + Clone + use<> {
        (0..self.clusters()).map(Cluster)
    }

    /// Number of hosts.
    pub fn hosts(&self) -> usize {
        self.hosts
    }

    /// Number of hosts of a cluster.
    pub(crate) fn hosts_of(&self, cluster: Cluster) -> usize {
        let ranks = self.cluster_of.iter().zip(&self.host_of);
        let hosts = ranks.filter(|&(&of, _)| of == cluster);
        hosts.map(|(_, host)| host).collect::<BTreeSet<_>>().len()
    }

    /// True if the clusters here are hosts of one cluster, or groups of ranks of one host, so near
    /// each other that the work of ranks between messages takes as long as the links: predicted
    /// times are too imprecise for a plan to replace a native collective unmeasured.
    pub fn is_near(&self) -> bool {
        self.is_near
    }

    /// True if all ranks are on one host, and their messages pass through shared memory.
    pub fn is_in_memory(&self) -> bool {
        self.is_in_memory
    }

    /// Cluster of every rank.
    pub fn cluster_of(&self) -> &[Cluster] {
        &self.cluster_of
    }

    /// Host of every rank.
    pub fn host_of(&self) -> &[usize] {
        &self.host_of
    }

    /// Leader of each cluster: the platform's coordinator, or the lowest rank if that one is not in
    /// the communicator.
    pub fn leaders(&self) -> &Slice<Cluster, usize> {
        &self.leaders
    }

    /// Cluster with the shortest round trips to all others: the start of collectives without a
    /// root.
    pub fn centre(&self) -> Cluster {
        self.centre
    }

    /// Distance between two ranks.
    pub fn distance(&self, one: usize, other: usize) -> Distance {
        match self.host_of[one] == self.host_of[other] {
            true => Distance::Host,
            false if self.cluster_of[one] == self.cluster_of[other] => Distance::Cluster,
            false => Distance::Grid,
        }
    }

    /// Number of levels inside hosts that two ranks of a host share.
    pub(crate) fn levels_shared(&self, one: usize, other: usize) -> usize {
        let is_shared = |inner: &&Inner| inner.group_of[one] == inner.group_of[other];
        self.inside.iter().take_while(is_shared).count()
    }

    /// Group of each rank, on each level inside hosts, widest first.
    pub(crate) fn inner_groups(&self) -> impl Iterator<Item = &[usize]> {
        self.inside.iter().map(|inner| inner.group_of.as_slice())
    }

    /// `os(m)` or `or(m)`, seconds that a message occupies one of its ranks: work, limited to the
    /// gap of the closest link; the measured remainder is waiting.
    pub(crate) fn occupied(&self, rank: usize, peer: usize, bytes: u64, by: Overhead) -> f64 {
        let here = self.cluster_of[rank];
        let least = match self.on_host(here) {
            Some(closest) => closest.gap(bytes),
            None => self.uplink(here, bytes),
        };
        self.link(rank, peer).map_or(0.0, |link| match by {
            Overhead::Send => link.send(bytes).min(least),
            Overhead::Receive => link.receive(bytes).min(least),
        })
    }

    /// Link from one rank to another; `None` if it is unknown for ranks so close: their messages
    /// are assumed to take no time.
    pub fn link(&self, from: usize, to: usize) -> Option<&Link> {
        let (here, there) = (self.cluster_of[from], self.cluster_of[to]);
        match self.distance(from, to) {
            // Clusters may be groups of one host.
            _ if here != there => self.between(here, there),
            Distance::Host => match self.levels_shared(from, to).checked_sub(1) {
                Some(level) => self.inside[level].link[here].as_deref(),
                None => self.on_host(here),
            },
            _ => self.within(here),
        }
    }

    /// Link from one cluster to another; `None` from one to itself.
    pub fn between(&self, from: Cluster, to: Cluster) -> Option<&Link> {
        self.between[(from, to)].as_deref()
    }

    /// Link between hosts of a cluster, or the closest that is known.
    pub fn within(&self, cluster: Cluster) -> Option<&Link> {
        let known = self.within[cluster].as_ref();
        known.or(self.on_host[cluster].as_ref()).map(Arc::as_ref)
    }

    /// Link between hosts of a cluster, if it has several.
    pub fn between_hosts(&self, cluster: Cluster) -> Option<&Link> {
        self.within[cluster].as_deref()
    }

    /// Link between ranks of a host of a cluster, or the closest that is known.
    pub fn on_host(&self, cluster: Cluster) -> Option<&Link> {
        let known = self.on_host[cluster].as_ref();
        known.or(self.within[cluster].as_ref()).map(Arc::as_ref)
    }

    /// Response of a cluster to a total exchange among its ranks, if that was measured.
    pub fn contention(&self, cluster: Cluster) -> Option<Contention> {
        self.contention[cluster]
    }

    /// Removes the contention of all clusters.
    #[cfg(any(test, feature = "fixtures"))]
    pub fn without_contention(mut self) -> Self {
        self.contention.fill(None);
        self
    }

    /// Seconds that a message of `bytes` occupies the uplink of a cluster.
    pub fn uplink(&self, cluster: Cluster, bytes: u64) -> f64 {
        let uplink = self.uplink[cluster].as_ref();
        uplink.map_or(0.0, |shared| shared.share * shared.link.gap(bytes))
    }

    /// Seconds that a message of `bytes` occupies the downlink of a cluster.
    pub fn downlink(&self, cluster: Cluster, bytes: u64) -> f64 {
        let downlink = self.downlink[cluster].as_ref();
        downlink.map_or(0.0, |shared| shared.share * shared.link.gap(bytes))
    }

    /// Bandwidth-delay product in bytes, for the longest latency and the busiest link of an
    /// operation: the uplink of the root's cluster for a broadcast, or its downlink for a
    /// reduction, limited to the rate of one connection with each other cluster; for other
    /// operations, the slowest link of all.
    pub fn in_flight(&self, operation: Operation, root_cluster: Cluster) -> u64 {
        // Seconds of a long message over one connection with each other cluster together.
        let together = |ends: &dyn Fn(Cluster) -> (Cluster, Cluster)| {
            let paths = self.all_clusters().map(ends);
            let links = paths.filter_map(|(from, to)| self.between(from, to));
            let rates = links.map(|link| 1.0 / link.gap(LONG).max(f64::MIN_POSITIVE));
            1.0 / rates.sum::<f64>().max(f64::MIN_POSITIVE)
        };
        let seconds = match operation {
            Operation::Bcast => self
                .uplink(root_cluster, LONG)
                .max(together(&|other| (root_cluster, other))),
            Operation::Reduce => self
                .downlink(root_cluster, LONG)
                .max(together(&|other| (other, root_cluster))),
            _ => self.slowest,
        };
        (self.farthest / seconds.max(f64::MIN_POSITIVE) * LONG as f64) as u64
    }

    /// Largest message that is sent eagerly between any two clusters; larger ones use a rendezvous,
    /// which costs two more latencies. `None` if no such limit is known.
    pub fn eager_limit(&self) -> Option<u64> {
        let limits = self.between.values().iter().flatten();
        let limits = limits.filter_map(|link| link.eager_limit());
        // No MPI has so low a limit: such a measurement was noise.
        limits.filter(|&limit| limit >= LEAST_LIMIT).min()
    }

    /// Adds a rendezvous between clusters for messages of more than `limit` bytes, on links without
    /// an eager limit: for platforms that were not measured with this MPI.
    pub fn with_eager_limit(mut self, limit: u64) -> Self {
        let limit = limit.max(LEAST_LIMIT);
        for link in self.between.values_mut().iter_mut().flatten() {
            if link.eager_limit().is_none() {
                *link = Arc::new(link.with_rendezvous_above(limit));
            }
        }
        self
    }

    /// Number of ranks of a cluster that fill its uplink together: 1 if one is enough.
    pub fn pairs_to_fill(&self, cluster: Cluster) -> usize {
        let share = self.uplink[cluster]
            .as_ref()
            .map_or(1.0, |shared| shared.share);
        (1.0 / share.max(1e-3)).round().max(1.0) as usize
    }

    /// Maximum number of ranks of a cluster that are needed to keep the links between clusters busy
    /// with the sums that clusters reduce.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Costs from which orders between clusters are computed: of one message of `bytes(from, to)`
    /// between coordinators, and of the time `inside` each cluster, in seconds.
    ///
    /// # Errors
    /// Times inside that are not numbers.
    pub fn costs(
        &self,
        bytes: impl Fn(Cluster, Cluster) -> u64,
        inside: List<Cluster, f64>,
    ) -> Result<Costs, CostsError> {
        let table = |cost: fn(&Link, u64) -> f64| {
            Square::new(self.clusters(), |(from, to)| {
                let link = self.between(from, to);
                link.map_or(0.0, |link| cost(link, bytes(from, to)))
            })
        };
        let latency = table(|link, bytes| link.latency() + link.handshake(bytes));
        Costs::new(table(Link::gap), latency, inside)
    }
}
