//! Hosts of a job, and the core of each process.

use std::collections::HashMap;
use std::sync::Arc;

use crate::allocation::error::AllocationError;
use crate::allocation::occupied::{occupy, only};
use crate::binding::LaunchedProcess;
use crate::hardware::Hardware;
use crate::target::nodes::NetworkNodes;
use treepie_base::{Leaf, List, Process, Rank, Slice};
use treepie_platform::{Platform, with_measured_distances};
use treepie_topology::networks::Site;
use treepie_topology::{Machine, Topology, TopologyError};
use treepie_traffic::Matrix;

/// A host of the job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) name: String,
    /// Its processes, ascending.
    pub(super) processes: Vec<Process>,
    /// Cores that each process may use, by the numbers of the leaves.
    pub(super) allowed: Vec<Vec<usize>>,
}

/// The hosts of a job that has just been launched, and the core of each process.
#[derive(Debug, Clone, PartialEq)]
pub struct Allocation {
    /// The hosts under one root, or under the clusters below it.
    pub(super) topology: Topology,
    /// The depth of the hosts in the tree.
    pub(super) host_depth: usize,
    /// The hosts in the order of the tree.
    pub(super) hosts: Vec<Host>,
    pub(super) leaf_of_process: List<Process, Leaf>,
    /// Positions of the hosts on a network that is not a tree.
    pub(super) network: Option<OnNetwork>,
}

/// A network and the hosts of a job on it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OnNetwork {
    pub(super) site: Site,
    pub(super) nodes: NetworkNodes,
}

impl Allocation {
    /// Builds the allocation of `processes`, in the order of the launcher's world. `machine_of`
    /// returns the hardware of a host if it could be read; any other host is assumed to have
    /// exactly the cores that its processes may use, all alike.
    ///
    /// A process that is bound to one core gets that core. The others get the remaining cores of
    /// their host in order; if there are fewer cores than processes, several processes share one.
    ///
    /// # Errors
    /// There are more cores than a topology can have, or the network, if one is known (see
    /// `network_of` and [`Platform::network`]), lacks a host.
    pub fn new(
        processes: &Slice<Process, LaunchedProcess>,
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
        let mut leaf_of_process = List::from(vec![Leaf(0); processes.len()]);
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

    /// Locates the hosts on a network that is not a tree: by their names, or in their order if the
    /// network has no names.
    ///
    /// # Errors
    /// A host is not in the network, or there are more hosts than nodes.
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

    /// Replaces distances by the times that a platform, whose clusters the allocation has, takes
    /// for messages of `bytes` bytes.
    ///
    /// # Errors
    /// `None` if the clusters are not those of the platform.
    pub fn measured(&self, platform: &Platform, bytes: u64) -> Result<Self, AllocationError> {
        Ok(Allocation {
            topology: with_measured_distances(self.topology.clone(), platform, bytes)?,
            ..self.clone()
        })
    }

    /// Positions of the hosts on a network that is not a tree.
    pub fn network(&self) -> Option<&NetworkNodes> {
        self.network.as_ref().map(|network| &network.nodes)
    }

    /// Cost of ranks on leaves: DistComm, and bytes times links on a network that is not a tree.
    ///
    /// # Panics
    /// Panics if `leaf_of_rank` is not a list of leaves of the ranks.
    pub fn cost(&self, matrix: &Matrix, leaf_of_rank: &Slice<Rank, Leaf>) -> f64 {
        self.hardware().hop_bytes(matrix, leaf_of_rank)
    }

    /// The tree of all hosts.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The tree of all hosts and their positions on a network.
    pub(super) fn hardware(&self) -> Hardware<'_> {
        Hardware {
            topology: &self.topology,
            network: self.network(),
        }
    }

    /// The leaf of each process.
    pub fn leaf_of_process(&self) -> &Slice<Process, Leaf> {
        &self.leaf_of_process
    }

    /// Depth below which parts of the same shape are interchangeable, being equally far from all
    /// other parts: the depth of the hosts on a network that is not a tree.
    pub fn alike_below(&self) -> usize {
        self.network().map_or(0, |_| self.host_depth)
    }

    /// The leaves of a host.
    pub(super) fn leaves_of(&self, host: usize) -> impl ExactSizeIterator<Item = Leaf> + use<> {
        self.topology.leaves_below(self.host_depth, host)
    }

    /// The core of a process among those of its host, if it is bound to that core alone.
    pub(super) fn bound_to(&self, host: usize, place: usize) -> Option<usize> {
        let allowed = &self.hosts[host].allowed[place];
        let leaves = self.leaves_of(host).enumerate();
        only(leaves.filter_map(|(core, leaf)| {
            let number = self.topology.leaf(leaf).os_index?;
            allowed.contains(&number).then_some(core)
        }))
    }
}

/// The hosts in the order of their first processes.
pub(super) fn hosts_of(processes: &Slice<Process, LaunchedProcess>) -> Vec<Host> {
    let mut place_of: HashMap<&str, usize> = HashMap::new();
    let mut hosts: Vec<Host> = Vec::new();
    for (process, at) in processes.iter_enumerated() {
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

/// Replaces each hardware thread by the first thread of its core, which gives a leaf its number.
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

/// Builds a machine of which only the cores that the job may use are known.
fn flat(host: &Host) -> Result<Topology, TopologyError> {
    let mut cores: Vec<usize> = host.allowed.iter().flatten().copied().collect();
    cores.sort_unstable();
    cores.dedup();
    match cores.is_empty() {
        true => Topology::from_arities(&host.processes.len().to_string()),
        false => Topology::from_arities(&cores.len().to_string())?.with_os_indices(&cores),
    }
}
