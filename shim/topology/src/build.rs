//! Topologies from arities and from nested descriptions.

use crate::error::TopologyError;
use crate::limits::{LEAF_LIMIT, LEVEL_LIMIT};
use crate::tree::{ProcessingUnit, Topology};
use treepie_base::{Leaf, List};

/// A nested description of any tree, from a YAML file or hwloc.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tree {
    /// A processing unit.
    Leaf(ProcessingUnit),
    /// A node with parts.
    Inner(Vec<Tree>),
}

impl Topology {
    /// Builds a balanced symmetric tree from its arities, from the root: `"4:2:2"` is four nodes of
    /// two sockets of two cores. Levels are named by their distance from the leaves: core, socket,
    /// node, network, network2...
    ///
    /// # Errors
    /// There is no level, a part is not a whole number, an arity is 0, or there are too many
    /// leaves.
    pub fn from_arities(text: &str) -> Result<Self, TopologyError> {
        if text.trim().is_empty() {
            return Err(TopologyError::Empty);
        }
        let arities = text
            .split(':')
            .enumerate()
            .map(|(depth, part)| parse_arity(text, part.trim(), depth + 1))
            .collect::<Result<Vec<_>, _>>()?;
        Topology::from_arity_list(&arities, None)
    }

    /// Builds a balanced symmetric tree from its arities and, if they are not the usual ones, the
    /// names of its levels, both from the root.
    ///
    /// # Errors
    /// There is no level, an arity is 0, there are too many leaves or levels, or the number of
    /// names differs from that of arities.
    pub fn from_arity_list(
        arities: &[usize],
        names: Option<&[String]>,
    ) -> Result<Self, TopologyError> {
        if arities.len() > LEVEL_LIMIT {
            let levels = arities.len();
            return Err(TopologyError::TooManyLevels { levels });
        }
        let mut nodes = 1_usize;
        let mut children = Vec::with_capacity(arities.len());
        for (depth, &arity) in arities.iter().enumerate() {
            if arity == 0 {
                return Err(TopologyError::ZeroArity { level: depth + 1 });
            }
            children.push(vec![arity; nodes]);
            nodes = nodes
                .checked_mul(arity)
                .filter(|&count| count <= LEAF_LIMIT)
                .ok_or(TopologyError::TooManyLeaves)?;
        }
        let names = names.map_or_else(|| usual_names(arities.len()), <[String]>::to_vec);
        Topology::from_child_counts(
            names,
            &children,
            vec![ProcessingUnit::default(); nodes].into(),
        )
    }

    /// Builds any tree. A leaf that is nearer to the root than others is moved down to their depth
    /// by nodes with one child.
    ///
    /// # Errors
    /// A node has no children, there are too many leaves or levels, or the number of names differs
    /// from that of levels.
    pub fn from_tree(tree: &Tree, names: Option<&[String]>) -> Result<Self, TopologyError> {
        let depth = height(tree).max(1);
        if depth > LEVEL_LIMIT {
            return Err(TopologyError::TooManyLevels { levels: depth });
        }
        let mut children = vec![Vec::new(); depth];
        let mut leaves = List::new();
        collect(tree, 0, &mut children, &mut leaves)?;
        let names = names.map_or_else(|| usual_names(depth), <[String]>::to_vec);
        Topology::from_child_counts(names, &children, leaves)
    }

    /// The nested description of this tree.
    pub fn to_tree(&self) -> Tree {
        self.subtree(0, 0)
    }

    fn subtree(&self, depth: usize, node: usize) -> Tree {
        if depth == self.depth() {
            return Tree::Leaf(self.leaf(Leaf(node)).clone());
        }
        let children = self.children(depth, node);
        Tree::Inner(children.map(|c| self.subtree(depth + 1, c)).collect())
    }
}

fn parse_arity(text: &str, part: &str, level: usize) -> Result<usize, TopologyError> {
    let all_digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !all_digits {
        return Err(TopologyError::NotANumber {
            text: text.to_owned(),
            part: part.to_owned(),
            level,
        });
    }
    // Only digits, so that only the size can be wrong.
    part.parse().map_err(|_| TopologyError::TooManyLeaves)
}

/// Names of `depth` levels, from the root.
fn usual_names(depth: usize) -> Vec<String> {
    let name = |from_leaf: usize| match from_leaf {
        0 => "core".to_owned(),
        1 => "socket".to_owned(),
        2 => "node".to_owned(),
        3 => "network".to_owned(),
        higher => format!("network{}", higher - 2),
    };
    (0..depth).rev().map(name).collect()
}

/// Number of levels below `tree`.
fn height(tree: &Tree) -> usize {
    match tree {
        Tree::Leaf(_) => 0,
        Tree::Inner(parts) => 1 + parts.iter().map(height).max().unwrap_or(0),
    }
}

/// Appends the nodes of `tree`, whose root is at `depth`, from left to right.
fn collect(
    tree: &Tree,
    depth: usize,
    children: &mut [Vec<usize>],
    leaves: &mut List<Leaf, ProcessingUnit>,
) -> Result<(), TopologyError> {
    match tree {
        Tree::Leaf(leaf) => {
            if leaves.len() == LEAF_LIMIT {
                return Err(TopologyError::TooManyLeaves);
            }
            children[depth..]
                .iter_mut()
                .for_each(|counts| counts.push(1));
            leaves.push(leaf.clone());
        }
        Tree::Inner(parts) if parts.is_empty() => {
            return Err(TopologyError::ZeroArity { level: depth + 1 });
        }
        Tree::Inner(parts) => {
            children[depth].push(parts.len());
            for part in parts {
                collect(part, depth + 1, children, leaves)?;
            }
        }
    }
    Ok(())
}
