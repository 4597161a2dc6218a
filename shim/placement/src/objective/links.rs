//! Load of each link of the tree.

use treepie_base::{Leaf, Rank, Slice};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// The most loaded link of one level of a tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkLoad {
    /// The node below the link, counted from the left among those of its level.
    pub node: usize,
    /// Bytes or messages sent over the link by the ranks below it.
    pub sent: f64,
    /// Bytes or messages received over the link by the ranks below it.
    pub received: f64,
}

impl LinkLoad {
    /// Load of the busier direction: links carry both at the same time.
    pub fn load(&self) -> f64 {
        self.sent.max(self.received)
    }
}

/// The load of every link, from the root: element `d` has one entry for each node at depth `d + 1`,
/// for the link between it and its parent.
///
/// # Panics
/// Panics if `leaf_of_rank` is not a list of leaves of the ranks.
pub fn all_link_loads(
    matrix: &Matrix,
    topology: &Topology,
    leaf_of_rank: &Slice<Rank, Leaf>,
) -> Vec<Vec<LinkLoad>> {
    let depth = topology.depth();
    let idle = |node| LinkLoad {
        node,
        sent: 0.0,
        received: 0.0,
    };
    let mut links: Vec<Vec<LinkLoad>> = (1..=depth)
        .map(|depth| (0..topology.node_count(depth)).map(idle).collect())
        .collect();
    for (from, to, value) in matrix.entries() {
        let (Leaf(mut a), Leaf(mut b)) = (leaf_of_rank[Rank(from)], leaf_of_rank[Rank(to)]);
        for at in (0..depth).rev() {
            if a == b {
                break;
            }
            links[at][a].sent += value;
            links[at][b].received += value;
            a = topology.parent(at + 1, a);
            b = topology.parent(at + 1, b);
        }
    }
    links
}

/// The most loaded link of every level, from the root: element `d` is for the links between depth
/// `d` and `d + 1`. Of equally loaded links the first.
///
/// # Panics
/// Panics if `leaf_of_rank` is not a list of leaves of the ranks.
pub fn link_loads(
    matrix: &Matrix,
    topology: &Topology,
    leaf_of_rank: &Slice<Rank, Leaf>,
) -> Vec<LinkLoad> {
    let most_loaded = |level: &Vec<LinkLoad>| {
        let mut most = level[0];
        for link in level {
            if link.load() > most.load() {
                most = *link;
            }
        }
        most
    };
    let links = all_link_loads(matrix, topology, leaf_of_rank);
    links.iter().map(most_loaded).collect()
}

/// Length of a link of every level, from the root: the distances of the levels are sums of the
/// lengths of the links on the way up and down. With hops, every link has length 1.
pub(crate) fn link_lengths(topology: &Topology) -> Vec<f64> {
    let distances = topology.level_distances();
    let deeper = distances.iter().skip(1).chain([&0.0]);
    let lengths = distances.iter().zip(deeper);
    lengths.map(|(here, below)| (here - below) / 2.0).collect()
}
