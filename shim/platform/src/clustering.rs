//! Logical homogeneous clusters, found from latencies.
//!
//! Lowekamp's greedy algorithm (ECO, 1996), as Algorithm 1 of the thesis. Links
//! are taken from short to long; each joins the groups of its two ends if it is
//! not much longer than the shortest link of either end and of either group:
//!
//! ```text
//!   10 us within A, 10 us within B, 50 us between:      A ====  B ====
//!   the 50 us link is 5 times the shortest of A: refused; two clusters
//! ```
//!
//! Known flaw, kept as in the thesis: a star whose points are far from each other, but all near its
//! middle, is one cluster (thesis figure 3.1). [`Partition::spread`] identifies such clusters.

use treepie_base::{Cluster, List};

use crate::latency::LatencyMatrix;

/// Relative excess over the shortest link that a link of a cluster may have: the value of all
/// experiments of the thesis.
pub const DEFAULT_TOLERANCE: f64 = 0.30;

/// Nodes in clusters. Clusters are in the order of their lowest node, and list
/// their nodes from low to high.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// Nodes of every cluster.
    pub clusters: List<Cluster, Vec<usize>>,
}

impl Partition {
    /// Groups nodes by Lowekamp's criterion with a relative `tolerance`: 0.30
    /// accepts links up to 1.3 times the shortest. Takes O(E log E) for E links.
    pub fn new(latencies: &LatencyMatrix, tolerance: f64) -> Partition {
        let links = latencies.sorted_links();
        let mut groups = Groups::new(latencies.order());
        for &(latency, a, b) in &links {
            groups.note_link(a, b, latency);
        }
        let longest = 1.0 + tolerance.max(0.0);
        for &(latency, a, b) in &links {
            let fits = |shortest: f64| latency <= longest * shortest;
            let (first, second) = (groups.find(a), groups.find(b));
            let of_nodes = fits(groups.of_node[a]) && fits(groups.of_node[b]);
            if first != second && of_nodes && fits(groups.of[first]) && fits(groups.of[second]) {
                groups.join(first, second, latency);
            }
        }
        groups.partition()
    }

    /// Cluster of every node.
    pub fn cluster_of(&self) -> Vec<Cluster> {
        let nodes = self.clusters.iter().map(Vec::len).sum();
        let mut cluster_of = vec![Cluster(0); nodes];
        for (cluster, members) in self.clusters.iter_enumerated() {
            for &node in members {
                cluster_of[node] = cluster;
            }
        }
        cluster_of
    }

    /// For each cluster, the ratio of its longest known inner link to its shortest one: 1 for
    /// homogeneous clusters, much larger for the star of figure 3.1, and `None` for clusters of a
    /// single node.
    pub fn spread(&self, latencies: &LatencyMatrix) -> List<Cluster, Option<f64>> {
        let cluster_of = self.cluster_of();
        let mut ranges: List<Cluster, Option<(f64, f64)>> =
            self.clusters.iter().map(|_| None).collect();
        for (a, b, latency) in latencies.links() {
            if cluster_of[a] == cluster_of[b] {
                let (low, high) = ranges[cluster_of[a]].unwrap_or((latency, latency));
                ranges[cluster_of[a]] = Some((low.min(latency), high.max(latency)));
            }
        }
        let over = |(low, high): (f64, f64)| high / low;
        ranges.into_iter().map(|range| range.map(over)).collect()
    }
}

/// Disjoint sets of nodes, each with its shortest inner link.
struct Groups {
    parent: Vec<usize>,
    size: Vec<usize>,
    /// Shortest link of each node to any other.
    of_node: Vec<f64>,
    /// Shortest link inside the set, stored at its root; infinite for a single node, which accepts
    /// any link.
    of: Vec<f64>,
}

impl Groups {
    fn new(order: usize) -> Self {
        Groups {
            parent: (0..order).collect(),
            size: vec![1; order],
            of_node: vec![f64::INFINITY; order],
            of: vec![f64::INFINITY; order],
        }
    }

    fn note_link(&mut self, a: usize, b: usize, latency: f64) {
        for node in [a, b] {
            self.of_node[node] = self.of_node[node].min(latency);
        }
    }

    fn find(&mut self, mut node: usize) -> usize {
        while self.parent[node] != node {
            self.parent[node] = self.parent[self.parent[node]];
            node = self.parent[node];
        }
        node
    }

    fn join(&mut self, first: usize, second: usize, latency: f64) {
        let (large, small) = if self.size[first] >= self.size[second] {
            (first, second)
        } else {
            (second, first)
        };
        self.parent[small] = large;
        self.size[large] += self.size[small];
        self.of[large] = latency.min(self.of[large]).min(self.of[small]);
    }

    fn partition(mut self) -> Partition {
        let order = self.parent.len();
        let mut cluster_of_root = vec![None; order];
        let mut clusters: List<Cluster, Vec<usize>> = List::new();
        for node in 0..order {
            let root = self.find(node);
            let cluster =
                *cluster_of_root[root].get_or_insert_with(|| clusters.push_and_get_key(Vec::new()));
            clusters[cluster].push(node);
        }
        Partition { clusters }
    }
}
