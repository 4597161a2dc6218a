//! Constraints that were checked against a topology: the tree of seats.

use super::wanted::{Allowed, joined, lowest_height, shared, usable_slots};
use super::{ConstraintError, Constraints, repair};
use crate::placement::PlacementError;
use crate::topology::Topology;

/// The places that ranks can take, and who may take which.
///
/// Seats are the leaves of [`Seating::topology`]; each takes one rank, those
/// that it forbids none. A seat belongs to a leaf of the topology that the
/// constraints were made for. Where every leaf takes one rank, seats and leaves
/// are the same.
#[derive(Debug, Clone)]
pub struct Seating {
    topology: Topology,
    /// Whether the seats are a level of their own below the leaves.
    has_slots: bool,
    leaf_of_seat: Vec<usize>,
    first_seat: Vec<usize>,
    /// Which of `lists` says where a rank may sit; `None`: anywhere.
    list_of_rank: Vec<Option<usize>>,
    /// Seats by increasing number.
    lists: Vec<Vec<usize>>,
    /// Which of `groups` a rank belongs to.
    group_of_rank: Vec<Option<usize>>,
    groups: Vec<Vec<usize>>,
    /// Depth of the nodes that groups must not leave, and what they are called.
    shared_depth: usize,
    shared_level: String,
}

impl Seating {
    /// Checks `constraints` for so many ranks on `topology`.
    ///
    /// # Errors
    /// Ranks or leaves that do not exist; fewer seats than ranks; constraints
    /// that contradict each other.
    pub fn new(
        constraints: &Constraints,
        ranks: usize,
        topology: &Topology,
    ) -> Result<Self, PlacementError> {
        if constraints.is_empty() {
            return Seating::free(ranks, topology);
        }
        let slots = usable_slots(constraints, topology)?;
        let allowed = Allowed::of(constraints, ranks, &slots, topology)?;
        let groups = joined(&constraints.together, ranks)?;
        let (shared_depth, shared_level) = shared(constraints, topology)?;
        let total = slots.iter().fold(0_usize, |sum, &s| sum.saturating_add(s));
        if ranks > total {
            let slots = total;
            return Err(ConstraintError::TooFewSlots { ranks, slots }.into());
        }
        // No core takes more ranks than it has to: one more each time that
        // the ranks do not find seats.
        let most = slots.iter().copied().max().unwrap_or(1).max(1);
        let mut height = lowest_height(&slots, ranks);
        loop {
            let capped = allowed.capped(&slots, height);
            let seating = Seating::with_slots(
                &capped,
                topology,
                &allowed,
                groups.clone(),
                (shared_depth, shared_level.clone()),
            )?;
            match repair::repaired(&seating, &[]) {
                Err(_) if height < most => height += 1,
                Err(error) => return Err(error.into()),
                Ok(_) => return Ok(seating),
            }
        }
    }

    /// No constraints: a seat is a leaf.
    fn free(ranks: usize, topology: &Topology) -> Result<Self, PlacementError> {
        let leaves = topology.allowed_leaves().len();
        if ranks > leaves {
            return Err(PlacementError::TooManyRanks { ranks, leaves });
        }
        Ok(Seating {
            topology: topology.clone(),
            has_slots: false,
            leaf_of_seat: (0..topology.leaf_count()).collect(),
            first_seat: (0..=topology.leaf_count()).collect(),
            list_of_rank: vec![None; ranks],
            lists: Vec::new(),
            group_of_rank: vec![None; ranks],
            groups: Vec::new(),
            shared_depth: 0,
            shared_level: String::new(),
        })
    }

    fn with_slots(
        slots: &[usize],
        topology: &Topology,
        allowed: &Allowed,
        groups: Vec<Vec<usize>>,
        (shared_depth, shared_level): (usize, String),
    ) -> Result<Self, PlacementError> {
        let mut first_seat = vec![0];
        let mut leaf_of_seat = Vec::new();
        for (leaf, &count) in slots.iter().enumerate() {
            // A leaf that takes no rank still has one seat, a forbidden one.
            leaf_of_seat.resize(leaf_of_seat.len() + count.max(1), leaf);
            first_seat.push(leaf_of_seat.len());
        }
        let seats = |leaf: usize| {
            let taken = if slots[leaf] == 0 {
                0..0
            } else {
                0..slots[leaf]
            };
            let first = first_seat[leaf];
            taken.map(move |slot| first + slot)
        };
        let lists = allowed.lists.iter();
        let lists = lists.map(|list| list.iter().flat_map(|&leaf| seats(leaf)).collect());
        let mut group_of_rank = vec![None; allowed.list_of_rank.len()];
        for (group, members) in groups.iter().enumerate() {
            members.iter().for_each(|&m| group_of_rank[m] = Some(group));
        }
        let seats = topology.with_slots(slots)?;
        Ok(Seating {
            has_slots: seats.depth() > topology.depth(),
            topology: seats,
            lists: lists.collect(),
            leaf_of_seat,
            first_seat,
            list_of_rank: allowed.list_of_rank.clone(),
            group_of_rank,
            groups,
            shared_depth,
            shared_level,
        })
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.list_of_rank.len()
    }

