//! Options and outcome of a placement.

use crate::constraints::request::Constraints;
use crate::effort::Effort;
use crate::objective::choice::Objective;
use crate::progress::Progress;
use crate::strategy::Strategy;
use treepie_base::{Leaf, List, Rank, Slice};

/// Leaf of each rank: σ of the thesis. One rank on each leaf, unless constraints give leaves more
/// slots or loads were balanced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// Logical leaf of every rank.
    pub leaf_of_rank: List<Rank, Leaf>,
}

/// Options of a placement besides matrix and hardware.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// Current leaf of each rank: the identity candidate. If `None`, identity is packed.
    pub current: Option<&'a Slice<Rank, Leaf>>,
    /// Seed of all random choices; the same seed gives the same placement.
    pub seed: u64,
    /// Amount of work, counted in steps and not in seconds.
    pub effort: Effort,
    /// Maximum number of threads; 0 is 1. The placement is the same for any number.
    pub threads: usize,
    /// Constraints to respect, if any.
    pub constraints: Option<&'a Constraints>,
    /// The objective that is minimized.
    pub objective: Objective,
    /// Load of each rank, in any unit, for the strategies that balance loads.
    pub loads: Option<&'a Slice<Rank, f64>>,
    /// Progress of multisection, the longest part.
    pub progress: Option<&'a Progress>,
}

/// A placement and its cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The placement.
    pub placement: Placement,
    /// The strategy that made it; never [`Strategy::Best`].
    pub strategy: Strategy,
    /// Cost by the requested objective, on the given hardware.
    pub cost: f64,
    /// Cost of identity, for comparison.
    pub identity_cost: f64,
}
