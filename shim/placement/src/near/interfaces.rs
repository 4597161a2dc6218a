//! Distances of cores from the network interfaces of their nodes.

use treepie_base::{Leaf, List, Rank, Slice};
use treepie_topology::{Device, DeviceKind, Topology};
use treepie_traffic::Matrix;

/// Maximum number of cores of a node; pairs of ranks of larger nodes are not examined.
const MOST_CORES: usize = 1 << 13;

/// Distances of the cores from the network interfaces of their nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Interfaces {
    pub(super) depth: usize,
    /// Steps from each leaf; 0 next to an interface, and if no interface of its node is known.
    pub(super) steps: List<Leaf, f64>,
    pub(super) next_to_one: List<Leaf, bool>,
    nodes: usize,
    unknown: usize,
    alike: usize,
}

impl Interfaces {
    /// Measures the distances to the interfaces that `chosen` accepts by the number of the node, at
    /// `depth`: 0 for a tree that is one node.
    ///
    /// # Panics
    /// Panics if `depth` is not above the leaves.
    pub fn new(topology: &Topology, depth: usize, chosen: impl Fn(usize, &Device) -> bool) -> Self {
        let has_one = |leaf: Leaf| {
            let node = topology.ancestor(leaf, depth);
            let mut devices = topology.leaf(leaf).devices.iter();
            devices.any(|device| chosen(node, device))
        };
        let mut found = Interfaces {
            depth,
            steps: vec![0.0; topology.leaf_count()].into(),
            next_to_one: topology.leaves().keys().map(has_one).collect(),
            nodes: topology.node_count(depth),
            unknown: 0,
            alike: 0,
        };
        for node in 0..found.nodes {
            let leaves = topology.leaves_below(depth, node);
            match leaves.clone().filter(|&l| found.next_to_one[l]).count() {
                0 => found.unknown += 1,
                all if all == leaves.len() || leaves.len() > MOST_CORES => found.alike += 1,
                _ => found.measure(topology, node),
            }
        }
        found
    }

    /// Measures the distances to the interfaces that messages between nodes use: those of a fabric,
    /// or any others on nodes without one of a fabric.
    ///
    /// # Panics
    /// See [`Interfaces::new`].
    pub fn of_network(topology: &Topology, depth: usize) -> Self {
        let kind_of = |node: usize| {
            let leaves = topology.leaves_below(depth, node);
            let mut devices = leaves.flat_map(|leaf| topology.leaf(leaf).devices.iter());
            match devices.any(|device| device.kind == DeviceKind::Fabric) {
                true => DeviceKind::Fabric,
                false => DeviceKind::Ethernet,
            }
        };
        let kinds: Vec<DeviceKind> = (0..topology.node_count(depth)).map(kind_of).collect();
        Interfaces::new(topology, depth, |node, device| device.kind == kinds[node])
    }

    /// Climbs from each core of a node to the first part that has an interface.
    fn measure(&mut self, topology: &Topology, node: usize) {
        let leaves = topology.leaves_below(self.depth, node);
        let first = topology.leaf_range(self.depth, node).start;
        let mut up_to = vec![0];
        for leaf in leaves.clone() {
            up_to.push(up_to[leaf.0 - first] + usize::from(self.next_to_one[leaf]));
        }
        for leaf in leaves
            .filter(|&leaf| !self.next_to_one[leaf])
            .collect::<Vec<_>>()
        {
            let has_one = |&depth: &usize| {
                let part = topology.leaf_range(depth, topology.ancestor(leaf, depth));
                up_to[part.start - first] < up_to[part.end - first]
            };
            let common = (self.depth..topology.depth()).rev().find(has_one);
            self.steps[leaf] = common.map_or(0.0, |depth| topology.level_distances()[depth]);
        }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Number of nodes without a known interface.
    pub fn unknown(&self) -> usize {
        self.unknown
    }

    /// Number of nodes whose cores are all next to an interface.
    pub fn alike(&self) -> usize {
        self.alike
    }

    /// True if some core is nearer to an interface than another core of its node.
    pub fn differ(&self) -> bool {
        self.unknown + self.alike < self.nodes
    }

    /// Bytes that leave or enter a node, so that each is counted twice, and the part of these bytes
    /// at cores next to an interface.
    ///
    /// # Panics
    /// Panics if `leaf_of_rank` is not a list of leaves of the ranks.
    pub fn traffic(
        &self,
        bytes: &Matrix,
        topology: &Topology,
        leaf_of_rank: &Slice<Rank, Leaf>,
    ) -> (f64, f64) {
        let outside = self.outside(bytes, topology, leaf_of_rank);
        let at = |(rank, &bytes): (Rank, &f64)| match self.next_to_one[leaf_of_rank[rank]] {
            true => bytes,
            false => 0.0,
        };
        let next_to_one = outside.iter_enumerated().map(at).sum();
        (outside.iter().sum(), next_to_one)
    }

    /// Bytes that each rank sends to and receives from other nodes.
    pub(super) fn outside(
        &self,
        bytes: &Matrix,
        topology: &Topology,
        leaf_of_rank: &Slice<Rank, Leaf>,
    ) -> List<Rank, f64> {
        let node = |rank: Rank| topology.ancestor(leaf_of_rank[rank], self.depth);
        let mut outside = List::from(vec![0.0; bytes.order()]);
        for (from, to, value) in bytes.entries() {
            let (from, to) = (Rank(from), Rank(to));
            if node(from) != node(to) {
                outside[from] += value;
                outside[to] += value;
            }
        }
        outside
    }
}
