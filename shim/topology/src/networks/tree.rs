//! Trees of switches as networks: the reference for all other networks.

use super::error::NetworkError;
use super::fabric::{Fabric, OUTSIDE, POSITION_LIMIT};
use crate::tree::Topology;
use treepie_base::Leaf;

/// A tree of switches. Positions are its leaves, the hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeNetwork {
    tree: Topology,
    /// First vertex of every depth; leaves first, the root last.
    firsts: Vec<usize>,
}

impl TreeNetwork {
    /// Builds the network of a tree whose leaves are hosts.
    ///
    /// # Errors
    /// There are too many leaves.
    pub fn new(tree: Topology) -> Result<Self, NetworkError> {
        if tree.leaf_count() > POSITION_LIMIT {
            return Err(NetworkError::TooLarge);
        }
        let mut firsts = vec![0; tree.depth() + 1];
        for depth in (0..tree.depth()).rev() {
            firsts[depth] = firsts[depth + 1] + tree.node_count(depth + 1);
        }
        Ok(TreeNetwork { tree, firsts })
    }

    /// The tree.
    pub fn topology(&self) -> &Topology {
        &self.tree
    }

    /// Depth and number of a vertex that is not the root.
    fn node(&self, vertex: usize) -> (usize, usize) {
        let depth = self.firsts.iter().position(|&first| first <= vertex);
        let depth = depth.unwrap_or(self.tree.depth());
        (depth, vertex - self.firsts[depth])
    }
}

impl Fabric for TreeNetwork {
    fn positions(&self) -> usize {
        self.tree.leaf_count()
    }

    fn vertices(&self) -> usize {
        self.firsts[0] + 1
    }

    fn distance(&self, a: usize, b: usize) -> u32 {
        (self.tree.distance(Leaf(a), Leaf(b)) as u32).max(2)
    }

    fn access(&self) -> u32 {
        0
    }

    /// Two for every vertex except the root: up and down.
    fn links(&self) -> usize {
        2 * self.firsts[0]
    }

    fn ends(&self, link: usize) -> Option<(usize, usize)> {
        let lower = link / 2;
        let (depth, node) = self.node(lower);
        let upper = self.firsts[depth - 1] + self.tree.parent(depth, node);
        Some(match link.is_multiple_of(2) {
            true => (lower, upper),
            false => (upper, lower),
        })
    }

    fn capacity(&self, _link: usize) -> f64 {
        1.0
    }

    fn route(&self, a: usize, b: usize, each: &mut dyn FnMut(usize, f64)) {
        let (mut a, mut b) = (a, b);
        for depth in (1..=self.tree.depth()).rev() {
            if a == b {
                return;
            }
            each(2 * (self.firsts[depth] + a), 1.0);
            each(2 * (self.firsts[depth] + b) + 1, 1.0);
            a = self.tree.parent(depth, a);
            b = self.tree.parent(depth, b);
        }
    }

    fn vertex_name(&self, vertex: usize) -> String {
        let (depth, node) = self.node(vertex);
        if depth == 0 {
            return "the root".to_owned();
        }
        let level = &self.tree.levels()[depth - 1].name;
        match (depth == self.tree.depth()).then(|| self.tree.leaf(Leaf(node)).host.clone()) {
            Some(Some(host)) => host,
            _ => format!("{level} {node}"),
        }
    }

    fn cuts(&self) -> Vec<(String, Vec<u32>)> {
        let cut = |depth: usize| {
            let mut parts = vec![OUTSIDE; self.vertices()];
            for below in depth..=self.tree.depth() {
                for node in 0..self.tree.node_count(below) {
                    let mut above = node;
                    for at in (depth + 1..=below).rev() {
                        above = self.tree.parent(at, above);
                    }
                    parts[self.firsts[below] + node] = above as u32;
                }
            }
            (format!("a {}", self.tree.levels()[depth - 1].name), parts)
        };
        (1..=self.tree.depth()).map(cut).collect()
    }

    fn describe(&self) -> String {
        let counts = (1..=self.tree.depth()).map(|depth| {
            let count = self.tree.node_count(depth);
            format!("{count} x {}", self.tree.levels()[depth - 1].name)
        });
        format!("tree: {}", counts.collect::<Vec<_>>().join(", "))
    }

    fn routing(&self) -> &'static str {
        "the only way"
    }
}
