//! Conditions of a placement, and the permutation of ranks that follows from one.

use crate::error::PlacementError;
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// Checks that `leaf_of_rank` is a placement of `ranks` ranks on `topology`.
///
/// # Errors
/// Another number of leaves than ranks; a leaf that does not exist, is forbidden, or has two ranks.
pub fn check(
    leaf_of_rank: &[usize],
    ranks: usize,
    topology: &Topology,
) -> Result<(), PlacementError> {
    on_leaves(leaf_of_rank, ranks, topology)?;
    let mut rank_on = vec![None; topology.leaf_count()];
    for (rank, &leaf) in leaf_of_rank.iter().enumerate() {
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
/// leaf `leaf_of_process[i]`, becomes the rank that belongs there. Where a leaf
/// has several, the first process becomes the first rank, and so on.
///
/// # Errors
/// Lists of different lengths; a rank on a leaf that has no process for it.
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
    let processes = by_leaf(leaf_of_process);
    let ranks = by_leaf(leaf_of_rank);
    let mut new_rank = vec![0; leaf_of_process.len()];
    let mut next = 0;
    for rank in ranks {
        let leaf = leaf_of_rank[rank];
        while next < processes.len() && leaf_of_process[processes[next]] < leaf {
            next += 1;
        }
        match processes.get(next) {
            Some(&process) if leaf_of_process[process] == leaf => new_rank[process] = rank,
            _ => return Err(PlacementError::NoProcess { rank, leaf }),
        }
        next += 1;
    }
    // Equally many ranks and processes, and no process twice: all have one.
    Ok(new_rank)
}

/// Ranks or processes by their leaves, those on one leaf by their numbers.
fn by_leaf(leaves: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..leaves.len()).collect();
    order.sort_by_key(|&number| (leaves[number], number));
    order
}

/// Checks that every rank is on some leaf that exists and is not forbidden.
///
/// # Errors
/// Another number of leaves than ranks; a leaf that does not exist or is forbidden.
pub(crate) fn on_leaves(
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
    for (rank, &leaf) in leaf_of_rank.iter().enumerate() {
        if leaf >= leaves {
            return Err(PlacementError::NoSuchLeaf { rank, leaf, leaves });
        }
        if topology.leaf(leaf).forbidden {
            return Err(PlacementError::ForbiddenLeaf { rank, leaf });
        }
    }
    Ok(())
}

/// Checks that sums of affinities stay finite: grouping adds them up many times over, so a margin
/// is kept.
///
/// # Errors
/// A total that is too large.
pub(crate) fn require_finite_sums(matrix: &Matrix) -> Result<(), PlacementError> {
    let total = matrix.total();
    if total < f64::MAX / 1e6 {
        Ok(())
    } else {
        Err(PlacementError::TooHeavy { total })
    }
}
