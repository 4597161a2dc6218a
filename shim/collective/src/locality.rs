//! Who is near whom, as the plans of a job see it: the same for all its communicators.

use crate::clusters::Clusters;
use crate::network::links::Network;
use treepie_platform::{Inside, Platform};

impl Clusters {
    /// The clusters of a network, their hosts, and their leaders.
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
        /// Levels inside hosts that ranks are bound to, the widest first.
        inside: Vec<Inside>,
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

    /// Levels inside hosts that ranks are bound to, the widest first.
    pub fn inside(&self) -> &[Inside] {
        match self {
            Locality::Numbers { inside, .. } => inside,
            Locality::Platform { platform, .. } => platform.inside(),
        }
    }

    /// The clusters and the network of a communicator with these ranks of the world, which all must
    /// be below [`Locality::ranks`]. In one cluster its hosts stand for clusters, on one host the
    /// groups of the widest level that parts these ranks.
    pub fn of(&self, ranks: &[usize]) -> (Clusters, Option<Network>) {
        let of_ranks =
            |known: &[usize]| -> Vec<usize> { ranks.iter().map(|&rank| known[rank]).collect() };
        match self {
            Locality::Numbers {
                cluster_of_rank,
                host_of_rank,
                inside,
            } => {
                let clusters = Clusters::new(&of_ranks(cluster_of_rank));
                if host_of_rank.is_empty() {
                    return (clusters, None);
                }
                let hosts = of_ranks(host_of_rank);
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
