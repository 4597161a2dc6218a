//! Locality of ranks in the plans of a job: the same for all its communicators.

use crate::clusters::Clusters;
use crate::network::links::Network;
use treepie_base::{Cluster, List, Rank};
use treepie_platform::{Inside, Platform};

impl Clusters {
    /// Clusters of a network, their hosts, and their leaders.
    pub fn of_network(network: &Network) -> Self {
        let clusters = Clusters::new(network.cluster_of())
            .with_closer(network.host_of())
            .with_leaders(network.leaders());
        network
            .inner_groups()
            .fold(clusters, |clusters, groups| clusters.with_closer(groups))
            .with_nearness(network.is_near())
    }
}

/// Locations of the ranks of a job. Plans of any of its communicators follow from this, the
/// communicator's ranks and the call.
#[derive(Debug, Clone, PartialEq)]
pub enum Locality {
    /// Numbers for every rank of the world: ranks with equal numbers are near each other.
    Numbers {
        /// Cluster of every rank.
        cluster_of_rank: List<Rank, Cluster>,
        /// Host of every rank; empty if unknown.
        host_of_rank: Vec<usize>,
        /// Levels inside hosts to which ranks are bound, widest first.
        inside: Vec<Inside>,
    },
    /// A platform, on which messages above `eager_limit` bytes use a rendezvous, unless it was
    /// measured.
    Platform {
        /// Platform, whose ranks are those of the world.
        platform: Platform,
        /// Eager limit of the native MPI, in bytes.
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

    /// Cluster of every rank of the world.
    pub fn cluster_of_rank(&self) -> List<Rank, Cluster> {
        match self {
            Locality::Numbers {
                cluster_of_rank, ..
            } => cluster_of_rank.clone(),
            Locality::Platform { platform, .. } => platform.cluster_of_rank(),
        }
    }

    /// Levels inside hosts to which ranks are bound, widest first.
    pub fn inside(&self) -> &[Inside] {
        match self {
            Locality::Numbers { inside, .. } => inside,
            Locality::Platform { platform, .. } => platform.inside(),
        }
    }

    /// Clusters and network of a communicator with these ranks of the world, all below
    /// [`Locality::ranks`]. If all are in one cluster, its hosts replace the clusters; if all are
    /// on one host, the groups of the widest level that divides these ranks do.
    pub fn of(&self, ranks: &[usize]) -> (Clusters, Option<Network>) {
        fn of_ranks<T: Copy>(known: &[T], ranks: &[usize]) -> Vec<T> {
            ranks.iter().map(|&rank| known[rank]).collect()
        }
        match self {
            Locality::Numbers {
                cluster_of_rank,
                host_of_rank,
                inside,
            } => {
                let clusters = Clusters::new(&of_ranks(cluster_of_rank.as_ref(), ranks));
                if host_of_rank.is_empty() {
                    return (clusters, None);
                }
                let hosts = of_ranks(host_of_rank, ranks);
                let (clusters, _) = clusters.with_closer(&hosts).with_inside(inside, ranks);
                let is_one_host = hosts.iter().all(|&host| host == hosts[0]);
                if !(is_one_host && clusters.count() == 1) {
                    return (clusters, None);
                }
                let clusters = clusters.parted_inside();
                let network = (clusters.count() > 1).then(|| Network::in_memory(&clusters));
                (clusters, network)
            }
            Locality::Platform {
                platform,
                eager_limit,
            } => {
                let near = Network::between_near_hosts(platform, ranks)
                    .or_else(|| Network::inside_host(platform, ranks));
                let Some(network) = near.or_else(|| Network::new(platform, ranks)) else {
                    return (Clusters::one(ranks.len()), None);
                };
                // A platform that was written by hand does not state the eager limit of this MPI.
                let network = match platform.is_by_hand() {
                    true => network.with_eager_limit(*eager_limit),
                    false => network,
                };
                (Clusters::of_network(&network), Some(network))
            }
        }
    }
}
