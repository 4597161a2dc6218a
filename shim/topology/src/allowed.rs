//! Leaves that may not be used, and the tree without them.

use crate::error::TopologyError;
use crate::tree::Topology;
use treepie_base::Leaf;

impl Topology {
    /// Forbids additional leaves: a placement will not use them.
    ///
    /// # Errors
    /// A leaf does not exist.
    pub fn forbidding(mut self, leaves: &[Leaf]) -> Result<Self, TopologyError> {
        self.require_leaves(leaves)?;
        for &leaf in leaves {
            self.leaves_mut()[leaf].forbidden = true;
        }
        Ok(self)
    }

    /// Allows these leaves and forbids all others, for example to use only those where the
    /// processes of a job already run.
    ///
    /// # Errors
    /// A leaf does not exist.
    pub fn allowing_only(mut self, leaves: &[Leaf]) -> Result<Self, TopologyError> {
        self.require_leaves(leaves)?;
        for leaf in self.leaves_mut() {
            leaf.forbidden = true;
        }
        for &leaf in leaves {
            self.leaves_mut()[leaf].forbidden = false;
        }
        Ok(self)
    }

    /// The leaves that may be used, in logical order.
    pub fn allowed_leaves(&self) -> Vec<Leaf> {
        let leaves = self.leaves().keys();
        leaves.filter(|&leaf| !self.leaf(leaf).forbidden).collect()
    }

    /// The tree of the allowed leaves only. Its leaf `i` is leaf `allowed_leaves()[i]` here;
    /// distances do not change.
    ///
    /// # Errors
    /// [`TopologyError::Empty`] if no leaf is allowed.
    pub fn pruned(&self) -> Result<Topology, TopologyError> {
        let mut kept: Vec<bool> = self.leaves().iter().map(|l| !l.forbidden).collect();
        let mut children = vec![Vec::new(); self.depth()];
        for depth in (0..self.depth()).rev() {
            let counts = (0..self.node_count(depth))
                .map(|node| self.children(depth, node).filter(|&c| kept[c]).count());
            let counts: Vec<usize> = counts.collect();
            kept = counts.iter().map(|&count| count > 0).collect();
            children[depth] = counts.into_iter().filter(|&count| count > 0).collect();
        }
        let allowed = self.leaves().iter().filter(|leaf| !leaf.forbidden);
        let names = self.levels().iter().map(|level| level.name.clone());
        Topology::from_child_counts(names.collect(), &children, allowed.cloned().collect())?
            .with_level_distances(self.level_distances())
    }

    fn require_leaves(&self, leaves: &[Leaf]) -> Result<(), TopologyError> {
        let count = self.leaf_count();
        match leaves.iter().find(|leaf| leaf.0 >= count) {
            Some(&leaf) => Err(TopologyError::NoSuchLeaf {
                leaf,
                leaves: count,
            }),
            None => Ok(()),
        }
    }
}
