//! Constraints checked against a topology: the tree of slots.

use crate::constraints::resolved::{Allowed, SharedLevel};
use crate::error::PlacementError;
use treepie_base::{Leaf, List, Rank, Slice, Slot};
use treepie_topology::Topology;

/// A slot and its rank, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occupant {
    /// The rank; `None` on an empty slot.
    pub rank: Option<Rank>,
    /// The slot.
    pub slot: Slot,
}

/// The slots that ranks can take, and the ranks that may take each slot.
///
/// Slots are the leaves of [`SlotTree::topology`]; each takes one rank, a forbidden slot none. A
/// slot belongs to a leaf of the topology for which the constraints were made. If every leaf takes
/// one rank, slots and leaves are the same.
#[derive(Debug, Clone)]
pub struct SlotTree {
    topology: Topology,
    /// True if the slots are a separate level below the leaves.
    has_slots: bool,
    leaf_of_slot: List<Slot, Leaf>,
    /// The first slot of each leaf, and the number of slots.
    first_slot: List<Leaf, Slot>,
    /// Index in `lists` of the slots that a rank may have; `None` for all slots.
    list_of_rank: List<Rank, Option<usize>>,
    /// Slots by increasing number.
    lists: Vec<Vec<Slot>>,
    /// Index in `groups` of the set that a rank belongs to.
    group_of_rank: List<Rank, Option<usize>>,
    groups: Vec<Vec<Rank>>,
    /// Level of the nodes that sets of ranks must not leave.
    shared: SharedLevel,
}

impl SlotTree {
    /// No constraints: a slot is a leaf.
    pub(super) fn free(ranks: usize, topology: &Topology) -> Result<Self, PlacementError> {
        let leaves = topology.allowed_leaves().len();
        if ranks > leaves {
            return Err(PlacementError::TooManyRanks { ranks, leaves });
        }
        Ok(SlotTree {
            topology: topology.clone(),
            has_slots: false,
            leaf_of_slot: Leaf::list(0..topology.leaf_count()),
            first_slot: Slot::list(0..=topology.leaf_count()),
            list_of_rank: vec![None; ranks].into(),
            lists: Vec::new(),
            group_of_rank: vec![None; ranks].into(),
            groups: Vec::new(),
            shared: SharedLevel::default(),
        })
    }

    pub(super) fn with_slots(
        capacities: &Slice<Leaf, usize>,
        topology: &Topology,
        allowed: &Allowed,
        groups: Vec<Vec<Rank>>,
        shared: SharedLevel,
    ) -> Result<Self, PlacementError> {
        let mut first_slot = Slot::list([0]);
        let mut leaf_of_slot = List::new();
        for (leaf, &count) in capacities.iter_enumerated() {
            // A leaf that takes no rank still has one forbidden slot.
            leaf_of_slot.resize(leaf_of_slot.len() + count.max(1), leaf);
            first_slot.push(leaf_of_slot.next_key());
        }
        let slots = |leaf: Leaf| {
            let first: Slot = first_slot[leaf];
            (first.0..first.0 + capacities[leaf]).map(Slot)
        };
        let lists = allowed.lists.iter();
        let lists = lists.map(|list| list.iter().flat_map(|&leaf| slots(leaf)).collect());
        let mut group_of_rank = List::from(vec![None; allowed.list_of_rank.len()]);
        for (group, members) in groups.iter().enumerate() {
            members.iter().for_each(|&m| group_of_rank[m] = Some(group));
        }
        let slots = topology.with_slots(capacities)?;
        Ok(SlotTree {
            has_slots: slots.depth() > topology.depth(),
            topology: slots,
            lists: lists.collect(),
            leaf_of_slot,
            first_slot,
            list_of_rank: allowed.list_of_rank.clone(),
            group_of_rank,
            groups,
            shared,
        })
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.list_of_rank.len()
    }

    /// The tree whose leaves are the slots.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Number of levels of [`SlotTree::topology`] down to the leaves of the original topology: the
    /// rest are the slots on one leaf.
    pub(crate) fn levels_of_leaves(&self) -> usize {
        self.topology.depth() - usize::from(self.has_slots)
    }

    /// Replaces the distances of the tree.
    ///
    /// # Errors
    /// See [`Topology::with_level_distances`].
    pub(crate) fn with_level_distances(&self, distances: &[f64]) -> Result<Self, PlacementError> {
        let topology = self.topology.clone().with_level_distances(distances)?;
        Ok(SlotTree {
            topology,
            ..self.clone()
        })
    }

    /// True if no rank may have `slot`.
    pub(super) fn is_forbidden(&self, slot: Slot) -> bool {
        self.topology.leaf(Leaf(slot.0)).forbidden
    }

