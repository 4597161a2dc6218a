//! Assignment of a job's hosts to the hosts of a recorded placement.
//!
//! ```text
//!   the host with the same name
//!     else the next one with the same shape and number of processes,
//!          in the cluster that replaces its cluster
//! ```

use std::collections::{BTreeMap, HashSet};

use crate::allocation::error::AllocationError;
use crate::allocation::job::Allocation;
use crate::allocation::remap::Part;
use treepie_base::{Cluster, Leaf};
use treepie_topology::Topology;

/// Criterion of similar hosts: number of processes, and the tree of their cores.
pub(super) type Similarity = (usize, Vec<usize>);

impl Allocation {
    /// Assigns a host to each part: the host with the same name, or else the next similar host. If
    /// clusters are known both now and in the record, parts of one cluster stay in one.
    pub(super) fn matched(
        &self,
        topology: &Topology,
        parts: &[&Part],
    ) -> Result<Vec<usize>, AllocationError> {
        if parts.len() != self.hosts.len() {
            return Err(AllocationError::Hosts {
                recorded: parts.len(),
                job: self.hosts.len(),
            });
        }
        let hosts: Vec<Similarity> = (0..self.hosts.len())
            .map(|host| self.similarity(host))
            .collect();
        let mut host_of_part: Vec<Option<usize>> =
            parts.iter().map(|part| self.named(part)).collect();
        let mut taken: HashSet<usize> = host_of_part.iter().flatten().copied().collect();
        if taken.len() == parts.len() {
            return Ok(host_of_part.into_iter().flatten().collect());
        }
        let cluster_of_part = self.clusters_of(topology, parts, &host_of_part, &hosts)?;
        for (place, part) in parts.iter().enumerate() {
            if host_of_part[place].is_some() {
                continue;
            }
            let required = similarity(topology, part);
            let fits = |host: &usize| {
                let cluster = cluster_of_part.as_ref().map(|of| of[place]);
                !taken.contains(host)
                    && hosts[*host] == required
                    && cluster.is_none_or(|cluster| self.cluster_of(*host) == Some(cluster))
            };
            let Some(host) = (0..hosts.len()).find(fits) else {
                return Err(AllocationError::Host {
                    host: part.name.clone().unwrap_or_else(|| "its machine".into()),
                    cores: part.leaves.len(),
                    ranks: part.used.len(),
                });
            };
            taken.insert(host);
            host_of_part[place] = Some(host);
        }
        Ok(host_of_part.into_iter().flatten().collect())
    }

    /// The host with a part's name, if it has the same number of processes.
    fn named(&self, part: &Part) -> Option<usize> {
        let name = part.name.as_ref()?;
        let host = self.hosts.iter().position(|host| host.name == *name)?;
        (self.hosts[host].processes.len() == part.used.len()).then_some(host)
    }

    pub(super) fn similarity(&self, host: usize) -> Similarity {
        let leaves: Vec<Leaf> = self.leaves_of(host).collect();
        (
            self.hosts[host].processes.len(),
            shape(&self.topology, &leaves),
        )
    }

    /// The cluster of a host, if known.
    fn cluster_of(&self, host: usize) -> Option<Cluster> {
        let depth = self.topology.cluster_depth()?;
        let first = self.leaves_of(host).next()?;
        Some(Cluster(self.topology.ancestor(first, depth)))
    }

    /// Assigns a cluster of the job to each cluster of the parts: the one that already has one of
    /// its hosts, or else the next one with similar hosts. `None` if clusters are not known, now or
    /// in the record.
    fn clusters_of(
        &self,
        topology: &Topology,
        parts: &[&Part],
        host_of_part: &[Option<usize>],
        hosts: &[Similarity],
    ) -> Result<Option<Vec<Cluster>>, AllocationError> {
        let (Some(depth), Some(_)) = (topology.cluster_depth(), self.topology.cluster_depth())
        else {
            return Ok(None);
        };
        let recorded = |part: &Part| Cluster(topology.ancestor(part.leaves[0], depth));
        let mut now: BTreeMap<Cluster, Vec<&Similarity>> = BTreeMap::new();
        for (host, similarity) in hosts.iter().enumerate() {
            now.entry(self.cluster_of(host).unwrap_or_default())
                .or_default()
                .push(similarity);
        }
        let mut then: BTreeMap<Cluster, Vec<Similarity>> = BTreeMap::new();
        let mut found: BTreeMap<Cluster, Cluster> = BTreeMap::new();
        for (part, host) in parts.iter().zip(host_of_part) {
            then.entry(recorded(part))
                .or_default()
                .push(similarity(topology, part));
            if let Some(cluster) = host.and_then(|host| self.cluster_of(host)) {
                found.insert(recorded(part), cluster);
            }
        }
        for similarities in now.values_mut() {
            similarities.sort_unstable();
        }
        for (old, mut similarities) in then {
            if found.contains_key(&old) {
                continue;
            }
            similarities.sort_unstable();
            let free = now
                .iter()
                .filter(|(new, _)| !found.values().any(|taken| taken == *new));
            let similar = free.filter(|(_, hosts)| hosts.iter().copied().eq(&similarities));
            let Some(new) = similar.map(|(new, _)| *new).next() else {
                return Err(AllocationError::Cluster {
                    hosts: similarities.len(),
                });
            };
            found.insert(old, new);
        }
        Ok(Some(
            parts.iter().map(|part| found[&recorded(part)]).collect(),
        ))
    }
}

pub(super) fn similarity(topology: &Topology, part: &Part) -> Similarity {
    (part.used.len(), shape(topology, &part.leaves))
}

/// Shape of the tree above consecutive leaves: the number of levels up to where each leaf joins the
/// next. Levels with one child each make no difference.
fn shape(topology: &Topology, leaves: &[Leaf]) -> Vec<usize> {
    let heights: Vec<usize> = leaves
        .windows(2)
        .map(|pair| topology.depth() - topology.common_level(pair[0], pair[1]))
        .collect();
    let mut known = heights.clone();
    known.sort_unstable();
    known.dedup();
    let rank = |height: &usize| known.iter().position(|other| other == height).unwrap_or(0);
    let mut shape: Vec<usize> = heights.iter().map(rank).collect();
    shape.push(leaves.len());
    shape
}
