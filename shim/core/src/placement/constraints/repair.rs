//! From a placement that breaks rules to one that keeps them, with few moves.
//!
//! Ranks that may stay where they are stay. Sets of ranks that must be together
//! get their node first, the largest set first, preferably the node where most
//! of them are. Every other rank gets the nearest free seat that it may have;
//! where there is none, a chain of ranks moves on, each to a seat that it may
//! have, until one is free (an augmenting path, found breadth first). Such a
//! chain exists whenever the lists of seats permit an arrangement at all.

use std::collections::{BTreeSet, VecDeque};

use super::{ConstraintError, Seating};

/// A placement that keeps all rules, near to `wished`, one seat for each rank.
/// Ranks without a wish, and those who wish for a seat that does not exist, sit
/// anywhere.
///
/// # Errors
/// Ranks whose lists have too few seats; a set of ranks that finds no node.
pub(super) fn repaired(seating: &Seating, wished: &[usize]) -> Result<Vec<usize>, ConstraintError> {
    let mut hall = Hall::new(seating, wished);
    let mut groups: Vec<usize> = (0..seating.groups().len()).collect();
    groups.sort_by_key(|&group| (std::cmp::Reverse(seating.groups()[group].len()), group));
    for group in groups {
        hall.seat_group(group)?;
    }
    let mut waiting: Vec<usize> = (0..seating.ranks())
        .filter(|&rank| hall.seat_of[rank].is_none())
        .collect();
    waiting.sort_by_key(|&rank| (seating.list_of(rank).map_or(usize::MAX, <[_]>::len), rank));
    for rank in waiting {
        hall.seat(rank)?;
    }
    // Every rank was seated, or there was an error.
    Ok(hall.seat_of.into_iter().flatten().collect())
}

/// Who has which seat at present.
#[derive(Clone)]
struct Hall<'a> {
    seating: &'a Seating,
    wished: &'a [usize],
    rank_on: Vec<Option<usize>>,
    seat_of: Vec<Option<usize>>,
    free: BTreeSet<usize>,
    node_of_group: Vec<Option<usize>>,
}

impl<'a> Hall<'a> {
    /// All ranks that keep the rules where they are and belong to no set.
    fn new(seating: &'a Seating, wished: &'a [usize]) -> Self {
        let seats = seating.topology().leaf_count();
        let mut hall = Hall {
            seating,
            wished,
            rank_on: vec![None; seats],
            seat_of: vec![None; seating.ranks()],
            free: seating.topology().allowed_leaves().into_iter().collect(),
            node_of_group: vec![None; seating.groups().len()],
        };
        for (rank, &seat) in wished.iter().enumerate().take(seating.ranks()) {
            let alone = seating.group_of(rank).is_none();
            if alone && hall.free.contains(&seat) && seating.may_sit(rank, seat) {
                hall.put(rank, seat);
            }
        }
        hall
    }

    fn put(&mut self, rank: usize, seat: usize) {
        self.rank_on[seat] = Some(rank);
        self.seat_of[rank] = Some(seat);
        self.free.remove(&seat);
    }

