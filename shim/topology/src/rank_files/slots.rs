//! Slot of each rank in the terms of launchers: host, socket, core.

use std::collections::HashMap;

use thiserror::Error;

use crate::tree::Topology;
use treepie_base::printable::one_line;
use treepie_base::{Leaf, List, Rank, Slice};

/// The core of one rank in the terms of launchers. All numbers are logical, counted from 0 from the
/// left of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LauncherSlot {
    /// Name of the host.
    pub host: String,
    /// Number of the host among those of the topology.
    pub node: usize,
    /// Number of the socket on its host; 0 if the tree has no sockets.
    pub socket: usize,
    /// Number of the core on its socket, or on its host if there are no sockets.
    pub core_of_socket: usize,
    /// Number of the leaf on its host.
    pub leaf_of_host: usize,
    /// Number of the leaf in the host's operating system.
    pub os_index: Option<usize>,
}

/// Reason why a placement has no slots.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SlotError {
    /// The topology is a bare shape.
    #[error(
        "core {leaf} of the topology belongs to no named host, and a launcher needs names; give them \
         with --hosts, or map with a topology that names its machines"
    )]
    NoHost {
        /// The leaf.
        leaf: Leaf,
    },
    /// The number of names differs from the number of hosts of the tree.
    #[error("{given} host names for {nodes} nodes; give one name for each node, from the left")]
    HostCount {
        /// Names given.
        given: usize,
        /// Nodes in the topology.
        nodes: usize,
    },
    /// A host has a name that would become several words in a launcher's file.
    #[error(
        "host `{}` has a name that no launcher's file can carry: letters, digits, `-`, `_` and `.` \
         are expected; correct the topology, or give names with --hosts",
        one_line(name)
    )]
    HostName {
        /// The name.
        name: String,
    },
    /// A rank is on a leaf that the tree does not have.
    #[error("rank {rank} is on core {leaf}, and the topology has {leaves} cores; map again")]
    NoLeaf {
        /// The rank.
        rank: Rank,
        /// Its leaf.
        leaf: Leaf,
        /// Number of leaves.
        leaves: usize,
    },
}

/// Computes the slot of each rank; `leaf_of_rank` is that of a placement. `hosts` names the nodes
/// of a bare shape from the left; it overrides the names of the topology.
///
/// # Errors
/// See `SlotError`.
pub fn slots(
    topology: &Topology,
    leaf_of_rank: &Slice<Rank, Leaf>,
    hosts: Option<&[String]>,
) -> Result<List<Rank, LauncherSlot>, SlotError> {
    let machines = Machines::new(topology, hosts)?;
    let socket_depth = depth_of(topology, &["socket", "package"]);
    let core_depth = depth_of(topology, &["core"]).unwrap_or(topology.depth());
    let mut slots = List::with_capacity(leaf_of_rank.len());
    for (rank, &leaf) in leaf_of_rank.iter_enumerated() {
        if leaf.0 >= topology.leaf_count() {
            let leaves = topology.leaf_count();
            return Err(SlotError::NoLeaf { rank, leaf, leaves });
        }
        let node = machines.node_of_leaf[leaf];
        let first = machines.first_leaf[node];
        let (socket, first_of_socket) = match socket_depth {
            None => (0, first),
            Some(depth) => {
                let socket = topology.ancestor(leaf, depth);
                let below = topology.leaf_range(depth, socket);
                (socket - topology.ancestor(first, depth), Leaf(below.start))
            }
        };
        let core = |leaf| topology.ancestor(leaf, core_depth);
        slots.push(LauncherSlot {
            host: machines.names[node].clone(),
            node,
            socket,
            core_of_socket: core(leaf) - core(first_of_socket),
            leaf_of_host: leaf.0 - first.0,
            os_index: topology.leaf(leaf).os_index,
        });
    }
    Ok(slots)
}

/// The hosts of a tree and their leaves.
struct Machines {
    names: Vec<String>,
    first_leaf: Vec<Leaf>,
    node_of_leaf: List<Leaf, usize>,
}

impl Machines {
    fn new(topology: &Topology, hosts: Option<&[String]>) -> Result<Self, SlotError> {
        let mut machines = match hosts {
            Some(names) => Machines::named(topology, names)?,
            None => Machines::by_host(topology)?,
        };
        if let Some(name) = machines.names.iter().find(|name| !is_host_name(name)) {
            return Err(SlotError::HostName { name: name.clone() });
        }
        machines.first_leaf = vec![Leaf(usize::MAX); machines.names.len()];
        for (leaf, &node) in machines.node_of_leaf.iter_enumerated() {
            let first = &mut machines.first_leaf[node];
            *first = leaf.min(*first);
        }
        Ok(machines)
    }

    /// The nodes of the level with that name, or of the level below the root.
    fn named(topology: &Topology, names: &[String]) -> Result<Self, SlotError> {
        let depth = match names.len() {
            1 => 0,
            _ => depth_of(topology, &["node", "host", "machine"]).unwrap_or(1),
        };
        let nodes = topology.node_count(depth);
        if nodes != names.len() {
            let given = names.len();
            return Err(SlotError::HostCount { given, nodes });
        }
        let leaves = topology.leaves().keys();
        Ok(Machines {
            names: names.to_vec(),
            first_leaf: Vec::new(),
            node_of_leaf: leaves.map(|leaf| topology.ancestor(leaf, depth)).collect(),
        })
    }

    fn by_host(topology: &Topology) -> Result<Self, SlotError> {
        let mut number_of: HashMap<&str, usize> = HashMap::new();
        let mut names = Vec::new();
        let mut node_of_leaf = List::with_capacity(topology.leaf_count());
        for (number, leaf) in topology.leaves().iter_enumerated() {
            let host = leaf.host.as_deref();
            let host = host.ok_or(SlotError::NoHost { leaf: number })?;
            let node = *number_of.entry(host).or_insert_with(|| {
                names.push(host.to_owned());
                names.len() - 1
            });
            node_of_leaf.push(node);
        }
        Ok(Machines {
            names,
            first_leaf: Vec::new(),
            node_of_leaf,
        })
    }
}

fn is_host_name(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    !name.is_empty() && name.chars().all(is_plain)
}

/// Depth of the nodes of the first level that has one of these names.
fn depth_of(topology: &Topology, names: &[&str]) -> Option<usize> {
    let mut levels = topology.levels().iter();
    let level = levels.position(|level| names.contains(&level.name.as_str()))?;
    Some(level + 1)
}
