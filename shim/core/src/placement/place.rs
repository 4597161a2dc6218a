//! One way in for all strategies: check, try the candidates, keep the cheapest.

use super::objective::{dist_comm, mean_of_directions};
use super::treematch::{self, Parameters};
use super::{PlacementError, Strategy, baselines, place_top_down};
use crate::affinity::Matrix;
use crate::topology::Topology;

/// Which leaf each rank belongs on: σ of the thesis, one rank on each leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// Logical leaf of every rank.
    pub leaf_of_rank: Vec<usize>,
}

/// What a placement may take into account besides matrix and topology.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// Leaf of each rank now: the identity candidate. Without it, identity is packed.
    pub current: Option<&'a [usize]>,
    /// Seed of all random choices; the same seed gives the same placement.
    pub seed: u64,
}

/// A placement and what it costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The placement.
    pub placement: Placement,
    /// The strategy that made it; never [`Strategy::Best`].
    pub strategy: Strategy,
    /// Its [`dist_comm`] on the topology as given.
    pub cost: f64,
    /// The [`dist_comm`] of identity, for comparison.
    pub identity_cost: f64,
}

/// Places the ranks of `matrix` on the allowed leaves of `topology`.
///
/// # Errors
/// More ranks than allowed leaves; `current` that is no placement on these
/// leaves; affinities whose sum is not finite.
pub fn place(
    strategy: Strategy,
    matrix: &Matrix,
    topology: &Topology,
    options: &Options,
) -> Result<Outcome, PlacementError> {
    let ranks = matrix.order();
    let leaves = topology.allowed_leaves().len();
    if ranks > leaves {
        return Err(PlacementError::TooManyRanks { ranks, leaves });
    }
    require_finite_sums(matrix)?;
    let identity = match options.current {
        Some(current) => {
            check(current, ranks, topology)?;
            current.to_vec()
        }
        None => baselines::packed(topology, ranks),
    };
    let identity_cost = dist_comm(matrix, topology, &identity);
    let candidates = match strategy {
        Strategy::Identity => vec![(strategy, identity)],
        Strategy::Packed => vec![(strategy, baselines::packed(topology, ranks))],
        Strategy::RoundRobin => vec![(strategy, baselines::round_robin(topology, ranks))],
        Strategy::TreeMatch => treematch_candidates(matrix, topology, options.seed)?,
        Strategy::Best => {
            let mut all = vec![
                (Strategy::Identity, identity),
                (Strategy::Packed, baselines::packed(topology, ranks)),
            ];
            all.extend(treematch_candidates(matrix, topology, options.seed)?);
            all
        }
    };
    let mut best: Option<Outcome> = None;
    for (strategy, leaf_of_rank) in candidates {
        let cost = dist_comm(matrix, topology, &leaf_of_rank);
        if best.as_ref().is_none_or(|b| clearly_cheaper(cost, b.cost)) {
            best = Some(Outcome {
                placement: Placement { leaf_of_rank },
                strategy,
                cost,
                identity_cost,
            });
        }
    }
    Ok(best.expect("every strategy has at least one candidate"))
}

/// Whether `cost` is below `other` by more than rounding: between placements
/// that cost the same, the earlier candidate stays.
fn clearly_cheaper(cost: f64, other: f64) -> bool {
    cost < other - other.abs() * 1e-12
}

/// Grouping adds affinities up many times over; what is finite with this margin
/// stays finite.
fn require_finite_sums(matrix: &Matrix) -> Result<(), PlacementError> {
    let total = matrix.total();
    if total < f64::MAX / 1e6 {
        Ok(())
    } else {
        Err(PlacementError::TooHeavy { total })
    }
}

