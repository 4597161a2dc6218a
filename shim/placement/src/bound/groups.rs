//! The groups into which one level of a tree divides the ranks.

use treepie_topology::Topology;

/// Numbers of ranks that the nodes of one depth take, one rank for each usable leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Groups {
    ranks: usize,
    /// Numbers of usable leaves of the nodes that have any.
    sizes: Vec<usize>,
}

impl Groups {
    /// The groups of `ranks` ranks at `depth`.
    pub(super) fn at(topology: &Topology, depth: usize, ranks: usize) -> Self {
        let usable = |node: usize| {
            let leaves = topology.leaves_below(depth, node);
            leaves
                .filter(|&leaf| !topology.leaf(leaf).forbidden)
                .count()
        };
        let sizes = (0..topology.node_count(depth)).map(usable);
        Groups {
            ranks,
            sizes: sizes.filter(|&size| size > 0).collect(),
        }
    }

    /// Number of ranks in all groups together.
    pub(super) fn ranks(&self) -> usize {
        self.ranks
    }

    /// Maximum number of ranks in a group.
    pub(super) fn largest(&self) -> usize {
        self.sizes.iter().copied().max().unwrap_or(0)
    }

    /// True if all groups have the same size and are full in every placement.
    pub(super) fn equal_and_full(&self) -> bool {
        self.full() && self.sizes.iter().all(|&size| size == self.largest())
    }

    fn full(&self) -> bool {
        self.sizes.iter().sum::<usize>() == self.ranks
    }

    /// Lower bound of the cost of all groups, if `least(k)` is one of the cost of a group of `k`
    /// ranks: the sum if all groups are full, else the least cost per rank times the ranks.
    pub(super) fn sum(&self, least: impl Fn(usize) -> f64) -> f64 {
        if self.full() {
            let mut sizes = self.sizes.clone();
            sizes.sort_unstable();
            let equal = sizes.chunk_by(|a, b| a == b);
            return equal
                .map(|group| group.len() as f64 * least(group[0]))
                .sum();
        }
        let shares = (1..=self.largest()).map(|size| least(size) / size as f64);
        self.ranks as f64 * shares.reduce(f64::min).unwrap_or(0.0)
    }
}
