//! The parts of a platform for a job, whose ranks run on some of its hosts.

use std::collections::HashMap;

use treepie_base::{Cluster, List};

use crate::contents::{Contents, Host, PlatformCluster};
use crate::description::Mismatch;

impl Contents {
    /// The ranks of a cluster, from low to high.
    pub(super) fn ranks_of(&self, cluster: Cluster) -> Vec<usize> {
        let hosts = self.clusters[cluster].hosts.iter();
        let mut ranks: Vec<usize> = hosts
            .flat_map(|&host| self.hosts[host].ranks.iter().copied())
            .collect();
        ranks.sort_unstable();
        ranks
    }

    /// The ranks on each host, from the name of every rank's host.
    pub(super) fn ranks_on(&self, host_of_rank: &[String]) -> Result<Vec<Vec<usize>>, Mismatch> {
        let known = self.hosts.iter().enumerate();
        let place_of: HashMap<&str, usize> = known
            .map(|(place, host)| (host.name.as_str(), place))
            .collect();
        let mut ranks_on = vec![Vec::new(); self.hosts.len()];
        for (rank, host) in host_of_rank.iter().enumerate() {
            let place = place_of
                .get(host.as_str())
                .ok_or_else(|| Mismatch::UnknownHost {
                    host: host.clone(),
                    rank,
                })?;
            ranks_on[*place].push(rank);
        }
        Ok(ranks_on)
    }

    /// Replaces the ranks on the hosts, and leaves out parts without ranks.
    pub(super) fn with_ranks(&self, ranks_on: &[Vec<usize>]) -> Contents {
        let mut contents = Contents {
            tolerance: self.tolerance,
            ..Contents::default()
        };
        let mut kept: List<Cluster, Cluster> = List::new();
        for (old, cluster) in self.clusters.iter_enumerated() {
            let hosts: Vec<usize> = cluster
                .hosts
                .iter()
                .copied()
                .filter(|&host| !ranks_on[host].is_empty())
                .collect();
            let lowest = hosts
                .iter()
                .filter_map(|&host| ranks_on[host].first())
                .min();
            let Some(&leader) = lowest else { continue };
            kept.push(old);
            let first = contents.hosts.len();
            contents.hosts.extend(hosts.iter().map(|&host| Host {
                name: self.hosts[host].name.clone(),
                ranks: ranks_on[host].clone(),
            }));
            contents.clusters.push(PlatformCluster {
                hosts: (first..contents.hosts.len()).collect(),
                leader,
                ..cluster.clone()
            });
        }
        for (from, &old_from) in kept.iter_enumerated() {
            for (to, &old_to) in kept.iter_enumerated() {
                if let Some(link) = self.links.get(&(old_from, old_to)) {
                    contents.links.insert((from, to), link.clone());
                }
            }
        }
        contents
    }
}
