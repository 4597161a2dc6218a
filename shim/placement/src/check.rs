//! Conditions of a placement, and the permutation of ranks that follows from one.

use crate::error::PlacementError;
use treepie_base::{Leaf, List, Process, Rank, Slice};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// Checks that `leaf_of_rank` is a placement of `ranks` ranks on `topology`.
///
/// # Errors
/// The list has another length than the number of ranks, or a leaf does not exist, is forbidden, or
/// has two ranks.
pub fn check(
    leaf_of_rank: &Slice<Rank, Leaf>,
    ranks: usize,
    topology: &Topology,
) -> Result<(), PlacementError> {
    on_leaves(leaf_of_rank, ranks, topology)?;
    let mut rank_on: List<Leaf, Option<Rank>> = vec![None; topology.leaf_count()].into();
    for (rank, &leaf) in leaf_of_rank.iter_enumerated() {
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

/// Returns the new rank of each process of the launcher: process `i`, which runs on leaf
/// `leaf_of_process[i]`, becomes the rank that belongs there. If a leaf has several, its processes
/// take its ranks in order.
///
/// # Errors
/// The lists have different lengths, or a leaf has a rank but no process for it.
pub fn permutation(
    leaf_of_rank: &Slice<Rank, Leaf>,
    leaf_of_process: &Slice<Process, Leaf>,
) -> Result<List<Process, Rank>, PlacementError> {
    if leaf_of_rank.len() != leaf_of_process.len() {
        return Err(PlacementError::WrongCount {
            found: leaf_of_rank.len(),
            expected: leaf_of_process.len(),
        });
    }
    let processes = by_leaf(leaf_of_process);
    let ranks = by_leaf(leaf_of_rank);
    let mut new_rank = List::from(vec![Rank(0); leaf_of_process.len()]);
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
    // There are as many processes as ranks, and no process occurs twice: all have a rank.
    Ok(new_rank)
}

/// The leaf of each rank without a placement: the rank of a process is its number.
pub fn identity(leaf_of_process: &Slice<Process, Leaf>) -> &Slice<Rank, Leaf> {
    Slice::from_ref(&leaf_of_process.raw)
}

/// Sorts ranks or processes by leaf, those on one leaf by number.
fn by_leaf<I>(leaves: &Slice<I, Leaf>) -> Vec<I>
where
    I: Copy + Ord + From<usize>,
    usize: From<I>,
{
    let mut order: Vec<I> = leaves.keys().collect();
    order.sort_by_key(|&number| (leaves[number], number));
    order
}

/// Checks that every rank is on a leaf that exists and is not forbidden.
///
/// # Errors
/// The list has another length than the number of ranks, or a leaf does not exist or is forbidden.
pub(crate) fn on_leaves(
    leaf_of_rank: &Slice<Rank, Leaf>,
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
    for (rank, &leaf) in leaf_of_rank.iter_enumerated() {
        if leaf.0 >= leaves {
            return Err(PlacementError::NoSuchLeaf { rank, leaf, leaves });
        }
        if topology.leaf(leaf).forbidden {
            return Err(PlacementError::ForbiddenLeaf { rank, leaf });
        }
    }
    Ok(())
}

/// Checks that sums of affinities stay finite, with a margin because grouping adds them many times.
///
/// # Errors
/// The total is too large.
pub(crate) fn require_finite_sums(matrix: &Matrix) -> Result<(), PlacementError> {
    let total = matrix.total();
    if total < f64::MAX / 1e6 {
        Ok(())
    } else {
        Err(PlacementError::TooHeavy { total })
    }
}
