//! The tree itself, stored level by level.

use std::ops::Range;
use std::sync::Arc;

use crate::device::Device;
use crate::error::TopologyError;
use crate::limits::{LEAF_LIMIT, LEVEL_LIMIT};
use treepie_base::{Leaf, List, Slice};

/// The properties of a leaf: a core or a hardware thread.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProcessingUnit {
    /// Physical number in the operating system (hwloc's `os_index`); every machine is numbered
    /// separately.
    pub os_index: Option<usize>,
    /// Name of its machine.
    pub host: Option<String>,
    /// True if no rank may be placed there.
    pub forbidden: bool,
    /// The devices of its machine that are next to it, if known.
    pub devices: Arc<[Device]>,
}

/// All nodes at one depth: `levels()[d]` holds those at depth `d + 1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// Type of the nodes of this level: "node", "socket", "core".
    pub name: String,
    /// Parent of every node, never decreasing.
    parents: Vec<u32>,
    /// First child of every node of the level above, and finally the number of nodes of this level.
    starts: Vec<u32>,
}

/// A rooted tree whose leaves are processing units, all at the same depth.
///
/// Depth 0 is the root, depth [`Topology::depth`] the leaves. Nodes of a depth, and so the leaves,
/// are numbered from left to right: this is the *logical* numbering used by placements. Arities may
/// differ from node to node; if they do not, [`Topology::arities`] has them (thesis 2.4.1 calls
/// such a tree balanced and symmetric).
///
/// Invariants: at least one level; every node above the leaves has a child.
#[derive(Debug, Clone, PartialEq)]
pub struct Topology {
    levels: Vec<Level>,
    leaves: List<Leaf, ProcessingUnit>,
    distances: Vec<f64>,
}

impl Topology {
    /// Builds a topology from the number of children of every node: `children[d][i]` of node `i` at
    /// depth `d`. `names` has one name for each depth below the root.
    pub(super) fn from_child_counts(
        names: Vec<String>,
        children: &[Vec<usize>],
        leaves: List<Leaf, ProcessingUnit>,
    ) -> Result<Self, TopologyError> {
        if children.is_empty() || leaves.is_empty() {
            return Err(TopologyError::Empty);
        }
        if children.len() > LEVEL_LIMIT {
            let levels = children.len();
            return Err(TopologyError::TooManyLevels { levels });
        }
        if names.len() != children.len() {
            return Err(TopologyError::WrongCount {
                what: "level names",
                found: names.len(),
                expected: format!("{} levels", children.len()),
            });
        }
        let mut levels = Vec::with_capacity(children.len());
        for (depth, (name, counts)) in names.into_iter().zip(children).enumerate() {
            levels.push(level_from_counts(name, counts, depth + 1)?);
        }
        let distances = hop_distances(levels.len());
        Ok(Topology {
            levels,
            leaves,
            distances,
        })
    }

    /// Number of leaves, including forbidden ones.
    pub fn leaf_count(&self) -> usize {
        self.leaves.len()
    }

    /// Number of levels below the root, which is the depth of the leaves; at least 1.
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    /// The levels below the root: `levels()[d]` names the nodes at depth `d + 1`.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Number of nodes at `depth`; 0 below the leaves.
    pub fn node_count(&self, depth: usize) -> usize {
        match depth.checked_sub(1) {
            None => 1,
            Some(level) => self.levels.get(level).map_or(0, |l| l.parents.len()),
        }
    }

    /// Numbers, at `depth + 1`, of the children of `node`, which is at `depth`.
    ///
    /// # Panics
    /// Panics if there is no such node or it is a leaf.
    pub fn children(&self, depth: usize, node: usize) -> Range<usize> {
        let starts = &self.levels[depth].starts;
        starts[node] as usize..starts[node + 1] as usize
    }

    /// The parent of `node`, which is at `depth`, below the root.
    ///
    /// # Panics
    /// Panics if there is no such node or it is the root.
    pub fn parent(&self, depth: usize, node: usize) -> usize {
        self.levels[depth - 1].parents[node] as usize
    }

    /// The leaves below `node`, which is at `depth`.
    ///
    /// # Panics
    /// Panics if there is no such node.
    pub fn leaves_below(
        &self,
        depth: usize,
        node: usize,
    ) -> impl ExactSizeIterator<Item = Leaf> + DoubleEndedIterator + Clone + use<> {
        self.leaf_range(depth, node).map(Leaf)
    }

    /// The numbers of [`Topology::leaves_below`], for a search with its own numbering of leaves.
    ///
    /// # Panics
    /// Panics if there is no such node.
    pub fn leaf_range(&self, depth: usize, node: usize) -> Range<usize> {
        self.levels[depth..]
            .iter()
            .fold(node..node + 1, |nodes, level| {
                level.starts[nodes.start] as usize..level.starts[nodes.end] as usize
            })
    }

    /// The arity of every depth from the root, if all nodes of a depth have the same arity.
    pub fn arities(&self) -> Option<Vec<usize>> {
        self.levels
            .iter()
            .map(|level| {
                let nodes_above = level.starts.len() - 1;
                let arity = level.starts[1];
                let same = (0..nodes_above)
                    .all(|node| level.starts[node + 1] - level.starts[node] == arity);
                same.then_some(arity as usize)
            })
            .collect()
    }

    /// The largest arity of every depth from the root.
    pub fn widest_arities(&self) -> Vec<usize> {
        self.levels
            .iter()
            .map(|level| {
                let widths = level.starts.windows(2).map(|pair| pair[1] - pair[0]);
                widths.max().unwrap_or(0) as usize
            })
            .collect()
    }