/// TreeMatch with its switch from exact to fast grouping and with fast grouping
/// throughout, on the arities as they are and on their prime factors.
///
/// Where the allowed leaves form no balanced symmetric tree there is one
/// candidate, the top-down partition.
fn treematch_candidates(
    matrix: &Matrix,
    topology: &Topology,
    seed: u64,
) -> Result<Vec<(Strategy, Vec<usize>)>, PlacementError> {
    let affinity = mean_of_directions(matrix)?;
    let pruned = topology.pruned()?;
    let allowed = topology.allowed_leaves();
    let mut found = Vec::new();
    if let Some(arities) = pruned.arities() {
        let decomposed = treematch::decomposed(&arities);
        let switching = Parameters {
            seed,
            ..Parameters::default()
        };
        let fast = Parameters {
            exact_below: 0,
            ..switching
        };
        for arities in distinct(arities, decomposed) {
            let grouped = treematch::group(&affinity, &arities, &switching)?;
            found.push(grouped.leaf_of_entity());
            if grouped.has_exact_choice() {
                let fast = treematch::group(&affinity, &arities, &fast)?;
                found.push(fast.leaf_of_entity());
            }
        }
    } else {
        found.push(place_top_down(&affinity, &pruned, seed)?);
    }
    let on_topology = |leaves: Vec<usize>| leaves.into_iter().map(|leaf| allowed[leaf]).collect();
    Ok(found
        .into_iter()
        .map(|leaves| (Strategy::TreeMatch, on_topology(leaves)))
        .collect())
}

fn distinct(first: Vec<usize>, second: Vec<usize>) -> Vec<Vec<usize>> {
    if first == second {
        vec![first]
    } else {
        vec![first, second]
    }
}

/// Checks that `leaf_of_rank` is a placement of `ranks` ranks on `topology`.
///
/// # Errors
/// Another number of leaves than ranks; a leaf that does not exist, is
/// forbidden, or has two ranks.
pub fn check(
    leaf_of_rank: &[usize],
    ranks: usize,
    topology: &Topology,
) -> Result<(), PlacementError> {
    if leaf_of_rank.len() != ranks {
        return Err(PlacementError::WrongCount {
            found: leaf_of_rank.len(),
            expected: ranks,
        });
    }
    let leaves = topology.leaf_count();
    let mut rank_on = vec![None; leaves];
    for (rank, &leaf) in leaf_of_rank.iter().enumerate() {
        if leaf >= leaves {
            return Err(PlacementError::NoSuchLeaf { rank, leaf, leaves });
        }
        if topology.leaf(leaf).forbidden {
            return Err(PlacementError::ForbiddenLeaf { rank, leaf });
        }
        if let Some(first) = rank_on[leaf].replace(rank) {
            let second = rank;
            return Err(PlacementError::LeafTwice {
                leaf,
                first,
                second,
            });
        }
    }
    Ok(())
}

/// The new rank of each process of the launcher: process `i`, which runs on
/// leaf `leaf_of_process[i]`, becomes the rank that belongs there.
///
/// # Errors
/// Lists of different lengths; two processes or two ranks on one leaf; a rank
/// on a leaf without a process.
pub fn permutation(
    leaf_of_rank: &[usize],
    leaf_of_process: &[usize],
) -> Result<Vec<usize>, PlacementError> {
    if leaf_of_rank.len() != leaf_of_process.len() {
        return Err(PlacementError::WrongCount {
            found: leaf_of_rank.len(),
            expected: leaf_of_process.len(),
        });
    }
    let mut process_on = std::collections::HashMap::new();
    for (second, &leaf) in leaf_of_process.iter().enumerate() {
        if let Some(first) = process_on.insert(leaf, second) {
            return Err(PlacementError::LeafTwice {
                leaf,
                first,
                second,
            });
        }
    }
    let mut new_rank = vec![None; leaf_of_process.len()];
    for (rank, &leaf) in leaf_of_rank.iter().enumerate() {
        let process = *process_on
            .get(&leaf)
            .ok_or(PlacementError::NoProcess { rank, leaf })?;
        if let Some(first) = new_rank[process].replace(rank) {
            let second = rank;
            return Err(PlacementError::LeafTwice {
                leaf,
                first,
                second,
            });
        }
    }
    // Equally many ranks and processes, and no process twice: all have one.
    Ok(new_rank.into_iter().flatten().collect())
}
