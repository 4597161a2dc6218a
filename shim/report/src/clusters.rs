//! Traffic between clusters, for the clusters used by the plans of a run.

use std::collections::HashMap;

use serde::Serialize;
use treepie_base::{Cluster, List, Process, Rank};
use treepie_profile::{Host, Profile};
use treepie_traffic::Matrix;

use super::units;

/// The clusters of a run's processes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ProcessClusters {
    hosts: Vec<Host>,
    /// The cluster of each process.
    of: List<Process, Cluster>,
}

/// Traffic between clusters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BetweenClusters {
    /// Number of clusters.
    pub clusters: usize,
    /// Bytes that leave a cluster.
    pub bytes: f64,
    /// All bytes.
    pub of: f64,
}

impl ProcessClusters {
    /// The clusters used by the plans of this run; `None` if no plan ran.
    pub fn of(profile: &Profile) -> Option<Self> {
        let of_rank = profile.locality.as_ref()?.cluster_of_rank();
        let mut of: List<_, _> = vec![Cluster(0); profile.ranks].into();
        for (&process, cluster) in profile.process_of_rank.iter().zip(of_rank) {
            of[process] = cluster;
        }
        Some(ProcessClusters {
            hosts: profile.hosts.clone(),
            of,
        })
    }

    /// The cluster of each rank of a profile of the same job: that of the same process if the
    /// processes are on the same hosts, or else that of the host of its process. `None` for a host
    /// that is in no cluster, or in several.
    pub fn of_ranks(&self, profile: &Profile) -> Option<List<Rank, Cluster>> {
        let of_process = if self.hosts == profile.hosts {
            self.of.clone()
        } else {
            self.by_host(profile)?
        };
        let of = |&process: &Process| of_process.get(process).copied();
        profile.process_of_rank.iter().map(of).collect()
    }

    fn by_host(&self, profile: &Profile) -> Option<List<Process, Cluster>> {
        let mut known: HashMap<&str, Cluster> = HashMap::new();
        for host in &self.hosts {
            for &process in &host.processes {
                let cluster = self.of[process];
                if *known.entry(&host.name).or_insert(cluster) != cluster {
                    return None;
                }
            }
        }
        let mut of: List<_, _> = vec![Cluster(0); profile.ranks].into();
        for host in &profile.hosts {
            for &process in &host.processes {
                of[process] = *known.get(&*host.name)?;
            }
        }
        Some(of)
    }
}

impl BetweenClusters {
    /// Bytes between ranks of different clusters.
    pub fn new(bytes: &Matrix, cluster_of_rank: &List<Rank, Cluster>) -> Self {
        let mut known = cluster_of_rank.raw.clone();
        known.sort_unstable();
        known.dedup();
        let crossing = |&(from, to, _): &(usize, usize, f64)| {
            cluster_of_rank[Rank(from)] != cluster_of_rank[Rank(to)]
        };
        BetweenClusters {
            clusters: known.len(),
            bytes: bytes
                .entries()
                .filter(crossing)
                .map(|(.., bytes)| bytes)
                .sum(),
            of: bytes.total(),
        }
    }

    /// Formats this in one line, without its end.
    pub fn text(&self) -> String {
        format!(
            "between the {} clusters that plans were made for: {} ({})",
            self.clusters,
            units::bytes(self.bytes),
            units::share(self.bytes, self.of)
        )
    }

    /// Formats this before and `after`, in one line without its end.
    pub fn change(&self, after: &BetweenClusters) -> String {
        format!(
            "between the {} clusters that plans were made for: {} before, {} after ({})",
            self.clusters,
            units::bytes(self.bytes),
            units::bytes(after.bytes),
            units::change(self.bytes, after.bytes)
        )
    }
}

/// Traffic between the clusters used by the plans of one of two runs, before and after: profiles
/// with the bytes to compare. `None` if no plan ran, or if the runs have different hosts.
pub fn before_and_after(
    (first, before): (&Profile, &Matrix),
    (second, after): (&Profile, &Matrix),
) -> Option<[BetweenClusters; 2]> {
    let known = ProcessClusters::of(second).or_else(|| ProcessClusters::of(first))?;
    Some([
        BetweenClusters::new(before, &known.of_ranks(first)?),
        BetweenClusters::new(after, &known.of_ranks(second)?),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use treepie_collective::Locality;

    fn on(hosts: &[(&str, &[usize])]) -> Profile {
        let mut profile = Profile::new(4);
        profile.hosts = hosts
            .iter()
            .map(|&(name, processes)| Host {
                name: name.to_owned(),
                processes: processes.iter().copied().map(Process).collect(),
            })
            .collect();
        profile
    }

    #[test]
    fn another_run_has_the_clusters_of_its_processes_or_hosts() {
        let mut replaced = on(&[("a", &[0, 1]), ("b", &[2, 3])]);
        replaced.process_of_rank = [3, 0, 1, 2].into_iter().map(Process).collect();
        replaced.locality = Some(Locality::Numbers {
            cluster_of_rank: Cluster::list([1, 0, 0, 1]),
            host_of_rank: Vec::new(),
            inside: Vec::new(),
        });
        let clusters = ProcessClusters::of(&replaced);
        let of_ranks = |profile: &Profile| clusters.as_ref().and_then(|all| all.of_ranks(profile));
        assert_eq!(of_ranks(&replaced), Some(Cluster::list([1, 0, 0, 1])));
        let plain = on(&[("a", &[0, 1]), ("b", &[2, 3])]);
        assert_eq!(of_ranks(&plain), Some(Cluster::list([0, 0, 1, 1])));
        let cyclic = on(&[("a", &[0, 2]), ("b", &[1, 3])]);
        assert_eq!(of_ranks(&cyclic), Some(Cluster::list([0, 1, 0, 1])));
        let elsewhere = on(&[("a", &[0, 2]), ("c", &[1, 3])]);
        assert_eq!(of_ranks(&elsewhere), None);
        assert_eq!(ProcessClusters::of(&plain), None);
    }
}
