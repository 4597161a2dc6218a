//! Load balancers as placement strategies (thesis 3.4): more ranks than leaves
//! is their normal case, and each rank has a load.
//!
//! ```text
//! TMLB_MIN_WEIGHT   affinity orders the ranks, the order is cut into a part for each leaf
//!                   loads decide who goes where, the parts only the order of choice
//!                   migrations decide which leaf gets which part (Hungarian method)
//! TMLB_TREEBASED    affinity decides where on the tree the ranks of a leaf go, as a whole
//!                   loads are evened out inside each node, in the order of affinity
//! ```

mod deal;
mod fake;
mod min_weight;
mod tree_based;

pub use deal::deal_by_load;
pub use fake::FakeTree;
pub use min_weight::{migration_costs, min_weight};
pub use tree_based::tree_based;

use super::constraints::{Constraints, usable_slots};
use super::place::require_finite_sums;
use super::{ConstraintError, Options, Outcome, Placement, PlacementError, Strategy, check};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// Input of a balancer: ranks, loads and the current placement.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// Affinities of the ranks.
    pub matrix: &'a Matrix,
    /// Load of each rank, in any unit.
    pub loads: &'a [f64],
    /// Leaf of each rank now; a leaf that the topology forbids, or that does not
    /// exist, is left in any case.
    pub current: &'a [usize],
}

/// Balances the loads that the options give.
pub(super) fn place(
    strategy: Strategy,
    matrix: &Matrix,
    topology: &Topology,
    options: &Options,
) -> Result<Outcome, PlacementError> {
    let ranks = matrix.order();
    let loads = options.loads.ok_or(PlacementError::NoLoads { strategy })?;
    check_loads(loads, ranks)?;
    require_finite_sums(matrix)?;
    let nothing = Constraints::default();
    let constraints = options.constraints.unwrap_or(&nothing);
    refuse_constraints_of_ranks(strategy, constraints)?;
    let slots = usable_slots(constraints, topology)?;
    let unusable = (0..slots.len()).filter(|&leaf| slots[leaf] == 0);
    let usable = topology.clone().forbidding(&unusable.collect::<Vec<_>>())?;
    let leaves = usable.allowed_leaves();
    if leaves.is_empty() {
        return Err(ConstraintError::TooFewSlots { ranks, slots: 0 }.into());
    }
    let identity = match options.current {
        Some(current) => {
            check::on_leaves(current, ranks, topology)?;
            current.to_vec()
        }
        None => in_blocks(&leaves, ranks),
    };
    let situation = Situation {
        matrix,
        loads,
        current: &identity,
    };
    let leaf_of_rank = match strategy {
        Strategy::TreeBased => tree_based(&situation, &usable, options.seed)?,
        _ => min_weight(&situation, &usable, options.seed)?,
    };
    check_slots(&leaf_of_rank, constraints, &slots)?;
    Ok(Outcome {
        strategy,
        cost: options.objective.value(matrix, topology, &leaf_of_rank),
        identity_cost: options.objective.value(matrix, topology, &identity),
        placement: Placement { leaf_of_rank },
    })
}

/// Default placement: equally many neighbouring ranks on each leaf.
pub fn in_blocks(leaves: &[usize], ranks: usize) -> Vec<usize> {
    let count = ranks.max(leaves.len());
    let leaf = |rank: usize| leaves[(rank as u128 * leaves.len() as u128 / count as u128) as usize];
    (0..ranks).map(leaf).collect()
}

fn refuse_constraints_of_ranks(
    strategy: Strategy,
    constraints: &Constraints,
) -> Result<(), PlacementError> {
    let unsupported = [
        (constraints.fixed.is_empty(), "ranks that are fixed"),
        (
            constraints.allowed.is_empty(),
            "cores allowed to certain ranks",
        ),
        (
            constraints.together.is_empty(),
            "ranks that must be together",
        ),
    ];
    match unsupported.into_iter().find(|(empty, _)| !empty) {
        Some((_, what)) => Err(PlacementError::NotWithLoads { strategy, what }),
        None => Ok(()),
    }
}

fn check_loads(loads: &[f64], ranks: usize) -> Result<(), PlacementError> {
    if loads.len() != ranks {
        return Err(PlacementError::WrongLoads {
            found: loads.len(),
            expected: ranks,
        });
    }
    let bad = |load: &f64| !load.is_finite() || *load < 0.0 || *load > f64::MAX / 1e9;
    match loads.iter().position(bad) {
        None => Ok(()),
        Some(rank) => Err(PlacementError::BadLoad {
            rank,
            load: loads[rank],
        }),
    }
}

/// Slots are only respected where a user gave them: without, a leaf takes any
/// number of ranks.
fn check_slots(
    leaf_of_rank: &[usize],
    constraints: &Constraints,
    slots: &[usize],
) -> Result<(), PlacementError> {
    let mut found = vec![0; slots.len()];
    leaf_of_rank.iter().for_each(|&leaf| found[leaf] += 1);
    let overfull = (0..slots.len()).find(|&leaf| found[leaf] > slots[leaf]);
    match overfull {
        Some(leaf) if !constraints.slots.is_empty() => Err(PlacementError::Overfull {
            leaf,
            found: found[leaf],
            slots: slots[leaf],
        }),
        _ => Ok(()),
    }
}