    /// True if any rank may take any slot that the topology allows, so that no swap violates a
    /// constraint.
    pub fn is_free(&self) -> bool {
        self.lists.is_empty() && self.groups.is_empty()
    }

    /// True if `rank` may have `slot`, regardless of ranks that must be together with it.
    ///
    /// # Panics
    /// Panics if there is no such rank or slot.
    pub(crate) fn may_use(&self, rank: Rank, slot: Slot) -> bool {
        let listed = match self.list_of_rank[rank] {
            None => true,
            Some(list) => self.lists[list].binary_search(&slot).is_ok(),
        };
        listed && !self.is_forbidden(slot)
    }

    /// True if the ranks on two slots may be swapped. A rank that must share a node with others
    /// stays on it.
    ///
    /// # Panics
    /// Panics if there is no such rank or slot.
    pub fn may_swap(&self, one: Occupant, other: Occupant) -> bool {
        self.may_move(one, other.slot) && self.may_move(other, one.slot)
    }

    fn may_move(&self, occupant: Occupant, to: Slot) -> bool {
        let Some(rank) = occupant.rank else {
            return true;
        };
        let stays =
            self.group_of_rank[rank].is_none() || self.node_of(occupant.slot) == self.node_of(to);
        stays && self.may_use(rank, to)
    }

    /// True if a placement, one slot for each rank, satisfies all constraints.
    pub fn keeps_rules(&self, slot_of_rank: &Slice<Rank, Slot>) -> bool {
        let mut taken: List<Slot, bool> = vec![false; self.leaf_of_slot.len()].into();
        let seated = slot_of_rank.iter_enumerated().all(|(rank, &slot)| {
            slot < taken.next_key()
                && !std::mem::replace(&mut taken[slot], true)
                && self.may_use(rank, slot)
        });
        let at_home = |members: &Vec<Rank>| {
            let node = |&rank: &Rank| self.node_of(slot_of_rank[rank]);
            members
                .windows(2)
                .all(|pair| node(&pair[0]) == node(&pair[1]))
        };
        slot_of_rank.len() == self.ranks() && seated && self.groups.iter().all(at_home)
    }

    /// The slots of ranks on these leaves: on each leaf the first ones, by rank. A rank for which
    /// its leaf has no slot, or that may not be there, gets the number of a slot that does not
    /// exist.
    pub(crate) fn slots_on(&self, leaf_of_rank: &Slice<Rank, Leaf>) -> List<Rank, Slot> {
        let mut next = self.first_slot.clone();
        let nowhere = self.leaf_of_slot.next_key();
        let slots = leaf_of_rank.iter().map(|&leaf| {
            let slot = next[leaf];
            if slot == self.first_slot[Leaf(leaf.0 + 1)] || self.is_forbidden(slot) {
                return nowhere;
            }
            next[leaf].0 += 1;
            slot
        });
        slots.collect()
    }

    /// Maps the slot of each rank to its leaf.
    ///
    /// # Panics
    /// Panics if there is no such slot.
    pub fn leaves_of(&self, slot_of_rank: &Slice<Rank, Slot>) -> List<Rank, Leaf> {
        let leaves = slot_of_rank.iter().map(|&slot| self.leaf_of_slot[slot]);
        leaves.collect()
    }

    /// Converts leaves of [`SlotTree::topology`] to slots.
    pub(crate) fn from_own_leaves(leaf_of_rank: List<Rank, Leaf>) -> List<Rank, Slot> {
        Slot::list(leaf_of_rank.into_iter().map(usize::from))
    }

    /// Converts slots to leaves of [`SlotTree::topology`].
    pub(crate) fn own_leaves(slot_of_rank: &Slice<Rank, Slot>) -> List<Rank, Leaf> {
        Leaf::list(slot_of_rank.iter().map(|slot| slot.0))
    }

    /// The sets of ranks that must be together.
    pub fn groups(&self) -> &[Vec<Rank>] {
        &self.groups
    }

    pub(super) fn group_of(&self, rank: Rank) -> Option<usize> {
        self.group_of_rank[rank]
    }

    /// The list of slots that a rank may have; `None` if it may have all.
    pub(super) fn list_of(&self, rank: Rank) -> Option<&[Slot]> {
        self.list_of_rank[rank].map(|list| self.lists[list].as_slice())
    }

    /// The node of a slot that sets of ranks must not leave.
    pub(super) fn node_of(&self, slot: Slot) -> usize {
        self.topology.ancestor(Leaf(slot.0), self.shared.depth)
    }

    pub(super) fn shared_depth(&self) -> usize {
        self.shared.depth
    }

    pub(super) fn shared_level(&self) -> &str {
        &self.shared.name
    }

    /// The leaf that a slot belongs to.
    pub(super) fn leaf_of(&self, slot: Slot) -> Leaf {
        self.leaf_of_slot[slot]
    }
}
