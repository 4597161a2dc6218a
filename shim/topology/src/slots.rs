//! Leaves that take several ranks: a tree with one more level.

use crate::error::TopologyError;
use crate::tree::Topology;
use treepie_base::{Leaf, List, Slice};

impl Topology {
    /// The tree of slots for ranks: below every leaf the number of slots in `slots`, a level called
    /// "slot". Slots on one leaf have no distance; all other distances stay. A leaf without slots
    /// is forbidden, and so are the slots below a forbidden leaf. If no leaf has more than one
    /// slot, there is no new level.
    ///
    /// # Errors
    /// The number of entries differs from that of leaves, or there are too many slots or levels.
    pub fn with_slots(&self, slots: &Slice<Leaf, usize>) -> Result<Topology, TopologyError> {
        if slots.len() != self.leaf_count() {
            return Err(TopologyError::WrongCount {
                what: "numbers of slots",
                found: slots.len(),
                expected: format!("{} leaves", self.leaf_count()),
            });
        }
        let without = slots.iter_enumerated().filter(|&(_, &count)| count == 0);
        let without: Vec<Leaf> = without.map(|(leaf, _)| leaf).collect();
        let usable = self.clone().forbidding(&without)?;
        if slots.iter().all(|&count| count <= 1) {
            return Ok(usable);
        }
        let counts: List<Leaf, usize> = slots.iter().map(|&count| count.max(1)).collect();
        let mut children: Vec<Vec<usize>> = (0..self.depth())
            .map(|depth| self.child_counts(depth))
            .collect();
        let mut leaves = List::new();
        for (leaf, &count) in usable.leaves().iter().zip(&counts) {
            if count > super::LEAF_LIMIT - leaves.len() {
                return Err(TopologyError::TooManyLeaves);
            }
            leaves.resize(leaves.len() + count, leaf.clone());
        }
        children.push(counts.into());
        let names = self.levels().iter().map(|level| level.name.clone());
        let names = names.chain(["slot".to_owned()]).collect();
        let mut distances = self.level_distances().to_vec();
        distances.push(0.0);
        Topology::from_child_counts(names, &children, leaves)?.with_level_distances(&distances)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn places_on_one_leaf_have_no_distance_and_all_others_keep_theirs() {
        let tree = Topology::from_arities("2:2").unwrap();
        let places = tree.with_slots(&List::from(vec![2, 1, 0, 3])).unwrap();
        assert_eq!(places.leaf_count(), 7);
        assert_eq!(places.allowed_leaves(), [0, 1, 2, 4, 5, 6].map(Leaf));
        assert_eq!(places.level_distances(), [4.0, 2.0, 0.0]);
        assert_eq!(places.common_level(Leaf(0), Leaf(1)), 2);
        assert_eq!(places.common_level(Leaf(1), Leaf(2)), 1);
    }

    #[test]
    fn one_slot_for_each_leaf_changes_nothing() {
        let tree = Topology::from_arities("2:2").unwrap();
        assert_eq!(tree.with_slots(&List::from(vec![1; 4])).unwrap(), tree);
        assert!(tree.with_slots(&List::from(vec![1; 3])).is_err());
    }
}
