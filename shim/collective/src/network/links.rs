//! Links between the ranks of a communicator, and the costs of what passes them.

use crate::network::computing::Computing;
use crate::network::inside::Inner;
use crate::operation::Operation;
use std::collections::BTreeSet;
use std::sync::Arc;
use treepie_platform::orders::{Costs, CostsError};
use treepie_platform::{Contention, Link};

/// A link that messages of several pairs share: how long each occupies it is `share`
/// times the gap of a link.
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

/// The ranks of a communicator on a platform. Clusters stand in the platform's order, whatever the
/// order of ranks is; those that have no rank here are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    pub(super) cluster_of: Vec<usize>,
    pub(super) host_of: Vec<usize>,
    pub(super) hosts: usize,
    /// From cluster to cluster, row by row.
    pub(super) between: Vec<Option<Arc<Link>>>,
    pub(super) within: Vec<Option<Arc<Link>>>,
    pub(super) on_host: Vec<Option<Arc<Link>>>,
    /// Levels inside hosts, the widest first.
    pub(super) inside: Vec<Inner>,
    pub(super) contention: Vec<Option<Contention>>,
    pub(super) uplink: Vec<Option<Shared>>,
    pub(super) downlink: Vec<Option<Shared>>,
    /// Leader of each cluster.
    pub(super) leaders: Vec<usize>,
    pub(super) is_near: bool,
    pub(super) is_in_memory: bool,
    pub(super) centre: usize,
    /// The longest latency between two clusters, in seconds.
    pub(super) farthest: f64,
    /// Seconds that [`LONG`] bytes occupy the slowest of all uplinks and downlinks.
    pub(super) slowest: f64,
    /// Number of members of a cluster that share what passes between clusters, at most.
    pub(super) lanes: usize,
    /// Time that reductions and copies compute.
    pub computing: Computing,
}

/// The size by which it is told how much is on its way: as large as messages between clusters are.
pub(super) const LONG: u64 = 64 << 10;