    /// Gives all members of a set seats on one node.
    fn seat_group(&mut self, group: usize) -> Result<(), ConstraintError> {
        let members = self.seating.groups()[group].clone();
        let mut largest = 0;
        for node in self.nodes_by_preference(&members) {
            let willing = self.willing(node, &members);
            largest = largest.max(willing.min(self.usable(node)));
            if willing.min(self.left_over(node)) < members.len() {
                continue;
            }
            let mut attempt = self.clone();
            attempt.node_of_group[group] = Some(node);
            if members.iter().all(|&member| attempt.seat(member).is_ok()) {
                *self = attempt;
                return Ok(());
            }
        }
        let level = self.seating.shared_level().to_owned();
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

    /// The nodes where most of `members` are first; then those that are just
    /// large enough, so that room is left for other sets.
    fn nodes_by_preference(&self, members: &[usize]) -> Vec<usize> {
        let topology = self.seating.topology();
        let depth = self.seating.shared_depth();
        let nodes = topology.node_count(depth);
        let mut present = vec![0_usize; nodes];
        for &member in members {
            let wished = self
                .wished
                .get(member)
                .filter(|&&seat| seat < self.rank_on.len());
            if let Some(&seat) = wished {
                present[self.seating.node_of(seat)] += 1;
            }
        }
        let left: Vec<usize> = (0..nodes).map(|node| self.left_over(node)).collect();
        let mut order: Vec<usize> = (0..nodes).collect();
        order.sort_by_key(|&node| (std::cmp::Reverse(present[node]), left[node], node));
        order
    }

    /// Seats of a node.
    fn usable(&self, node: usize) -> usize {
        let topology = self.seating.topology();
        let seats = topology.leaves_below(self.seating.shared_depth(), node);
        seats.filter(|&seat| !topology.leaf(seat).forbidden).count()
    }

    /// Seats of a node that no set of ranks has taken yet.
    fn left_over(&self, node: usize) -> usize {
        let groups = self.node_of_group.iter().zip(self.seating.groups());
        let taken = groups.filter(|(at, _)| **at == Some(node));
        self.usable(node)
            .saturating_sub(taken.map(|(_, members)| members.len()).sum())
    }

    /// How many of `members` may sit on a node, as far as their lists tell.
    fn willing(&self, node: usize, members: &[usize]) -> usize {
        let seats = self
            .seating
            .topology()
            .leaves_below(self.seating.shared_depth(), node);
        let here = |rank: usize| match self.seating.list_of(rank) {
            None => true,
            Some(list) => {
                let first = list.partition_point(|&seat| seat < seats.start);
                list.get(first).is_some_and(|&seat| seat < seats.end)
            }
        };
        members.iter().filter(|&&member| here(member)).count()
    }

    /// Gives a rank the nearest free seat, or makes others move on for it.
    fn seat(&mut self, rank: usize) -> Result<(), ConstraintError> {
        if let Some(seat) = self.nearest_free(rank) {
            self.put(rank, seat);
            return Ok(());
        }
        // From which seat a rank would move to this one; itself for `rank`.
        let nowhere = self.rank_on.len();
        let mut from = vec![None; nowhere];
        let mut queue = VecDeque::from([(rank, nowhere)]);
        while let Some((mover, origin)) = queue.pop_front() {
            if origin != nowhere
                && let Some(free) = self.nearest_free(mover)
            {
                from[free] = Some(origin);
                self.move_along(rank, free, &from);
                return Ok(());
            }
            for seat in self.seats_for(mover) {
                if from[seat].is_none()
                    && let Some(next) = self.rank_on[seat]
                {
                    from[seat] = Some(origin);
                    queue.push_back((next, seat));
                }
            }
        }
        Err(self.crowd(rank, &from))
    }

    /// Moves each rank of a chain to the next seat, the last one to `free`.
    fn move_along(&mut self, first: usize, free: usize, from: &[Option<usize>]) {
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

    /// The free seat nearest to where a rank wishes to be, by number.
    fn nearest_free(&self, rank: usize) -> Option<usize> {
        let wish = self.wished.get(rank).copied().unwrap_or(0);
        let seats = self.range_for(rank);
        let Some(list) = self.seating.list_of(rank) else {
            let wish = wish.clamp(seats.start, seats.end);
            let above = self.free.range(wish..seats.end).next();
            let below = self.free.range(seats.start..wish).next_back();
            let nearest = above.into_iter().chain(below);
            return nearest.min_by_key(|seat| seat.abs_diff(wish)).copied();
        };
        let seats = list.iter().filter(|seat| seats.contains(*seat));
        let free = seats.filter(|seat| self.free.contains(*seat));
        free.min_by_key(|seat| seat.abs_diff(wish)).copied()
    }

    /// All seats that a rank may have at present.
    fn seats_for(&self, rank: usize) -> Vec<usize> {
        let range = self.range_for(rank);
        match self.seating.list_of(rank) {
            Some(list) => list.iter().copied().filter(|s| range.contains(s)).collect(),
            None => range
                .filter(|&seat| !self.seating.topology().leaf(seat).forbidden)
                .collect(),
        }
    }

    /// The seats of the node that a rank must not leave.
    fn range_for(&self, rank: usize) -> std::ops::Range<usize> {
        let group = self.seating.group_of(rank);
        match group.and_then(|group| self.node_of_group[group]) {
            Some(node) => {
                let topology = self.seating.topology();
                topology.leaves_below(self.seating.shared_depth(), node)
            }
            None => 0..self.rank_on.len(),
        }
    }

    /// The ranks that a chain from `rank` reached, and the seats that they have:
    /// one less than they are.
    fn crowd(&self, rank: usize, from: &[Option<usize>]) -> ConstraintError {
        let reached = (0..from.len()).filter(|&seat| from[seat].is_some());
        let seats: Vec<usize> = reached.collect();
        let mut ranks: Vec<usize> = seats.iter().filter_map(|&s| self.rank_on[s]).collect();
        ranks.push(rank);
        ranks.sort_unstable();
        let mut leaves: Vec<usize> = seats.iter().map(|&s| self.seating.leaf_of(s)).collect();
        leaves.dedup();
        ConstraintError::Crowded {
            ranks,
            leaves,
            slots: seats.len(),
        }
    }
}
