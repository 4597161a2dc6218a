//! Repair of a placement that violates constraints, with few moves.
//!
//! Ranks that may stay where they are stay. Sets of ranks that must be together get their node
//! first, the largest set first, preferably the node that has most of them. Every other rank gets
//! the nearest free slot that it may use; if there is none, each rank of a chain moves to another
//! slot that it may use, the last one to a free slot (an augmenting path, found breadth first).
//! Such a chain exists if the lists of slots permit any arrangement.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use crate::constraints::error::ConstraintError;
use crate::constraints::slot_tree::SlotTree;
use treepie_base::{Leaf, List, Rank, Slice, Slot};

/// A placement that satisfies all constraints, near to `wished`, with one slot for each rank. Ranks
/// without a preference, or whose preferred slot does not exist, get any slot.
///
/// # Errors
/// The lists of some ranks have too few slots, or no node is found for a set of ranks.
pub(super) fn repaired(
    slot_tree: &SlotTree,
    wished: &Slice<Rank, Slot>,
) -> Result<List<Rank, Slot>, ConstraintError> {
    let mut arrangement = Arrangement::new(slot_tree, wished);
    let mut groups: Vec<usize> = (0..slot_tree.groups().len()).collect();
    groups.sort_by_key(|&group| (std::cmp::Reverse(slot_tree.groups()[group].len()), group));
    for group in groups {
        arrangement.slot_group(group)?;
    }
    let mut waiting: Vec<Rank> = (arrangement.slot_of.keys())
        .filter(|&rank| arrangement.slot_of[rank].is_none())
        .collect();
    waiting.sort_by_key(|&rank| (slot_tree.list_of(rank).map_or(usize::MAX, <[_]>::len), rank));
    for rank in waiting {
        arrangement.slot(rank)?;
    }
    // Every rank has a slot, or there was an error.
    Ok(arrangement.slot_of.into_iter().flatten().collect())
}

/// Present rank of each slot.
#[derive(Clone)]
struct Arrangement<'a> {
    slot_tree: &'a SlotTree,
    wished: &'a Slice<Rank, Slot>,
    rank_on: List<Slot, Option<Rank>>,
    slot_of: List<Rank, Option<Slot>>,
    free: BTreeSet<Slot>,
    node_of_group: Vec<Option<usize>>,
}

impl<'a> Arrangement<'a> {
    /// Starts with all ranks that satisfy the constraints where they are and belong to no set.
    fn new(slot_tree: &'a SlotTree, wished: &'a Slice<Rank, Slot>) -> Self {
        let slots = slot_tree.topology().leaf_count();
        let mut arrangement = Arrangement {
            slot_tree,
            wished,
            rank_on: vec![None; slots].into(),
            slot_of: vec![None; slot_tree.ranks()].into(),
            free: (0..slots)
                .map(Slot)
                .filter(|&slot| !slot_tree.is_forbidden(slot))
                .collect(),
            node_of_group: vec![None; slot_tree.groups().len()],
        };
        for (rank, &slot) in wished.iter_enumerated().take(slot_tree.ranks()) {
            let alone = slot_tree.group_of(rank).is_none();
            if alone && arrangement.free.contains(&slot) && slot_tree.may_use(rank, slot) {
                arrangement.put(rank, slot);
            }
        }
        arrangement
    }

    fn put(&mut self, rank: Rank, slot: Slot) {
        self.rank_on[slot] = Some(rank);
        self.slot_of[rank] = Some(slot);
        self.free.remove(&slot);
    }

    /// Gives all members of a set slots on one node.
    fn slot_group(&mut self, group: usize) -> Result<(), ConstraintError> {
        let members = self.slot_tree.groups()[group].clone();
        let mut largest = 0;
        for node in self.nodes_by_preference(&members) {
            let eligible = self.eligible(node, &members);
            largest = largest.max(eligible.min(self.usable(node)));
            if eligible.min(self.left_over(node)) < members.len() {
                continue;
            }
            let mut attempt = self.clone();
            attempt.node_of_group[group] = Some(node);
            if members.iter().all(|&member| attempt.slot(member).is_ok()) {
                *self = attempt;
                return Ok(());
            }
        }
        let level = self.slot_tree.shared_level().to_owned();
        Err(match largest < members.len() {
            true => ConstraintError::TooManyTogether {
                ranks: members,
                level,
                largest,
            },
            false => ConstraintError::NoNodeFound {
                ranks: members,
                level,
            },
        })
    }

    /// Nodes in order of preference: those with the most of `members` first, then those that are
    /// just large enough, so that others are left for other sets.
    fn nodes_by_preference(&self, members: &[Rank]) -> Vec<usize> {
        let topology = self.slot_tree.topology();
        let depth = self.slot_tree.shared_depth();
        let nodes = topology.node_count(depth);
        let mut present = vec![0_usize; nodes];
        for &member in members {
            let wished = self
                .wished
                .get(member)
                .filter(|&&slot| slot < self.rank_on.next_key());
            if let Some(&slot) = wished {
                present[self.slot_tree.node_of(slot)] += 1;
            }
        }
        let left: Vec<usize> = (0..nodes).map(|node| self.left_over(node)).collect();
        let mut order: Vec<usize> = (0..nodes).collect();
        order.sort_by_key(|&node| (std::cmp::Reverse(present[node]), left[node], node));
        order
    }

