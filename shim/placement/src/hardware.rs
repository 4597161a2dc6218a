//! Hardware on which ranks are placed, and the costs of placements.

use crate::objective::hop_bytes::dist_comm;
use crate::objective::links::{link_lengths, link_loads};
use crate::objective::network::{hop_bytes, max_link_load};
use crate::target::nodes::NetworkNodes;
use treepie_base::{Leaf, Rank, Slice};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// A tree of hardware, whose nodes may be on a network that is not a tree. Distances and links of
/// nodes are then those of the network.
#[derive(Debug, Clone, Copy)]
pub struct Hardware<'a> {
    /// The tree, with its usable leaves.
    pub topology: &'a Topology,
    /// Positions of its nodes on a network that is not a tree.
    pub network: Option<&'a NetworkNodes>,
}

impl<'a> From<&'a Topology> for Hardware<'a> {
    fn from(topology: &'a Topology) -> Self {
        Hardware {
            topology,
            network: None,
        }
    }
}

impl Hardware<'_> {
    /// Hop-bytes: DistComm on the tree, or bytes times links between nodes on the network.
    ///
    /// # Panics
    /// Panics if `leaf_of_rank` is not a list of leaves of the ranks.
    pub fn hop_bytes(self, matrix: &Matrix, leaf_of_rank: &Slice<Rank, Leaf>) -> f64 {
        match self.network {
            Some(nodes) => hop_bytes(matrix, self.topology, nodes, leaf_of_rank),
            None => dist_comm(matrix, self.topology, leaf_of_rank),
        }
    }

    /// Congestion: the maximum link load, in a tree times the length of the link, in a network
    /// divided by its capacity. In a tree, links of single leaves are left out if there are others.
    ///
    /// # Panics
    /// See [`Hardware::hop_bytes`].
    pub fn max_link_load(self, matrix: &Matrix, leaf_of_rank: &Slice<Rank, Leaf>) -> f64 {
        if let Some(nodes) = self.network {
            return max_link_load(matrix, self.topology, nodes, leaf_of_rank);
        }
        let loads = link_loads(matrix, self.topology, leaf_of_rank);
        let above_leaves = (self.topology.depth() - 1).max(1);
        let weighted = loads.iter().zip(link_lengths(self.topology));
        weighted
            .take(above_leaves)
            .map(|(link, length)| link.load() * length)
            .fold(0.0, f64::max)
    }
}
