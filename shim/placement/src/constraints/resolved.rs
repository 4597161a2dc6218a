//! Constraints resolved to slots and leaves, each checked against the ranks and the topology: slots
//! of leaves, lists of leaves for ranks, sets of ranks.

use std::collections::{BTreeMap, HashMap};

use crate::constraints::error::ConstraintError;
use crate::constraints::request::Constraints;
use treepie_base::{Leaf, List, Rank, Slice};
use treepie_topology::Topology;

/// Names of the levels whose nodes have separate memory.
const MACHINE_LEVELS: [&str; 3] = ["node", "host", "machine"];

/// Number of ranks that each leaf takes, 0 if none.
pub(crate) fn usable_slots(
    constraints: &Constraints,
    topology: &Topology,
) -> Result<List<Leaf, usize>, ConstraintError> {
    let leaves = topology.leaf_count();
    let mut slots = match constraints.slots.len() {
        0 => vec![1; leaves].into(),
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
    for (leaf, count) in slots.iter_mut_enumerated() {
        if topology.leaf(leaf).forbidden {
            *count = 0;
        }
    }
    if let Some(threads) = constraints.threads_per_core {
        leave_threads_out(&mut slots, topology, threads)?;
    }
    Ok(slots)
}

/// Leaves only the first usable threads of each core, as many as requested.
fn leave_threads_out(
    slots: &mut Slice<Leaf, usize>,
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
            let surplus: Vec<Leaf> = usable.skip(threads).collect();
            surplus.into_iter().for_each(|leaf| slots[leaf] = 0);
        }
    }
    Ok(())
}

/// Least number of ranks on each core with which `ranks` ranks fit.
pub(super) fn lowest_height(slots: &Slice<Leaf, usize>, ranks: usize) -> usize {
    let fits = |height: usize| {
        let slots = slots.iter().map(|&count| count.min(height));
        slots.fold(0_usize, usize::saturating_add) >= ranks
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

/// Allowed leaves of ranks, as a small number of distinct lists.
pub(super) struct Allowed {
    pub(super) list_of_rank: List<Rank, Option<usize>>,
    pub(super) lists: Vec<Vec<Leaf>>,
    fixed_on: BTreeMap<Leaf, usize>,
}

impl Allowed {
    pub(super) fn new(
        constraints: &Constraints,
        ranks: usize,
        slots: &Slice<Leaf, usize>,
        topology: &Topology,
    ) -> Result<Self, ConstraintError> {
        let mut leaves_of_rank: BTreeMap<Rank, Vec<Leaf>> = BTreeMap::new();
        for (&rank, leaves) in &constraints.allowed {
            require_rank("--allow", rank, ranks)?;
            for &leaf in leaves {
                require_leaf("--allow", leaf, slots.len())?;
            }
            let mut usable: Vec<Leaf> = leaves
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
        let mut list_of_rank = List::from(vec![None; ranks]);
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

    /// Slots of each leaf, at most `height` unless more ranks are fixed to it.
    pub(super) fn capped(&self, slots: &Slice<Leaf, usize>, height: usize) -> List<Leaf, usize> {
        let fixed = |leaf: &Leaf| self.fixed_on.get(leaf).copied().unwrap_or(0);
        let slots = slots.iter_enumerated();
        slots
            .map(|(leaf, &count)| count.min(height.max(fixed(&leaf))))
            .collect()
    }
}

/// Reason why a rank cannot be fixed to a leaf.
fn why_unusable(
    constraints: &Constraints,
    topology: &Topology,
    slots: &Slice<Leaf, usize>,
    leaf: Leaf,
    allowed: Option<&Vec<Leaf>>,
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

/// Merges the sets of ranks into disjoint sets of two or more.
pub(super) fn joined(
    together: &[Vec<Rank>],
    ranks: usize,
) -> Result<Vec<Vec<Rank>>, ConstraintError> {
    let mut set_of: BTreeMap<Rank, usize> = BTreeMap::new();
    let mut sets: Vec<Vec<Rank>> = Vec::new();
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

/// Level of the nodes on which ranks of a set must be together.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedLevel {
    pub depth: usize,
    pub name: String,
}

impl SharedLevel {
    /// The level named in the constraints, or else that of machines.
    ///
    /// # Errors
    /// The topology does not have the level.
    pub(super) fn new(
        constraints: &Constraints,
        topology: &Topology,
    ) -> Result<Self, ConstraintError> {
        let levels = topology.levels();
        let Some(name) = &constraints.together_level else {
            let depth = shared_depth(topology);
            let level = depth.checked_sub(1);
            let name = level.map_or("machine", |level| &levels[level].name);
            return Ok(SharedLevel {
                depth,
                name: name.to_owned(),
            });
        };
        match levels.iter().position(|level| level.name == *name) {
            Some(level) => Ok(SharedLevel {
                depth: level + 1,
                name: name.clone(),
            }),
            None => {
                let known = levels.iter().map(|level| level.name.as_str());
                Err(ConstraintError::NoSuchLevel {
                    name: name.clone(),
                    known: known.collect::<Vec<_>>().join(", "),
                })
            }
        }
    }
}

/// Depth of the nodes whose ranks share memory; 0 if the whole tree is one machine.
pub(crate) fn shared_depth(topology: &Topology) -> usize {
    let levels = topology.levels();
    let depth_of = |name: &&str| levels.iter().position(|level| level.name == *name);
    MACHINE_LEVELS
        .iter()
        .find_map(depth_of)
        .map_or(0, |level| level + 1)
}

fn require_rank(what: &'static str, rank: Rank, ranks: usize) -> Result<(), ConstraintError> {
    match rank.0 < ranks {
        true => Ok(()),
        false => Err(ConstraintError::NoSuchRank { what, rank, ranks }),
    }
}

fn require_leaf(what: &'static str, leaf: Leaf, leaves: usize) -> Result<(), ConstraintError> {
    match leaf.0 < leaves {
        true => Ok(()),
        false => Err(ConstraintError::NoSuchLeaf { what, leaf, leaves }),
    }
}
