//! Who is near whom, as the plans of a job see it: the same for all its communicators.

use crate::collective::{Clusters, Network};
use crate::platform::Platform;

/// Where the ranks of a job are. Plans of any of its communicators follow from this, the
/// communicator's ranks and the call.
#[derive(Debug, Clone, PartialEq)]
pub enum Locality {
    /// Numbers for every rank of the world: ranks of one number are near each other.
    Numbers {
        /// The cluster of every rank.
        cluster_of_rank: Vec<usize>,
        /// The host of every rank; empty where that is not known.
        host_of_rank: Vec<usize>,
    },
    /// A platform, on which messages above `eager_limit` bytes ask first, where it was not
    /// measured.
    Platform {
        /// The platform, whose ranks are those of the world.
        platform: Platform,
        /// The native MPI's eager limit, in bytes.
        eager_limit: u64,
    },
}

impl Locality {
    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        match self {
            Locality::Numbers {
                cluster_of_rank, ..
            } => cluster_of_rank.len(),
            Locality::Platform { platform, .. } => platform.ranks(),
        }
    }

    /// The cluster of every rank of the world.
    pub fn cluster_of_rank(&self) -> Vec<usize> {
        match self {
            Locality::Numbers {
                cluster_of_rank, ..
            } => cluster_of_rank.clone(),
            Locality::Platform { platform, .. } => platform.cluster_of_rank(),
        }
    }

    /// The clusters and the network of a communicator with these ranks of the world, which all must
    /// be below [`Locality::ranks`]. In one cluster its hosts stand for clusters.
    pub fn of(&self, ranks: &[usize]) -> (Clusters, Option<Network>) {
        let of_ranks =
            |known: &[usize]| -> Vec<usize> { ranks.iter().map(|&rank| known[rank]).collect() };
        match self {
            Locality::Numbers {
                cluster_of_rank,
                host_of_rank,
            } => {
                let clusters = Clusters::new(&of_ranks(cluster_of_rank));
                let clusters = match host_of_rank.is_empty() {
                    true => clusters,
                    false => clusters.with_closer(&of_ranks(host_of_rank)),
                };
                (clusters, None)
            }
            Locality::Platform {
                platform,
                eager_limit,
            } => {
                let near = Network::between_near_hosts(platform, ranks);
                let Some(network) = near.or_else(|| Network::new(platform, ranks)) else {
                    return (Clusters::one(ranks.len()), None);
                };
                // A platform that was written by hand says nothing of when this MPI asks.
                let network = match platform.is_by_hand() {
                    true => network.with_eager_limit(*eager_limit),
                    false => network,
                };
                (Clusters::of_network(&network), Some(network))
            }
        }
    }
}