    /// Numbers of the slots of a node.
    fn slots_of(&self, node: usize) -> Range<usize> {
        let topology = self.slot_tree.topology();
        topology.leaf_range(self.slot_tree.shared_depth(), node)
    }

    /// Number of slots of a node that may be used.
    fn usable(&self, node: usize) -> usize {
        let slots = self.slots_of(node).map(Slot);
        slots
            .filter(|&slot| !self.slot_tree.is_forbidden(slot))
            .count()
    }

    /// Slots of a node that no set of ranks has taken yet.
    fn left_over(&self, node: usize) -> usize {
        let groups = self.node_of_group.iter().zip(self.slot_tree.groups());
        let taken = groups.filter(|(at, _)| **at == Some(node));
        self.usable(node)
            .saturating_sub(taken.map(|(_, members)| members.len()).sum())
    }

    /// Number of `members` that may be on a node by their lists.
    fn eligible(&self, node: usize, members: &[Rank]) -> usize {
        let slots = self.slots_of(node);
        let here = |rank: Rank| match self.slot_tree.list_of(rank) {
            None => true,
            Some(list) => {
                let first = list.partition_point(|slot| slot.0 < slots.start);
                list.get(first).is_some_and(|slot| slot.0 < slots.end)
            }
        };
        members.iter().filter(|&&member| here(member)).count()
    }

    /// Gives a rank the nearest free slot, or moves others to free one.
    fn slot(&mut self, rank: Rank) -> Result<(), ConstraintError> {
        if let Some(slot) = self.nearest_free(rank) {
            self.put(rank, slot);
            return Ok(());
        }
        // The slot from which a rank would move to each slot; the slot itself for `rank`.
        let nowhere = self.rank_on.next_key();
        let mut from = List::from(vec![None; self.rank_on.len()]);
        let mut queue = VecDeque::from([(rank, nowhere)]);
        while let Some((mover, origin)) = queue.pop_front() {
            if origin != nowhere
                && let Some(free) = self.nearest_free(mover)
            {
                from[free] = Some(origin);
                self.move_along(rank, free, &from);
                return Ok(());
            }
            for slot in self.slots_for(mover) {
                if from[slot].is_none()
                    && let Some(next) = self.rank_on[slot]
                {
                    from[slot] = Some(origin);
                    queue.push_back((next, slot));
                }
            }
        }
        Err(self.crowd(rank, &from))
    }

    /// Moves each rank of a chain to the next slot, the last one to `free`.
    fn move_along(&mut self, first: Rank, free: Slot, from: &Slice<Slot, Option<Slot>>) {
        let mut to = free;
        while let Some(origin) = from[to] {
            let mover = self.rank_on.get(origin).copied().flatten();
            self.put(mover.unwrap_or(first), to);
            if mover.is_none() {
                break;
            }
            to = origin;
        }
    }

    /// The free slot nearest to the one that a rank prefers, by number.
    fn nearest_free(&self, rank: Rank) -> Option<Slot> {
        let preference = self.wished.get(rank).map_or(0, |slot| slot.0);
        let slots = self.range_for(rank);
        let Some(list) = self.slot_tree.list_of(rank) else {
            let nearest = preference.clamp(slots.start, slots.end);
            let free = |from, to| self.free.range(Slot(from)..Slot(to));
            let above = free(nearest, slots.end).next();
            let below = free(slots.start, nearest).next_back();
            let both = above.into_iter().chain(below);
            return both.min_by_key(|slot| slot.0.abs_diff(nearest)).copied();
        };
        let slots = list.iter().filter(|slot| slots.contains(&slot.0));
        let free = slots.filter(|slot| self.free.contains(*slot));
        free.min_by_key(|slot| slot.0.abs_diff(preference)).copied()
    }

    /// All slots that a rank may have at present.
    fn slots_for(&self, rank: Rank) -> Vec<Slot> {
        let range = self.range_for(rank);
        match self.slot_tree.list_of(rank) {
            Some(list) => list
                .iter()
                .copied()
                .filter(|s| range.contains(&s.0))
                .collect(),
            None => (range.map(Slot))
                .filter(|&slot| !self.slot_tree.is_forbidden(slot))
                .collect(),
        }
    }

    /// The slots of the node to which a rank is restricted.
    fn range_for(&self, rank: Rank) -> Range<usize> {
        let group = self.slot_tree.group_of(rank);
        match group.and_then(|group| self.node_of_group[group]) {
            Some(node) => self.slots_of(node),
            None => 0..self.rank_on.len(),
        }
    }

    /// The ranks that a chain from `rank` reached, and their slots, of which there is one fewer.
    fn crowd(&self, rank: Rank, from: &Slice<Slot, Option<Slot>>) -> ConstraintError {
        let reached = from.keys().filter(|&slot| from[slot].is_some());
        let slots: Vec<Slot> = reached.collect();
        let mut ranks: Vec<Rank> = slots.iter().filter_map(|&s| self.rank_on[s]).collect();
        ranks.push(rank);
        ranks.sort_unstable();
        let mut leaves: Vec<Leaf> = slots.iter().map(|&s| self.slot_tree.leaf_of(s)).collect();
        leaves.dedup();
        ConstraintError::Crowded {
            ranks,
            leaves,
            slots: slots.len(),
        }
    }
}
