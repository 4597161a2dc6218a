//! Constraints that were checked against a topology: the tree of seats.

use std::collections::{BTreeMap, HashMap};

use super::{ConstraintError, Constraints, repair};
use crate::placement::PlacementError;
use crate::topology::Topology;

/// Names of the level whose nodes have a memory of their own.
const MACHINE_LEVELS: [&str; 3] = ["node", "host", "machine"];

/// The places that ranks can take, and who may take which.
///
/// Seats are the leaves of [`Seating::topology`]; each takes one rank, those
/// that it forbids none. A seat belongs to a leaf of the topology that the
/// constraints were made for. Where every leaf takes one rank, seats and leaves
/// are the same.
#[derive(Debug, Clone)]
pub struct Seating {
    topology: Topology,
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
        Ok(Seating {
            topology: topology.with_slots(slots)?,
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

/// How many ranks each leaf takes, 0 where none may be.
pub(in crate::placement) fn usable_slots(
    constraints: &Constraints,
    topology: &Topology,
) -> Result<Vec<usize>, ConstraintError> {
    let leaves = topology.leaf_count();
    let mut slots = match constraints.slots.len() {
        0 => vec![1; leaves],
        found if found != leaves => {
            let expected = leaves;
            return Err(ConstraintError::WrongSlots { found, expected });
        }
        _ => constraints.slots.clone(),
    };
    for &leaf in &constraints.excluded {
        require_leaf("--exclude", leaf, leaves)?;
        slots[leaf] = 0;
    }
    for (leaf, count) in slots.iter_mut().enumerate() {
        if topology.leaf(leaf).forbidden {
            *count = 0;
        }
    }
    if let Some(threads) = constraints.threads_per_core {
        leave_threads_out(&mut slots, topology, threads)?;
    }
    Ok(slots)
}

/// Leaves that many usable threads of each core, the first ones.
fn leave_threads_out(
    slots: &mut [usize],
    topology: &Topology,
    threads: usize,
) -> Result<(), ConstraintError> {
    if threads == 0 {
        return Err(ConstraintError::NoThreads);
    }
    let lowest = topology.depth() - 1;
    let has_threads = topology.levels()[..lowest]
        .last()
        .is_some_and(|l| l.name == "core");
    if has_threads {
        for core in 0..topology.node_count(lowest) {
            let usable = topology
                .leaves_below(lowest, core)
                .filter(|&leaf| slots[leaf] > 0);
            let surplus: Vec<usize> = usable.skip(threads).collect();
            surplus.into_iter().for_each(|leaf| slots[leaf] = 0);
        }
    }
    Ok(())
}

/// The least number of ranks on each core with which so many ranks fit.
fn lowest_height(slots: &[usize], ranks: usize) -> usize {
    let fits = |height: usize| {
        let seats = slots.iter().map(|&count| count.min(height));
        seats.fold(0_usize, usize::saturating_add) >= ranks
    };
    let (mut low, mut high) = (1, ranks.max(1));
    while low < high {
        let middle = low + (high - low) / 2;
        match fits(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

/// Where ranks may be, as a few different lists of leaves.
struct Allowed {
    list_of_rank: Vec<Option<usize>>,
    lists: Vec<Vec<usize>>,
    fixed_on: BTreeMap<usize, usize>,
}

impl Allowed {
    fn of(
        constraints: &Constraints,
        ranks: usize,
        slots: &[usize],
        topology: &Topology,
    ) -> Result<Self, ConstraintError> {
        let mut leaves_of_rank: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (&rank, leaves) in &constraints.allowed {
            require_rank("--allow", rank, ranks)?;
            for &leaf in leaves {
                require_leaf("--allow", leaf, slots.len())?;
            }
            let mut usable: Vec<usize> = leaves
                .iter()
                .copied()
                .filter(|&leaf| slots[leaf] > 0)
                .collect();
            usable.sort_unstable();
            usable.dedup();
            if usable.is_empty() {
                return Err(ConstraintError::NothingAllowed { rank });
            }
            leaves_of_rank.insert(rank, usable);
        }
        let mut fixed_on = BTreeMap::new();
        for (&rank, &leaf) in &constraints.fixed {
            require_rank("--fix", rank, ranks)?;
            require_leaf("--fix", leaf, slots.len())?;
            let allowed = leaves_of_rank.get(&rank);
            if let Some(why) = why_unusable(constraints, topology, slots, leaf, allowed) {
                return Err(ConstraintError::FixedToUnusable { rank, leaf, why });
            }
            *fixed_on.entry(leaf).or_insert(0) += 1;
            leaves_of_rank.insert(rank, vec![leaf]);
        }
        for (&leaf, &found) in &fixed_on {
            let slots = slots[leaf];
            if found > slots {
                return Err(ConstraintError::FixedTooMany { leaf, found, slots });
            }
        }
        let mut known = HashMap::new();
        let mut lists = Vec::new();
        let mut list_of_rank = vec![None; ranks];
        for (rank, leaves) in leaves_of_rank {
            let list = *known.entry(leaves).or_insert_with_key(|leaves| {
                lists.push(leaves.clone());
                lists.len() - 1
            });
            list_of_rank[rank] = Some(list);
        }
        Ok(Allowed {
            list_of_rank,
            lists,
            fixed_on,
        })
    }

    /// The slots of each leaf, no more than `height` except where more ranks
    /// are fixed.
    fn capped(&self, slots: &[usize], height: usize) -> Vec<usize> {
        let fixed = |leaf: &usize| self.fixed_on.get(leaf).copied().unwrap_or(0);
        let slots = slots.iter().enumerate();
        slots
            .map(|(leaf, &count)| count.min(height.max(fixed(&leaf))))
            .collect()
    }
}

/// Why a rank cannot be fixed to a leaf.
fn why_unusable(
    constraints: &Constraints,
    topology: &Topology,
    slots: &[usize],
    leaf: usize,
    allowed: Option<&Vec<usize>>,
) -> Option<&'static str> {
    if topology.leaf(leaf).forbidden {
        return Some("forbidden in this topology, or not part of the job");
    }
    if constraints.excluded.contains(&leaf) {
        return Some("excluded");
    }
    if slots[leaf] == 0 {
        return Some("given no slot");
    }
    let allowed_here = allowed.is_none_or(|leaves| leaves.contains(&leaf));
    (!allowed_here).then_some("none of those that the rank may use")
}

/// The sets of ranks as disjoint sets of two or more.
fn joined(together: &[Vec<usize>], ranks: usize) -> Result<Vec<Vec<usize>>, ConstraintError> {
    let mut set_of: BTreeMap<usize, usize> = BTreeMap::new();
    let mut sets: Vec<Vec<usize>> = Vec::new();
    for (number, members) in together.iter().enumerate() {
        let mut all = Vec::new();
        for &rank in members {
            require_rank("--together", rank, ranks)?;
            match set_of.get(&rank) {
                Some(&earlier) if earlier != number => all.append(&mut sets[earlier]),
                _ => all.push(rank),
            }
        }
        all.sort_unstable();
        all.dedup();
        all.iter().for_each(|&rank| {
            set_of.insert(rank, number);
        });
        sets.push(all);
    }
    sets.retain(|members| members.len() > 1);
    Ok(sets)
}

/// The depth of the nodes that sets of ranks must not leave, and their name.
fn shared(
    constraints: &Constraints,
    topology: &Topology,
) -> Result<(usize, String), ConstraintError> {
    let levels = topology.levels();
    let depth_of = |name: &str| levels.iter().position(|level| level.name == name);
    if let Some(name) = &constraints.together_level {
        let known = levels.iter().map(|level| level.name.as_str());
        return match depth_of(name) {
            Some(level) => Ok((level + 1, name.clone())),
            None => Err(ConstraintError::NoSuchLevel {
                name: name.clone(),
                known: known.collect::<Vec<_>>().join(", "),
            }),
        };
    }
    let depth = shared_depth(topology);
    let name = depth
        .checked_sub(1)
        .map_or("machine", |level| &levels[level].name);
    Ok((depth, name.to_owned()))
}

/// The depth of the nodes, whose ranks have memory in common; 0 where the whole
/// tree is one machine.
pub(in crate::placement) fn shared_depth(topology: &Topology) -> usize {
    let levels = topology.levels();
    let depth_of = |name: &&str| levels.iter().position(|level| level.name == *name);
    MACHINE_LEVELS
        .iter()
        .find_map(depth_of)
        .map_or(0, |level| level + 1)
}

fn require_rank(what: &'static str, rank: usize, ranks: usize) -> Result<(), ConstraintError> {
    match rank < ranks {
        true => Ok(()),
        false => Err(ConstraintError::NoSuchRank { what, rank, ranks }),
    }
}

fn require_leaf(what: &'static str, leaf: usize, leaves: usize) -> Result<(), ConstraintError> {
    match leaf < leaves {
        true => Ok(()),
        false => Err(ConstraintError::NoSuchLeaf { what, leaf, leaves }),
    }
}
