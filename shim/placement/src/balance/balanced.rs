//! Entry point of the load balancers: checks loads and slots.

use crate::balance::min_weight::min_weight;
use crate::balance::situation::Situation;
use crate::balance::tree_based::tree_based;
use crate::check;
use crate::check::require_finite_sums;
use crate::constraints::error::ConstraintError;
use crate::constraints::request::Constraints;
use crate::constraints::resolved::usable_slots;
use crate::error::PlacementError;
use crate::options::{Options, Outcome, Placement};
use crate::strategy::Strategy;
use treepie_base::{Leaf, List, Rank, Slice};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// Balances the loads in the options.
pub(crate) fn place_balanced(
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
    let unusable = slots.keys().filter(|&leaf| slots[leaf] == 0);
    let usable = topology.clone().forbidding(&unusable.collect::<Vec<_>>())?;
    let leaves = usable.allowed_leaves();
    if leaves.is_empty() {
        return Err(ConstraintError::TooFewSlots { ranks, slots: 0 }.into());
    }
    let identity = match options.current {
        Some(current) => {
            check::on_leaves(current, ranks, topology)?;
            current.to_owned()
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

/// Default placement: equal numbers of consecutive ranks on each leaf.
pub fn in_blocks(leaves: &[Leaf], ranks: usize) -> List<Rank, Leaf> {
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

fn check_loads(loads: &Slice<Rank, f64>, ranks: usize) -> Result<(), PlacementError> {
    if loads.len() != ranks {
        return Err(PlacementError::WrongLoads {
            found: loads.len(),
            expected: ranks,
        });
    }
    let bad = |load: &f64| !load.is_finite() || *load < 0.0 || *load > f64::MAX / 1e9;
    match loads.position(bad) {
        None => Ok(()),
        Some(rank) => Err(PlacementError::BadLoad {
            rank,
            load: loads[rank],
        }),
    }
}

/// Checks the slots that a user gave; without any, a leaf takes any number of ranks.
fn check_slots(
    leaf_of_rank: &Slice<Rank, Leaf>,
    constraints: &Constraints,
    slots: &Slice<Leaf, usize>,
) -> Result<(), PlacementError> {
    let mut found: List<Leaf, usize> = vec![0; slots.len()].into();
    leaf_of_rank.iter().for_each(|&leaf| found[leaf] += 1);
    let overfull = slots.keys().find(|&leaf| found[leaf] > slots[leaf]);
    match overfull {
        Some(leaf) if !constraints.slots.is_empty() => Err(PlacementError::Overfull {
            leaf,
            found: found[leaf],
            slots: slots[leaf],
        }),
        _ => Ok(()),
    }
}