    /// The tree whose leaves are the seats.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// How many of the levels of [`Seating::topology`] are those of leaves and what
    /// is above them: the rest is the seats on one leaf.
    pub(in crate::placement) fn levels_of_leaves(&self) -> usize {
        self.topology.depth() - usize::from(self.has_slots)
    }

    /// The same seats, on a tree with other distances.
    ///
    /// # Errors
    /// As [`Topology::with_level_distances`].
    pub(in crate::placement) fn with_level_distances(
        &self,
        distances: &[f64],
    ) -> Result<Self, PlacementError> {
        let topology = self.topology.clone().with_level_distances(distances)?;
        Ok(Seating {
            topology,
            ..self.clone()
        })
    }

    /// Whether any rank may take any seat that the topology allows, so that
    /// every swap keeps all rules.
    pub fn is_free(&self) -> bool {
        self.lists.is_empty() && self.groups.is_empty()
    }

    /// Whether `rank` may have `seat`, ranks that must be together with it set aside.
    ///
    /// # Panics
    /// If there is no such rank or seat.
    pub fn may_sit(&self, rank: usize, seat: usize) -> bool {
        let listed = match self.list_of_rank[rank] {
            None => true,
            Some(list) => self.lists[list].binary_search(&seat).is_ok(),
        };
        listed && !self.topology.leaf(seat).forbidden
    }

    /// Whether the ranks on two seats may change places; `None` is a seat that
    /// nobody has. A rank that must share a node with others stays on it.
    ///
    /// # Panics
    /// If there is no such rank or seat.
    pub fn may_swap(
        &self,
        (one, one_seat): (Option<usize>, usize),
        (other, other_seat): (Option<usize>, usize),
    ) -> bool {
        self.may_move(one, one_seat, other_seat) && self.may_move(other, other_seat, one_seat)
    }

    fn may_move(&self, rank: Option<usize>, from: usize, to: usize) -> bool {
        let Some(rank) = rank else {
            return true;
        };
        let stays = self.group_of_rank[rank].is_none() || self.node_of(from) == self.node_of(to);
        stays && self.may_sit(rank, to)
    }

    /// The placement that a strategy found, with as few ranks as possible moved
    /// so that all rules are kept; itself if it keeps them.
    ///
    /// # Errors
    /// No seats were found for ranks that must be together.
    pub fn admit(&self, seat_of_rank: Vec<usize>) -> Result<Vec<usize>, PlacementError> {
        if self.keeps_rules(&seat_of_rank) {
            return Ok(seat_of_rank);
        }
        // From an empty hall a way is known: see `Seating::new`.
        Ok(repair::repaired(self, &seat_of_rank).or_else(|_| repair::repaired(self, &[]))?)
    }

    /// Whether a placement, one seat for each rank, keeps all rules.
    pub fn keeps_rules(&self, seat_of_rank: &[usize]) -> bool {
        let mut taken = vec![false; self.leaf_of_seat.len()];
        let seated = seat_of_rank.iter().enumerate().all(|(rank, &seat)| {
            seat < taken.len()
                && !std::mem::replace(&mut taken[seat], true)
                && self.may_sit(rank, seat)
        });
        let at_home = |members: &Vec<usize>| {
            let node = |&rank: &usize| self.node_of(seat_of_rank[rank]);
            members
                .windows(2)
                .all(|pair| node(&pair[0]) == node(&pair[1]))
        };
        seat_of_rank.len() == self.ranks() && seated && self.groups.iter().all(at_home)
    }

    /// The seats that ranks on these leaves have: on each leaf the first ones,
    /// by rank. A rank that finds no seat on its leaf, or may not sit there,
    /// gets the number of a seat that does not exist.
    pub fn seats_on(&self, leaf_of_rank: &[usize]) -> Vec<usize> {
        let mut next = self.first_seat.clone();
        let nowhere = self.leaf_of_seat.len();
        let seats = leaf_of_rank.iter().map(|&leaf| {
            let seat = next[leaf];
            if seat == self.first_seat[leaf + 1] || self.topology.leaf(seat).forbidden {
                return nowhere;
            }
            next[leaf] += 1;
            seat
        });
        seats.collect()
    }

    /// The leaf of each rank, from its seat.
    ///
    /// # Panics
    /// If there is no such seat.
    pub fn leaves_of(&self, seat_of_rank: &[usize]) -> Vec<usize> {
        let leaves = seat_of_rank.iter().map(|&seat| self.leaf_of_seat[seat]);
        leaves.collect()
    }

    /// The sets of ranks that must be together.
    pub fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    pub(super) fn group_of(&self, rank: usize) -> Option<usize> {
        self.group_of_rank[rank]
    }

    /// The seats that a rank may have by its list; all if it has none.
    pub(super) fn list_of(&self, rank: usize) -> Option<&[usize]> {
        self.list_of_rank[rank].map(|list| self.lists[list].as_slice())
    }

    /// The node of a seat that groups must not leave.
    pub(super) fn node_of(&self, seat: usize) -> usize {
        self.topology.ancestor(seat, self.shared_depth)
    }

    pub(super) fn shared_depth(&self) -> usize {
        self.shared_depth
    }

    pub(super) fn shared_level(&self) -> &str {
        &self.shared_level
    }

    /// The leaf that a seat belongs to.
    pub(super) fn leaf_of(&self, seat: usize) -> usize {
        self.leaf_of_seat[seat]
    }
}