/// The smallest message that any MPI asks for before it sends it, in bytes.
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

    /// Number of hosts.
    pub fn hosts(&self) -> usize {
        self.hosts
    }

    /// Number of hosts of a cluster.
    pub(crate) fn hosts_of(&self, cluster: usize) -> usize {
        let ranks = self.cluster_of.iter().zip(&self.host_of);
        let hosts = ranks.filter(|&(&of, _)| of == cluster);
        hosts.map(|(_, host)| host).collect::<BTreeSet<_>>().len()
    }

    /// Whether what stands here for clusters are hosts of one, or groups of ranks of one host, so
    /// near each other that what ranks do between messages takes as long as the links: times are
    /// predicted too roughly for a plan to replace a native collective unmeasured.
    pub fn is_near(&self) -> bool {
        self.is_near
    }

    /// Whether all ranks are on one host, and their messages go through memory that they share.
    pub fn is_in_memory(&self) -> bool {
        self.is_in_memory
    }

    /// The cluster of every rank.
    pub fn cluster_of(&self) -> &[usize] {
        &self.cluster_of
    }

    /// The host of every rank.
    pub fn host_of(&self) -> &[usize] {
        &self.host_of
    }

    /// The rank that speaks for each cluster: the platform's coordinator, or the lowest
    /// where that one is not in the communicator.
    pub fn leaders(&self) -> &[usize] {
        &self.leaders
    }

    /// The cluster from which all others are reached soonest, there and back: from which
    /// collectives without a root start.
    pub fn centre(&self) -> usize {
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

    /// The group of each rank, on each level inside hosts, the widest first.
    pub(crate) fn inner_groups(&self) -> impl Iterator<Item = &[usize]> {
        self.inside.iter().map(|inner| inner.group_of.as_slice())
    }

    /// `os(m)` or `or(m)`, seconds that a message occupies one of its ranks: work, no more than the
    /// closest link takes; what was measured beyond that is waiting.
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

    /// The link from one rank to another; `None` where nothing is known about ranks so
    /// close, which are taken to need no time.
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

    /// The link from one cluster to another; `None` from one to itself.
    pub fn between(&self, from: usize, to: usize) -> Option<&Link> {
        self.between[from * self.clusters() + to].as_deref()
    }

    /// The link between hosts of a cluster, or the closest that is known.
    pub fn within(&self, cluster: usize) -> Option<&Link> {
        let known = self.within[cluster].as_ref();
        known.or(self.on_host[cluster].as_ref()).map(Arc::as_ref)
    }

    /// The link between hosts of a cluster, where it has several.
    pub fn between_hosts(&self, cluster: usize) -> Option<&Link> {
        self.within[cluster].as_deref()
    }

    /// The link between ranks of a host of a cluster, or the closest that is known.
    pub fn on_host(&self, cluster: usize) -> Option<&Link> {
        let known = self.on_host[cluster].as_ref();
        known.or(self.within[cluster].as_ref()).map(Arc::as_ref)
    }

    /// Response of a cluster to a total exchange among its ranks, if that was measured.
    pub fn contention(&self, cluster: usize) -> Option<Contention> {
        self.contention[cluster]
    }

    /// Drops what is known of contention.
    #[cfg(any(test, feature = "fixtures"))]
    pub fn without_contention(mut self) -> Self {
        self.contention.fill(None);
        self
    }

    /// Seconds that a message of `bytes` occupies the uplink of a cluster.
    pub fn uplink(&self, cluster: usize, bytes: u64) -> f64 {
        let uplink = self.uplink[cluster].as_ref();
        uplink.map_or(0.0, |shared| shared.share * shared.link.gap(bytes))
    }

    /// Seconds that a message of `bytes` occupies the downlink of a cluster.
    pub fn downlink(&self, cluster: usize, bytes: u64) -> f64 {
        let downlink = self.downlink[cluster].as_ref();
        downlink.map_or(0.0, |shared| shared.share * shared.link.gap(bytes))
    }

    /// Bytes that pass the link which an operation keeps busiest in the longest latency: the uplink
    /// of cluster `home`, from which all comes, or its downlink, to which all goes, as far as one
    /// connection with each other cluster fills it; without a root, the slowest of all.
    pub fn in_flight(&self, operation: Operation, home: usize) -> u64 {
        // Seconds of a long message over one connection with each other cluster together.
        let together = |way: &dyn Fn(usize) -> (usize, usize)| {
            let ways = (0..self.clusters()).map(way);
            let links = ways.filter_map(|(from, to)| self.between(from, to));
            let rates = links.map(|link| 1.0 / link.gap(LONG).max(f64::MIN_POSITIVE));
            1.0 / rates.sum::<f64>().max(f64::MIN_POSITIVE)
        };
        let seconds = match operation {
            Operation::Bcast => self
                .uplink(home, LONG)
                .max(together(&|other| (home, other))),
            Operation::Reduce => self
                .downlink(home, LONG)
                .max(together(&|other| (other, home))),
            _ => self.slowest,
        };
        (self.farthest / seconds.max(f64::MIN_POSITIVE) * LONG as f64) as u64
    }

    /// The largest message that goes at once between any two clusters; what is larger asks its
    /// receiver first, which costs two latencies more. `None` where no such limit is known.
    pub fn eager_limit(&self) -> Option<u64> {
        let limits = self.between.iter().flatten();
        let limits = limits.filter_map(|link| link.eager_limit());
        // No MPI asks for so little: that was noise.
        limits.filter(|&limit| limit >= LEAST_LIMIT).min()
    }

    /// Adds a rendezvous between clusters for messages of more than `limit` bytes, on links that
    /// show no eager limit: what is known of the MPI, for platforms that were not measured with it.
    pub fn with_eager_limit(mut self, limit: u64) -> Self {
        let limit = limit.max(LEAST_LIMIT);
        for link in self.between.iter_mut().flatten() {
            if link.eager_limit().is_none() {
                *link = Arc::new(link.with_rendezvous_above(limit));
            }
        }
        self
    }

    /// Number of ranks of a cluster that fill its uplink together: 1 where one alone does.
    pub fn pairs_to_fill(&self, cluster: usize) -> usize {
        let share = self.uplink[cluster]
            .as_ref()
            .map_or(1.0, |shared| shared.share);
        (1.0 / share.max(1e-3)).round().max(1.0) as usize
    }

    /// Number of ranks of a cluster that it takes at most to keep the links between clusters busy
    /// with what clusters reduce.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Costs of one message between coordinators, of `bytes(from, to)`, and what each
    /// cluster needs `inside`: what orders between clusters are made from.
    ///
    /// # Errors
    /// Times inside that are no numbers.
    pub fn costs(
        &self,
        bytes: impl Fn(usize, usize) -> u64,
        inside: Vec<f64>,
    ) -> Result<Costs, CostsError> {
        let clusters = self.clusters();
        let mut gap = vec![0.0; clusters * clusters];
        let mut latency = gap.clone();
        for from in 0..clusters {
            for to in 0..clusters {
                if let Some(link) = self.between(from, to) {
                    let bytes = bytes(from, to);
                    gap[from * clusters + to] = link.gap(bytes);
                    latency[from * clusters + to] = link.latency() + link.handshake(bytes);
                }
            }
        }
        Costs::new(gap, latency, inside)
    }
}
