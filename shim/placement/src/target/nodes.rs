//! The nodes of a job on a network.

use std::sync::Arc;

use crate::error::PlacementError;
use treepie_base::{Leaf, List};
use treepie_topology::networks::{Network, NetworkError};
use treepie_topology::{Topology, TopologyError};

/// Positions of the nodes of a topology on a network.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkNodes {
    network: Arc<Network>,
    positions: Vec<u32>,
    depth: usize,
}

impl NetworkNodes {
    /// Creates the nodes at `depth` of `topology`, of which the `i`-th is at `positions[i]`.
    ///
    /// # Errors
    /// The number of positions differs from that of nodes, or a position does not exist.
    pub fn new(
        network: Arc<Network>,
        topology: &Topology,
        depth: usize,
        positions: &[usize],
    ) -> Result<Self, PlacementError> {
        let nodes = topology.node_count(depth);
        if positions.len() != nodes {
            return Err(TopologyError::WrongCount {
                what: "positions",
                found: positions.len(),
                expected: format!("{nodes} nodes"),
            }
            .into());
        }
        if let Some(&position) = positions.iter().find(|&&p| p >= network.positions()) {
            return Err(NetworkError::OutOfRange {
                what: "the position of a node".to_owned(),
                found: position.to_string(),
                expected: format!("below {}", network.positions()),
            }
            .into());
        }
        Ok(NetworkNodes {
            positions: positions.iter().map(|&position| position as u32).collect(),
            network,
            depth,
        })
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Depth of the nodes in the topology.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Number of nodes.
    pub fn count(&self) -> usize {
        self.positions.len()
    }

    /// Position of a node.
    ///
    /// # Panics
    /// Panics if there is no such node.
    pub fn position(&self, node: usize) -> usize {
        self.positions[node] as usize
    }

    /// Distance between two nodes: 0 for a node and itself, else that of their positions.
    ///
    /// # Panics
    /// Panics if there is no such node.
    pub fn distance(&self, a: usize, b: usize) -> u32 {
        match a == b {
            true => 0,
            false => self.network.distance(self.position(a), self.position(b)),
        }
    }

    /// The node of every leaf.
    pub(crate) fn node_of_leaf(&self, topology: &Topology) -> List<Leaf, u32> {
        let mut node_of = List::from(vec![0; topology.leaf_count()]);
        for node in 0..topology.node_count(self.depth) {
            let leaves = topology.leaf_range(self.depth, node);
            node_of.raw[leaves].fill(node as u32);
        }
        node_of
    }
}
