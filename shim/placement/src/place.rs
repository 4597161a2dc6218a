//! One way in for all strategies: check, try the candidates, keep the cheapest.

use super::congestion::refine_congestion;
use super::constraints::{Constraints, SlotTree};
use super::objective::Objective;
use super::{Effort, PlacementError, Progress, Strategy, balance, baselines, candidates, check};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// Leaf of each rank: σ of the thesis. One rank on each leaf, unless constraints give leaves more
/// slots or loads were balanced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// Logical leaf of every rank.
    pub leaf_of_rank: Vec<usize>,
}

/// Options of a placement besides matrix and topology.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// Leaf of each rank now: the identity candidate. Without it, identity is packed.
    pub current: Option<&'a [usize]>,
    /// Seed of all random choices; the same seed gives the same placement.
    pub seed: u64,
    /// Amount of work; counted in steps, never in seconds.
    pub effort: Effort,
    /// Most threads that work at the same time; 0 is 1. The placement is the same for any number.
    pub threads: usize,
    /// Constraints to respect; nothing if it is `None`.
    pub constraints: Option<&'a Constraints>,
    /// The objective that is minimized.
    pub objective: Objective,
    /// Load of each rank, in any unit, for the strategies that balance loads.
    pub loads: Option<&'a [f64]>,
    /// Told how far the longest part is, multisection.
    pub progress: Option<&'a Progress>,
}

/// A placement and what it costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The placement.
    pub placement: Placement,
    /// The strategy that made it; never [`Strategy::Best`].
    pub strategy: Strategy,
    /// Its cost by the requested objective, on the topology as given.
    pub cost: f64,
    /// The same of identity, for comparison.
    pub identity_cost: f64,
}

/// Places the ranks of `matrix` on the allowed leaves of `topology`.
///
/// # Errors
/// More ranks than places; constraints that contradict each other; `current`
/// that is no placement on these leaves; affinities whose sum is not finite; a
/// strategy that needs another tree, or loads that are not given.
pub fn place(
    strategy: Strategy,
    matrix: &Matrix,
    topology: &Topology,
    options: &Options,
) -> Result<Outcome, PlacementError> {
    if strategy.balances_loads() {
        return balance::place(strategy, matrix, topology, options);
    }
    let ranks = matrix.order();
    let nothing = Constraints::default();
    let constraints = options.constraints.unwrap_or(&nothing);
    let slot_tree = SlotTree::new(constraints, ranks, topology)?;
    require_finite_sums(matrix)?;
    let identity = identity(&slot_tree, topology, options)?;
    let nowhere = slot_tree.topology().allowed_leaves().is_empty();
    let slots = match strategy {
        // There are no ranks either: nothing fits into no slots.
        _ if nowhere => vec![(Strategy::Identity, Vec::new())],
        Strategy::Identity => vec![(strategy, slot_tree.slots_on(&identity))],
        _ => candidates::generate(strategy, matrix, &slot_tree, &identity, options)?,
    };
    let mut chosen: Option<(Strategy, Vec<usize>)> = None;
    let mut least = Vec::new();
    for (strategy, slots) in slots {
        let slots = slot_tree.admit(slots)?;
        let leaf_of_rank = slot_tree.leaves_of(&slots);
        let cost = options.objective.key(matrix, topology, &leaf_of_rank);
        if chosen.is_none() || clearly_cheaper(&cost, &least) {
            least = cost;
            chosen = Some((strategy, slots));
        }
    }
    let (mut chosen, mut slots) = chosen.expect("every strategy has at least one candidate");
    let relieves = matches!(
        options.objective,
        Objective::Congestion | Objective::Mixture
    );
    if strategy == Strategy::Best && relieves {
        let rounds = options.effort.relieving_rounds();
        let relieved = refine_congestion(matrix, topology, &slot_tree, slots.clone(), rounds);
        let leaf_of_rank = slot_tree.leaves_of(&relieved);
        let cost = options.objective.key(matrix, topology, &leaf_of_rank);
        if clearly_cheaper(&cost, &least) {
            slots = relieved;
            if matches!(chosen, Strategy::Identity | Strategy::Packed) {
                chosen = Strategy::Swaps;
            }
        }
    }
    let (strategy, leaf_of_rank) = (chosen, slot_tree.leaves_of(&slots));
    Ok(Outcome {
        strategy,
        cost: options.objective.value(matrix, topology, &leaf_of_rank),
        identity_cost: options.objective.value(matrix, topology, &identity),
        placement: Placement { leaf_of_rank },
    })
}

/// Current placement; packed by default.
pub(super) fn identity(
    slot_tree: &SlotTree,
    topology: &Topology,
    options: &Options,
) -> Result<Vec<usize>, PlacementError> {
    let ranks = slot_tree.ranks();
    match (options.current, options.constraints) {
        (Some(current), None) => check(current, ranks, topology)?,
        // Constraints may make ranks leave where they are; they only must exist.
        (Some(current), Some(_)) => check::on_leaves(current, ranks, topology)?,
        (None, _) => {
            let packed = baselines::packed(slot_tree.topology(), ranks);
            return Ok(slot_tree.leaves_of(&slot_tree.admit(packed)?));
        }
    }
    Ok(options.current.unwrap_or_default().to_vec())
}

/// Whether `cost` is below `other` by more than rounding: between placements
/// that cost the same, the earlier candidate stays. Costs are compared by their
/// first number, then by the next.
pub(super) fn clearly_cheaper(cost: &[f64], other: &[f64]) -> bool {
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

/// Grouping adds affinities up many times over; what is finite with this margin
/// stays finite.
pub(super) fn require_finite_sums(matrix: &Matrix) -> Result<(), PlacementError> {
    let total = matrix.total();
    if total < f64::MAX / 1e6 {
        Ok(())
    } else {
        Err(PlacementError::TooHeavy { total })
    }
}
