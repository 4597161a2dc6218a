//! The flow common to all targets: candidates, the choice of the cheapest, its final refinement.

use crate::check;
use crate::check::require_finite_sums;
use crate::constraints::request::Constraints;
use crate::constraints::slot_tree::SlotTree;
use crate::error::PlacementError;
use crate::hardware::Hardware;
use crate::initial::baselines;
use crate::objective::choice::Objective;
use crate::options::{Options, Outcome, Placement};
use crate::strategy::Strategy;
use treepie_base::{Leaf, List, Rank, Slice, Slot};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// A placement, one slot for each rank, and its strategy.
pub(crate) type Candidate = (Strategy, List<Rank, Slot>);

/// Phases of a search on one kind of target.
pub(crate) trait Search {
    /// Placements by the strategy; at least one. For [`Strategy::Best`] the first is the identity.
    ///
    /// # Errors
    /// The strategy does not fit the target, or sums are not finite.
    fn candidates(&self) -> Result<Vec<Candidate>, PlacementError>;

    /// Returns the chosen placement after the final refinement.
    ///
    /// # Errors
    /// None for a placement that satisfies the constraints.
    fn finish(&self, chosen: Candidate) -> Result<Candidate, PlacementError>;
}

/// Ranks, hardware and constraints of a placement, all checked, and the strategy.
pub(crate) struct Problem<'a> {
    pub strategy: Strategy,
    pub matrix: &'a Matrix,
    pub hardware: Hardware<'a>,
    pub slot_tree: SlotTree,
    /// Current leaf of each rank.
    identity: List<Rank, Leaf>,
    pub options: &'a Options<'a>,
}

impl<'a> Problem<'a> {
    /// Checks matrix, constraints and current placement.
    ///
    /// # Errors
    /// See [`crate::place()`].
    pub(crate) fn new(
        strategy: Strategy,
        matrix: &'a Matrix,
        hardware: Hardware<'a>,
        options: &'a Options<'a>,
    ) -> Result<Self, PlacementError> {
        let unconstrained = Constraints::default();
        let constraints = options.constraints.unwrap_or(&unconstrained);
        let slot_tree = SlotTree::new(constraints, matrix.order(), hardware.topology)?;
        require_finite_sums(matrix)?;
        Ok(Problem {
            identity: identity(&slot_tree, hardware.topology, options)?,
            strategy,
            matrix,
            hardware,
            slot_tree,
            options,
        })
    }

    /// Places the ranks.
    ///
    /// # Errors
    /// See [`Search::candidates`].
    pub(crate) fn solve(&self, search: &impl Search) -> Result<Outcome, PlacementError> {
        let candidates = match self.strategy {
            Strategy::Packed => vec![self.packed()],
            Strategy::RoundRobin => {
                let slots = self.slot_tree.topology();
                let slots = baselines::round_robin(slots, self.matrix.order());
                vec![(self.strategy, SlotTree::from_own_leaves(slots))]
            }
            _ if self.strategy == Strategy::Identity || self.matrix.order() == 0 => {
                vec![self.stay()]
            }
            _ => search.candidates()?,
        };
        let (strategy, slots) = search.finish(self.cheapest(candidates)?)?;
        let leaf_of_rank = self.slot_tree.leaves_of(&slots);
        let objective = self.options.objective;
        let cost = |leaves: &Slice<Rank, Leaf>| objective.value(self.matrix, self.hardware, leaves);
        Ok(Outcome {
            strategy,
            cost: cost(&leaf_of_rank),
            identity_cost: cost(&self.identity),
            placement: Placement { leaf_of_rank },
        })
    }

    /// The identity.
    pub(crate) fn stay(&self) -> Candidate {
        (Strategy::Identity, self.slot_tree.slots_on(&self.identity))
    }

    /// Places every rank on the slot of its number.
    pub(crate) fn packed(&self) -> Candidate {
        let ranks = self.matrix.order();
        let slots = baselines::packed(self.slot_tree.topology(), ranks);
        (Strategy::Packed, SlotTree::from_own_leaves(slots))
    }

    /// The cheapest candidate by the objective after repair of violated constraints; of equal costs
    /// the first. For the mixture on networks, only candidates that are not worse than the identity
    /// in any part of the cost.
    ///
    /// # Errors
    /// See [`SlotTree::admit`].
    pub(crate) fn cheapest(&self, candidates: Vec<Candidate>) -> Result<Candidate, PlacementError> {
        let guarded = self.strategy == Strategy::Best
            && self.options.objective == Objective::Mixture
            && self.hardware.network.is_some();
        let mut first: Option<Vec<f64>> = None;
        let mut best: Option<(Vec<f64>, Candidate)> = None;
        for (strategy, slots) in candidates {
            let slots = self.slot_tree.admit(slots)?;
            let leaf_of_rank = self.slot_tree.leaves_of(&slots);
            let objective = self.options.objective;
            let cost = objective.key(self.matrix, self.hardware, &leaf_of_rank);
            let first = first.get_or_insert_with(|| cost.clone());
            let mut parts = cost.iter().zip(first);
            if guarded && parts.any(|(cost, first)| *cost > *first * (1.0 + 1e-9)) {
                continue;
            }
            if best
                .as_ref()
                .is_none_or(|best| clearly_cheaper(&cost, &best.0))
            {
                best = Some((cost, (strategy, slots)));
            }
        }
        let (_, best) = best.expect("every strategy has a candidate, and the first is no worse");
        Ok(best)
    }
}

/// Strategy reported for a placement after swaps.
pub(crate) fn after_swaps(made_by: Strategy) -> Strategy {
    match made_by {
        Strategy::Identity | Strategy::Packed => Strategy::Swaps,
        other => other,
    }
}

/// Leaf of each rank without a placement: the current one; packed by default.
///
/// # Errors
/// The current placement is invalid.
fn identity(
    slot_tree: &SlotTree,
    topology: &Topology,
    options: &Options,
) -> Result<List<Rank, Leaf>, PlacementError> {
    let ranks = slot_tree.ranks();
    let Some(current) = options.current else {
        let packed = baselines::packed(slot_tree.topology(), ranks);
        let packed = SlotTree::from_own_leaves(packed);
        return Ok(slot_tree.leaves_of(&slot_tree.admit(packed)?));
    };
    match options.constraints {
        None => check::check(current, ranks, topology)?,
        // Constraints may make ranks leave their leaves, so these only have to exist.
        Some(_) => check::on_leaves(current, ranks, topology)?,
    }
    Ok(current.to_owned())
}

/// True if `cost` is below `other` by more than rounding: of placements with the same cost, the
/// earlier candidate is kept. Costs are compared by their first number, then by the next.
fn clearly_cheaper(cost: &[f64], other: &[f64]) -> bool {
    for (&here, &there) in cost.iter().zip(other) {
        let rounding = there.abs() * 1e-12;
        if here < there - rounding {
            return true;
        }
        if here > there + rounding {
            return false;
        }
    }
    false
}
