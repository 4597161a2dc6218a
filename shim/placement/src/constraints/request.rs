//! Constraints as a user requests them.

use std::collections::BTreeMap;
use treepie_base::{Leaf, List, Rank};

/// A user's requirements of a placement, in leaves of the topology. The default has no constraints:
/// one rank on each leaf that the topology allows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Constraints {
    /// Maximum number of ranks on each leaf; 1 for all leaves if empty. No core takes more ranks
    /// than needed for all to fit.
    pub slots: List<Leaf, usize>,
    /// Leaves that are not used, besides those that the topology forbids.
    pub excluded: Vec<Leaf>,
    /// Ranks that must be on a given leaf.
    pub fixed: BTreeMap<Rank, Leaf>,
    /// Leaves that a rank may use; ranks without an entry may use all.
    pub allowed: BTreeMap<Rank, Vec<Leaf>>,
    /// Sets of ranks that must share a node, for example to use shared memory. Sets with a common
    /// rank are merged.
    pub together: Vec<Vec<Rank>>,
    /// Level of the nodes that the sets in `together` must not leave. Default: the level called
    /// node, host or machine; a tree without any of these is one machine, on which all ranks are
    /// together.
    pub together_level: Option<String>,
    /// Number of leaves used of each core, if the level above the leaves is that of cores with
    /// several hardware threads; `None` for all.
    pub threads_per_core: Option<usize>,
}

impl Constraints {
    /// True if there are no constraints.
    pub fn is_empty(&self) -> bool {
        *self == Constraints::default()
    }
}
