//! A job as the launcher has just started it: its hosts, and the core of each process. An earlier
//! placement is remapped to it where the shapes agree, and a new one is computed where a profile
//! says which ranks communicate.
//!
//! ```text
//!   processes, machines, clusters --> Allocation --+--> remapped(recorded placement)
//!                       network ---^               +--> placed(matrix)
//! ```

mod clusters;
mod compute;
mod distances;
mod occupied;
mod remap;
mod similar;
mod sparsify;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use thiserror::Error;

use super::PlacementError;
use super::binding::Process;
use super::networks::{NetworkNodes, hop_bytes};
use super::objective::dist_comm;
use treepie_platform::{Platform, with_measured_distances};
use treepie_topology::networks::{NetworkError, Site};
use treepie_topology::{Machine, Topology, TopologyError};
use treepie_traffic::Matrix;

pub use clusters::network_of;
pub use compute::{Movement, Placed, reordered};
pub use occupied::occupy;
pub use remap::{Recorded, needs_machines};

/// Reason why a placement is not applied to a job as it was launched. Each text goes on after the
/// name of a file.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum AllocationError {
    /// Another number of hosts.
    #[error("is for {recorded} hosts, and the job runs on {job}")]
    Hosts {
        /// Hosts that the placement uses.
        recorded: usize,
        /// Hosts of the job.
        job: usize,
    },
    /// No host of the job is like one of the placement's.
    #[error(
        "has {ranks} ranks on {host}, a host of {cores} cores, and no host of the job that is left has \
         such cores and as many processes"
    )]
    Host {
        /// The host of the placement, in words.
        host: String,
        /// Its cores.
        cores: usize,
        /// Ranks there.
        ranks: usize,
    },
    /// No cluster of the job is like one of the placement's.
    #[error(
        "has {hosts} hosts in one cluster, and no cluster of the job that is left has such hosts"
    )]
    Cluster {
        /// Hosts of the placement's cluster.
        hosts: usize,
    },
    /// Not every process has a cluster.
    #[error("{given} processes have a cluster, and the job has {job}; give one number for each")]
    ClustersGiven {
        /// Numbers given.
        given: usize,
        /// Processes of the job.
        job: usize,
    },
    /// A host that is in two clusters.
    #[error(
        "the processes of {host} are in the clusters {first} and {second}; give those of one host one \
         number"
    )]
    Split {
        /// The host.
        host: String,
        /// One cluster.
        first: usize,
        /// The other.
        second: usize,
    },
    /// A bare shape that the hosts do not have.
    #[error("is for {shape}, and the job has {job} processes on its hosts")]
    Shape {
        /// The shape in words.
        shape: String,
        /// Processes of each host, in words.
        job: String,
    },
    /// A process is bound to a core that the placement does not use.
    #[error(
        "has no rank on core {core} of {host}, counted from 0, where process {process} is bound"
    )]
    Core {
        /// The process.
        process: usize,
        /// Its host.
        host: String,
        /// Its core, counted along the tree of the host.
        core: usize,
    },
    /// Another number of processes.
    #[error("is for {recorded} processes, and the job has {job}")]
    Count {
        /// In the placement.
        recorded: usize,
        /// In the job.
        job: usize,
    },
    /// The ranks cannot be placed.
    #[error("cannot be placed on the hosts of this job: {0}")]
    Placement(#[from] PlacementError),
    /// The hosts make no tree.
    #[error("the hosts of this job make no tree: {0}")]
    Topology(#[from] TopologyError),
    /// The hosts are not on the network.
    #[error(transparent)]
    Network(#[from] NetworkError),
}

/// A host of the job.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Host {
    name: String,
    /// Its processes, ascending.
    processes: Vec<usize>,
    /// The cores that each of them may use, by the numbers of the leaves.
    allowed: Vec<Vec<usize>>,
}

/// The hosts of a job that has just been launched, and the core of each process.
#[derive(Debug, Clone, PartialEq)]
pub struct Allocation {
    /// The hosts under one root, or under the clusters below it.
    topology: Topology,
    /// The depth of the hosts in the tree.
    host_depth: usize,
    /// The hosts in the order of the tree.
    hosts: Vec<Host>,
    leaf_of_process: Vec<usize>,
    /// Where the hosts are on a network that is no tree.
    network: Option<OnNetwork>,
}

/// A network, and the hosts of a job on it.
#[derive(Debug, Clone, PartialEq)]
struct OnNetwork {
    site: Site,
    nodes: NetworkNodes,
}

impl Allocation {
    /// The allocation of `processes`, in the order of the launcher's world.
    /// `machine_of` is the hardware of a host, where it could be read; other hosts
    /// are taken to have the cores that their processes may use, all alike.
    ///
    /// A process that is bound to one core has it. The others get the cores of
    /// their host in order, and where these are fewer, several share one.
    ///
    /// # Errors
    /// More cores than a topology can have; a host that the network, where one is known
    /// (see [`network_of`] and [`Platform::network`]), does not have.
    pub fn new(
        processes: &[Process],
        machine_of: impl Fn(&str) -> Option<Machine>,
        network: Option<&Topology>,
    ) -> Result<Self, AllocationError> {
        let mut hosts = hosts_of(processes);
        let mut machines = Vec::with_capacity(hosts.len());
        for host in &mut hosts {
            let known = machine_of(&host.name);
            if let Some(machine) = &known {
                by_first_unit(machine, &mut host.allowed);
            }
            let tree = match known {
                Some(machine) => machine.topology().clone(),
                None => flat(host)?,
            };
            machines.push((host.name.clone(), tree));
        }
        let (topology, host_depth) = match network {
            None => (Topology::cluster(machines)?, 1),
            Some(network) => (Topology::networked(network, machines)?, network.depth()),
        };
        let known = topology.hosts().into_iter().enumerate();
        let place_of: HashMap<&str, usize> = known.map(|(place, host)| (host, place)).collect();
        hosts.sort_by_key(|host| place_of.get(host.name.as_str()).copied());
        let mut leaf_of_process = vec![0; processes.len()];
        for (number, host) in hosts.iter().enumerate() {
            let leaves = topology.leaves_below(host_depth, number).collect();
            let leaves = occupy(&topology, leaves, &host.allowed);
            for (&process, leaf) in host.processes.iter().zip(leaves) {
                leaf_of_process[process] = leaf;
            }
        }
        Ok(Allocation {
            topology,
            host_depth,
            hosts,
            leaf_of_process,
            network: None,
        })
    }

    /// The same with its hosts on a network that is no tree: by their names, or in their order
    /// where the network has none.
    ///
    /// # Errors
    /// A host that is not in the network; more hosts than it has nodes.
    pub fn on_network(self, site: Site) -> Result<Self, AllocationError> {
        let names: Vec<&str> = self.hosts.iter().map(|host| host.name.as_str()).collect();
        let positions = site.positions_of(&names)?;
        let network = Arc::new(site.network().clone());
        let nodes = NetworkNodes::new(network, &self.topology, self.host_depth, &positions)?;
        Ok(Allocation {
            network: Some(OnNetwork { site, nodes }),
            ..self
        })
    }

    /// The same with the times of a platform, whose clusters it has, for messages of so
    /// many bytes as distances.
    ///
    /// # Errors
    /// None where the clusters are those of the platform.
    pub fn measured(&self, platform: &Platform, bytes: u64) -> Result<Self, AllocationError> {
        Ok(Allocation {
            topology: with_measured_distances(self.topology.clone(), platform, bytes)?,
            ..self.clone()
        })
    }

    /// Where the hosts are on a network that is no tree.
    pub fn network(&self) -> Option<&NetworkNodes> {
        self.network.as_ref().map(|network| &network.nodes)
    }

    /// Cost of ranks on leaves: DistComm, and bytes times links on a network that is no tree.
    ///
    /// # Panics
    /// If `leaf_of_rank` is no list of leaves of the ranks.
    pub fn cost(&self, matrix: &Matrix, leaf_of_rank: &[usize]) -> f64 {
        match self.network() {
            Some(nodes) => hop_bytes(matrix, &self.topology, nodes, leaf_of_rank),
            None => dist_comm(matrix, &self.topology, leaf_of_rank),
        }
    }

    /// The tree of all hosts.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The leaf of each process.
    pub fn leaf_of_process(&self) -> &[usize] {
        &self.leaf_of_process
    }

    /// The depth below which parts that have the same shape are as far from each other as from all
    /// the same parts: that of the hosts on a network that is no tree.
    pub fn alike_below(&self) -> usize {
        self.network().map_or(0, |_| self.host_depth)
    }

    /// The leaves of a host.
    fn leaves_of(&self, host: usize) -> Range<usize> {
        self.topology.leaves_below(self.host_depth, host)
    }

    /// The leaf of `process` on its host, if it is bound to that one alone.
    fn bound_to(&self, host: usize, place: usize) -> Option<usize> {
        let allowed = &self.hosts[host].allowed[place];
        let leaves = self.leaves_of(host);
        let first = leaves.start;
        only(leaves.filter_map(|leaf| {
            let number = self.topology.leaf(leaf).os_index?;
            allowed.contains(&number).then_some(leaf - first)
        }))
    }
}

/// The item, if there is one and no other.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}

/// The hosts in the order of their first processes.
fn hosts_of(processes: &[Process]) -> Vec<Host> {
    let mut place_of: HashMap<&str, usize> = HashMap::new();
    let mut hosts: Vec<Host> = Vec::new();
    for (process, at) in processes.iter().enumerate() {
        let place = *place_of.entry(&at.host).or_insert_with(|| {
            hosts.push(Host {
                name: at.host.clone(),
                processes: Vec::new(),
                allowed: Vec::new(),
            });
            hosts.len() - 1
        });
        hosts[place].processes.push(process);
        hosts[place].allowed.push(at.allowed.clone());
    }
    hosts
}

/// Replaces each hardware thread by the first one of its core, by which leaves are
/// called.
fn by_first_unit(machine: &Machine, allowed: &mut [Vec<usize>]) {
    for units in allowed {
        let leaves = units.iter().filter_map(|&unit| machine.leaf_of_pu(unit));
        let mut firsts: Vec<usize> = leaves
            .filter_map(|leaf| machine.topology().leaf(leaf).os_index)
            .collect();
        firsts.sort_unstable();
        firsts.dedup();
        *units = firsts;
    }
}

/// A machine of which no more is known than which cores the job may use.
fn flat(host: &Host) -> Result<Topology, TopologyError> {
    let mut cores: Vec<usize> = host.allowed.iter().flatten().copied().collect();
    cores.sort_unstable();
    cores.dedup();
    match cores.is_empty() {
        true => Topology::from_arities(&host.processes.len().to_string()),
        false => Topology::from_arities(&cores.len().to_string())?.with_os_indices(&cores),
    }
}