    /// One leaf.
    ///
    /// # Panics
    /// Panics if `leaf` is not below [`Topology::leaf_count`].
    pub fn leaf(&self, leaf: Leaf) -> &ProcessingUnit {
        &self.leaves[leaf]
    }

    /// All leaves in logical order.
    pub fn leaves(&self) -> &Slice<Leaf, ProcessingUnit> {
        &self.leaves
    }

    pub(super) fn leaves_mut(&mut self) -> &mut Slice<Leaf, ProcessingUnit> {
        &mut self.leaves
    }

    /// The child to take at every depth from the root to `leaf`.
    ///
    /// # Panics
    /// Panics if `leaf` is not below [`Topology::leaf_count`].
    pub fn path(&self, leaf: Leaf) -> Vec<usize> {
        let mut node = usize::from(leaf);
        let mut path = Vec::with_capacity(self.depth());
        for level in self.levels.iter().rev() {
            let parent = level.parents[node] as usize;
            path.push(node - level.starts[parent] as usize);
            node = parent;
        }
        path.reverse();
        path
    }

    /// The node at `depth` above `leaf`.
    ///
    /// # Panics
    /// Panics if `leaf` is not below [`Topology::leaf_count`].
    pub fn ancestor(&self, leaf: Leaf, depth: usize) -> usize {
        self.levels[depth.min(self.depth())..]
            .iter()
            .rev()
            .fold(leaf.0, |node, level| level.parents[node] as usize)
    }

    /// Depth of the lowest common ancestor of two leaves: 0 if their path crosses the root,
    /// [`Topology::depth`] if they are the same leaf. Takes time in proportion to the depth.
    ///
    /// # Panics
    /// Panics if a leaf is not below [`Topology::leaf_count`].
    pub fn common_level(&self, leaf_a: Leaf, leaf_b: Leaf) -> usize {
        let (mut a, mut b, mut depth) = (leaf_a.0, leaf_b.0, self.depth());
        while a != b {
            depth -= 1;
            a = self.levels[depth].parents[a] as usize;
            b = self.levels[depth].parents[b] as usize;
        }
        depth
    }

    /// Number of links on the path between two leaves: twice the levels climbed to their lowest
    /// common ancestor (thesis 1.4, d_H).
    ///
    /// # Panics
    /// Panics if a leaf is not below [`Topology::leaf_count`].
    pub fn distance(&self, leaf_a: Leaf, leaf_b: Leaf) -> usize {
        2 * (self.depth() - self.common_level(leaf_a, leaf_b))
    }

    /// Distance of two leaves whose lowest common ancestor is at depth `d`: `level_distances()[d]`.
    /// Hops like [`Topology::distance`], unless set by [`Topology::with_level_distances`].
    pub fn level_distances(&self) -> &[f64] {
        &self.distances
    }

    /// Replaces hops by other distances, from the root to the deepest level. Objectives use them;
    /// the grouping of TreeMatch does not.
    ///
    /// # Errors
    /// The number of distances differs from that of levels, or a distance is negative, not finite,
    /// or smaller than one nearer to the leaves.
    pub fn with_level_distances(mut self, distances: &[f64]) -> Result<Self, TopologyError> {
        if distances.len() != self.depth() {
            return Err(TopologyError::WrongCount {
                what: "distances",
                found: distances.len(),
                expected: format!("{} levels", self.depth()),
            });
        }
        for (depth, &distance) in distances.iter().enumerate() {
            let deeper = distances.get(depth + 1).copied().unwrap_or(0.0);
            if !distance.is_finite() || distance < 0.0 || distance < deeper {
                let level = depth + 1;
                return Err(TopologyError::BadDistance { level, distance });
            }
        }
        self.distances = distances.to_vec();
        Ok(self)
    }

    /// Replaces the names of the levels, from the root to the leaves.
    ///
    /// # Errors
    /// The number of names differs from that of levels.
    pub fn with_level_names<N: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Self, TopologyError> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        if names.len() != self.depth() {
            return Err(TopologyError::WrongCount {
                what: "level names",
                found: names.len(),
                expected: format!("{} levels", self.depth()),
            });
        }
        for (level, name) in self.levels.iter_mut().zip(names) {
            level.name = name;
        }
        Ok(self)
    }

    /// Number of children of every node at `depth`, which is above the leaves.
    pub(super) fn child_counts(&self, depth: usize) -> Vec<usize> {
        let starts = &self.levels[depth].starts;
        starts
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as usize)
            .collect()
    }
}

/// `2 * levels climbed`, by depth of the common ancestor.
fn hop_distances(depth: usize) -> Vec<f64> {
    (0..depth).map(|d| 2.0 * (depth - d) as f64).collect()
}

fn level_from_counts(name: String, counts: &[usize], level: usize) -> Result<Level, TopologyError> {
    let mut starts = Vec::with_capacity(counts.len() + 1);
    let mut parents = Vec::new();
    starts.push(0);
    for (parent, &count) in counts.iter().enumerate() {
        if count == 0 {
            return Err(TopologyError::ZeroArity { level });
        }
        if count > LEAF_LIMIT - parents.len() {
            return Err(TopologyError::TooManyLeaves);
        }
        parents.resize(parents.len() + count, parent as u32);
        starts.push(parents.len() as u32);
    }
    Ok(Level {
        name,
        parents,
        starts,
    })
}
