//! How long a strategy takes, from what passes each link: a few hundred operations,
//! so that a choice among all strategies costs microseconds (the simulator, which
//! follows every message, costs milliseconds).
//!
//! ```text
//!   time = the first piece's way to the last rank
//!        + (pieces - 1) * what the busiest link on the way needs for one
//! ```
//!
//! which is the pipeline of thesis table 6.2 with any tree in place of the chain, and any
//! link that several messages share in place of `g`.

mod between;
mod by_rank;
mod exchanged;
mod han;
mod inside;
mod reduced;
mod ways;

use crate::collective::Operation;
use crate::collective::network::Hop;
use crate::collective::{Clusters, Network};
pub(in crate::collective) use between::{
    broadcast_exchange, broadcast_lanes, broadcast_tree, reduce_exchange,
};
pub(in crate::collective) use by_rank::{binomial, chain, doubling, host_seconds};
pub(in crate::collective) use exchanged::{
    allgather_exchange, allgather_lanes, alltoall_grouped, barrier_exchange, direct, grouped,
    reduce_scatter_exchange, scan_exchange,
};
pub(in crate::collective) use han::Leaders;
pub(in crate::collective) use inside::Stage;
pub(in crate::collective) use reduced::{
    allreduce_direct, allreduce_exchange, allreduce_ring, allreduce_tree, reduce_direct,
    reduce_lanes, reduce_tree,
};

/// What messages of one size meet, between and inside all clusters.
#[derive(Debug, Clone, PartialEq)]
pub struct Costed {
    /// The size, in bytes.
    pub bytes: u64,
    /// Seconds on the uplink of each cluster.
    pub leaving: Vec<f64>,
    /// Seconds on the downlink of each cluster.
    pub entering: Vec<f64>,
    /// From cluster to cluster, row by row.
    between: Vec<Hop>,
    /// Between hosts of each cluster.
    pub within: Vec<Hop>,
    /// Between ranks of a host of each cluster.
    pub on_host: Vec<Hop>,
    /// The longest way of one message from each cluster to another, in seconds.
    pub farthest_from: Vec<f64>,
    /// The longest way to each cluster from another, in seconds.
    pub farthest_to: Vec<f64>,
    /// The longest latency between two clusters, in seconds.
    pub latency: f64,
    /// What each cluster does inside with such messages, once [`Costed::with_inside`] has found it.
    inside: Vec<Stage>,
}

impl Costed {
    /// Looks up everything for messages of `bytes`.
    pub fn new(network: &Network, bytes: u64) -> Self {
        let clusters = network.clusters();
        let messages = network.messages(bytes);
        let between: Vec<Hop> = messages.all_between().collect();
        let (mut farthest_from, mut farthest_to) = (vec![0.0; clusters], vec![0.0; clusters]);
        let mut latency: f64 = 0.0;
        for (row, farthest) in between
            .chunks_exact(clusters.max(1))
            .zip(&mut farthest_from)
        {
            for (way, farthest_to) in row.iter().zip(&mut farthest_to) {
                *farthest = longer(*farthest, way.seconds());
                *farthest_to = longer(*farthest_to, way.seconds());
                latency = longer(latency, way.latency);
            }
        }
        Costed {
            bytes,
            leaving: (0..clusters).map(|c| messages.leaving(c)).collect(),
            entering: (0..clusters).map(|c| messages.entering(c)).collect(),
            between,
            within: (0..clusters).map(|c| messages.within(c)).collect(),
            on_host: (0..clusters).map(|c| messages.on_host(c)).collect(),
            farthest_from,
            farthest_to,
            latency,
            inside: Vec::new(),
        }
    }

    /// The same, with what clusters of these sizes do inside.
    pub fn with_inside(mut self, sizes: &[Size]) -> Self {
        let stage = |(cluster, size): (usize, &Size)| {
            Stage::inside(size, self.within[cluster], self.on_host[cluster])
        };
        self.inside = sizes.iter().enumerate().map(stage).collect();
        self
    }

    /// From one cluster to another.
    pub fn hop(&self, from: usize, to: usize) -> Hop {
        self.between[from * self.leaving.len() + to]
    }
}

/// The longer of two times. Where either may be no number, `f64::max` looks for that, which is most of what
/// estimates would do.
fn longer(one: f64, other: f64) -> f64 {
    if other > one { other } else { one }
}

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

/// A collective whose time is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// Where.
    pub network: &'a Network,
    /// The ranks, as generators see them.
    pub clusters: &'a Clusters,
    /// How large the clusters are.
    pub sizes: &'a [Size],
    /// Bytes of the message, or of one rank's block.
    pub bytes: u64,
    /// The root, 0 where there is none.
    pub root: usize,
    /// Messages of one piece.
    pub piece: &'a Costed,
}

impl Scene<'_> {
    /// Number of clusters.
    pub fn count(&self) -> usize {
        self.sizes.len()
    }

    /// The root's cluster.
    pub fn home(&self) -> usize {
        self.clusters.of(self.root)
    }

    /// Bytes on their way while the busiest link is kept busy.
    fn in_flight(&self, operation: Operation) -> u64 {
        self.network.in_flight(operation, self.home())
    }

    /// How many pieces `bytes` have, at least one.
    pub fn pieces(&self, bytes: u64) -> f64 {
        bytes.div_ceil(self.piece.bytes.max(1)).max(1) as f64
    }

    /// The same with every piece but the last as large as it may be, and the last in
    /// proportion: what links carry.
    pub fn volume(&self, bytes: u64) -> f64 {
        match self.piece.bytes {
            0 => 1.0,
            piece => (bytes as f64 / piece as f64).max(1.0),
        }
    }

    /// All clusters but one.
    pub fn others(&self, cluster: usize) -> impl Iterator<Item = usize> + use<> {
        let count = self.count();
        (0..count).filter(move |&other| other != cluster)
    }

    /// The most of a number for each cluster.
    pub fn most(&self, of: impl Fn(usize) -> f64) -> f64 {
        (0..self.count()).map(of).fold(0.0, longer)
    }

    /// The longest way of one message from any cluster to any other.
    pub fn farthest(&self) -> f64 {
        self.most(|from| self.piece.farthest_from[from])
    }
}
