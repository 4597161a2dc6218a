//! Costs of a placement on a network: bytes times links, the most loaded link, and the lower bound
//! for any routing.

use crate::target::nodes::NetworkNodes;
use treepie_base::{Leaf, Rank, Slice};
use treepie_topology::Topology;
use treepie_topology::networks::{Floor, Loads, Partition};
use treepie_traffic::Matrix;

/// Hop-bytes: the sum over pairs of ranks of affinity times the distance of their nodes, each pair
/// once, like [`crate::objective::dist_comm`] on trees. Ranks of one node cost nothing.
///
/// # Panics
/// Panics if `leaf_of_rank` is not a list of leaves of the ranks.
pub fn hop_bytes(
    matrix: &Matrix,
    topology: &Topology,
    nodes: &NetworkNodes,
    leaf_of_rank: &Slice<Rank, Leaf>,
) -> f64 {
    let node_of = nodes.node_of_leaf(topology);
    let node = |rank: usize| node_of[leaf_of_rank[Rank(rank)]] as usize;
    let cost = |(from, to, value): (usize, usize, f64)| {
        value * f64::from(nodes.distance(node(from), node(to)))
    };
    matrix.entries().map(cost).sum::<f64>() / 2.0
}

/// Traffic between positions of the network: from, to, amount. Traffic inside a node or between
/// nodes at one position is left out.
///
/// # Panics
/// See [`hop_bytes`].
pub fn link_traffic(
    matrix: &Matrix,
    topology: &Topology,
    nodes: &NetworkNodes,
    leaf_of_rank: &Slice<Rank, Leaf>,
) -> Vec<(usize, usize, f64)> {
    let node_of = nodes.node_of_leaf(topology);
    let position = |rank: usize| nodes.position(node_of[leaf_of_rank[Rank(rank)]] as usize);
    let all = matrix.entries();
    let all = all.map(|(from, to, value)| (position(from), position(to), value));
    all.filter(|(from, to, value)| from != to && *value > 0.0)
        .collect()
}

/// Load of the most loaded link, divided by its capacity.
///
/// # Panics
/// See [`hop_bytes`].
pub(crate) fn max_link_load(
    matrix: &Matrix,
    topology: &Topology,
    nodes: &NetworkNodes,
    leaf_of_rank: &Slice<Rank, Leaf>,
) -> f64 {
    let traffic = link_traffic(matrix, topology, nodes, leaf_of_rank);
    Loads::new(nodes.network(), traffic).most_load
}

/// All measures of one placement.
#[derive(Debug, Clone, PartialEq)]
pub struct Measures {
    /// Hop-bytes.
    pub hop_bytes: f64,
    /// Loads of all links by the stated routing.
    pub loads: Loads,
    /// Lower bound of the load of the most loaded link under any routing.
    pub floor: Floor,
}

impl Measures {
    /// Measures a placement.
    ///
    /// # Panics
    /// See [`hop_bytes`].
    pub fn new(
        matrix: &Matrix,
        topology: &Topology,
        nodes: &NetworkNodes,
        leaf_of_rank: &Slice<Rank, Leaf>,
    ) -> Self {
        let traffic = link_traffic(matrix, topology, nodes, leaf_of_rank);
        let network = nodes.network();
        Measures {
            hop_bytes: hop_bytes(matrix, topology, nodes, leaf_of_rank),
            floor: Floor::new(&Partition::all(network), &traffic),
            loads: Loads::new(network, traffic),
        }
    }
}
