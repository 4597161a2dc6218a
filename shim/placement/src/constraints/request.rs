//! Constraints as a user requests them.

use std::collections::BTreeMap;
use treepie_base::{Leaf, List, Rank};

/// Requirements of a user for a placement, in leaves of the topology. Nothing is asked
/// by default: one rank on each leaf that the topology allows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Constraints {
    /// Number of ranks each leaf takes at most; all one if it is empty. No core takes more than is
    /// needed for the ranks to fit.
    pub slots: List<Leaf, usize>,
    /// Leaves that are not used, besides those that the topology forbids.
    pub excluded: Vec<Leaf>,
    /// Ranks that have to be on a certain leaf.
    pub fixed: BTreeMap<Rank, Leaf>,
    /// The leaves that a rank may use; ranks that are not named may use all.
    pub allowed: BTreeMap<Rank, Vec<Leaf>>,
    /// Sets of ranks that must share a node, for the sake of shared memory.
    /// Sets that have a rank in common become one.
    pub together: Vec<Vec<Rank>>,
    /// The level whose parts a set in `together` must not leave. Without it,
    /// the level called node, host or machine; a tree that has none of them is
    /// one machine, on which all ranks are together anyway.
    pub together_level: Option<String>,
    /// Number of leaves used of each core, where the level above the leaves is that of cores with
    /// several hardware threads; all if `None`.
    pub threads_per_core: Option<usize>,
}

impl Constraints {
    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        *self == Constraints::default()
    }
}
