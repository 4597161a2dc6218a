//! What a list of leaves must be to be a placement, and the permutation of
//! ranks that follows from one.

use super::PlacementError;
use crate::topology::Topology;

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

/// Checks that every rank is on some leaf that exists and is not forbidden.
///
/// # Errors
/// Another number of leaves than ranks; a leaf that does not exist or is forbidden.
pub(super) fn on_leaves(
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
