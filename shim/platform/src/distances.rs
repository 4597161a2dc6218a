//! Distances from a platform: its clusters, and the times of messages between, in and below them.

use treepie_base::square::pairs;
use treepie_base::statistics::mean;
use treepie_topology::{Topology, TopologyError};

use crate::contents::{Contents, PlatformCluster};
use crate::description::Platform;
use crate::link::Link;

impl Platform {
    /// The logical clusters as a network: hosts below clusters.
    ///
    /// # Errors
    /// None for a platform, which has a host in every cluster.
    pub fn network(&self) -> Result<Topology, TopologyError> {
        network_of(self.contents())
    }
}

/// Builds a network of hosts below clusters.
pub(super) fn network_of(contents: &Contents) -> Result<Topology, TopologyError> {
    let name = |&place: &usize| contents.hosts[place].name.clone();
    let hosts = |cluster: &PlatformCluster| cluster.hosts.iter().map(name).collect();
    Topology::from_clusters(contents.clusters.iter().map(hosts).collect())
}

/// Sets as distances of a tree with such clusters below its root the mean times in microseconds of
/// a message of `bytes` bytes. Without a measurement, the distance of a level follows from that of
/// the level above and the ratio of their hops.
///
/// # Errors
/// The tree has no levels for such distances.
pub fn with_measured_distances(
    topology: Topology,
    platform: &Platform,
    bytes: u64,
) -> Result<Topology, TopologyError> {
    let depth = topology.depth();
    let hops = |level: usize| (depth - level) as f64;
    let mut distances: Vec<f64> = Vec::with_capacity(depth);
    for level in 0..depth {
        let above = distances.last().copied();
        let measured = match level.checked_sub(1) {
            None => between(platform, bytes),
            Some(shared) => below(platform, &topology.levels()[shared].name, bytes),
        };
        let by_hops = above.map(|above| above * hops(level) / hops(level - 1));
        let distance = measured.or(by_hops).unwrap_or(hops(level));
        // In a tree, nearer is never slower.
        distances.push(distance.min(above.unwrap_or(f64::INFINITY)));
    }
    topology.with_level_distances(&distances)
}

/// Mean between clusters, in microseconds.
fn between(platform: &Platform, bytes: u64) -> Option<f64> {
    let others = pairs(platform.clusters().keys()).filter(|(from, to)| from != to);
    let times = others.map(|(from, to)| microseconds(platform.between(from, to), bytes));
    mean(times)
}

/// Mean between ranks whose closest shared level is a cluster, a node, or a socket.
fn below(platform: &Platform, shared: &str, bytes: u64) -> Option<f64> {
    let clusters = platform.clusters().iter();
    let links = clusters.filter_map(|cluster| match shared {
        "cluster" => cluster.within.as_ref(),
        _ => {
            let mut levels = cluster.levels.iter();
            levels
                .find(|level| level.name == shared)
                .map(|level| &level.link)
        }
    });
    mean(links.map(|link| microseconds(link, bytes)))
}

fn microseconds(link: &Link, bytes: u64) -> f64 {
    (link.latency() + link.gap(bytes)) * 1e6
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::Path;

    use super::*;
    use crate::file::PlatformFile;

    const TWO_CLUSTERS: &str = "\
treepie: platform
version: 1
hosts:
- {name: a1, ranks: 0-1}
- {name: a2, ranks: 2-3}
- {name: b1, ranks: 4-5}
clusters:
- {name: a, hosts: [a1, a2], leader: 0, within: {latency_us: 50, samples: [0 5, 1000 15]}}
- {name: b, hosts: [b1], leader: 4}
links:
- {from: a, to: b, latency_us: 10000, samples: [0 5, 1000 95]}
";

    #[test]
    fn clusters_are_a_level_and_measured_times_are_distances() {
        let file = PlatformFile::from_text(Path::new("p.yaml"), TWO_CLUSTERS).unwrap();
        let network = file.platform.network().unwrap();
        assert_eq!(network.hosts(), ["a1", "a2", "b1"]);
        let machine = || Topology::from_arities("2:2").unwrap();
        let machines = ["a1", "a2", "b1"].map(|host| (host.to_owned(), machine()));
        let tree = Topology::networked(&network, machines.into()).unwrap();
        let tree = with_measured_distances(tree, &file.platform, 1000).unwrap();
        let expected = [10095.0, 65.0, 65.0 * 2.0 / 3.0, 65.0 / 3.0];
        for (found, expected) in tree.level_distances().iter().zip(expected) {
            assert!(
                (found - expected).abs() < 1e-6,
                "{:?}",
                tree.level_distances()
            );
        }
    }
}
