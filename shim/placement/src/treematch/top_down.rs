//! Placement on any tree from the root down: TreeMatchConstraints of thesis
//! 3.3.2 (algorithm 2), with arities that may differ from node to node.

use crate::error::PlacementError;
use crate::objective;
use crate::treematch::aggregate::extended;
use crate::treematch::partition::partition;
use treepie_base::{Leaf, List, Rank};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// Computes the leaf of each rank of `matrix`, by dividing the ranks among the children of the
/// root, those of a child among its children, and so on. A child gets at most as many ranks as it
/// has allowed leaves.
///
/// The thesis adds fictitious processes until every allowed leaf has one. Here the ranks are kept
/// together instead: the largest children are filled first, and the rest goes to the smallest child
/// that can hold it.
///
/// # Errors
/// There are more ranks than allowed leaves, no leaf is allowed, or sums are not finite.
pub fn place_top_down(
    matrix: &Matrix,
    topology: &Topology,
    seed: u64,
) -> Result<List<Rank, Leaf>, PlacementError> {
    let ranks = matrix.order();
    let allowed = topology.allowed_leaves();
    if ranks > allowed.len() {
        let leaves = allowed.len();
        return Err(PlacementError::TooManyRanks { ranks, leaves });
    }
    let mut division = Division {
        topology: &topology.pruned()?,
        seed,
        leaf_of: vec![0; ranks],
    };
    let matrix = objective::mean_of_directions(matrix)?;
    division.divide(&matrix, &(0..ranks).collect::<Vec<_>>(), 0, 0)?;
    let leaves = division.leaf_of.into_iter();
    Ok(leaves.map(|leaf| allowed[leaf]).collect())
}

/// Like [`place_top_down`], with fictitious ranks that communicate with no other on the remaining
/// leaves, as in the thesis: the partition determines these leaves.
///
/// # Errors
/// See [`place_top_down`].
pub(crate) fn place_with_fictitious(
    matrix: &Matrix,
    topology: &Topology,
    seed: u64,
) -> Result<List<Rank, Leaf>, PlacementError> {
    let ranks = matrix.order();
    let leaves = topology.allowed_leaves().len();
    if ranks > leaves {
        return Err(PlacementError::TooManyRanks { ranks, leaves });
    }
    let mut placed = place_top_down(&extended(matrix, leaves)?, topology, seed)?;
    placed.truncate(ranks);
    Ok(placed)
}

struct Division<'a> {
    topology: &'a Topology,
    seed: u64,
    /// Leaf of each entity.
    leaf_of: Vec<usize>,
}

impl Division<'_> {
    /// Places `ranks`, whose affinities are `matrix`, below `node`.
    fn divide(
        &mut self,
        matrix: &Matrix,
        ranks: &[usize],
        depth: usize,
        node: usize,
    ) -> Result<(), PlacementError> {
        if depth == self.topology.depth() {
            ranks.iter().for_each(|&rank| self.leaf_of[rank] = node);
            return Ok(());
        }
        let children = self.topology.children(depth, node);
        let capacities = children
            .clone()
            .map(|child| self.topology.leaf_range(depth + 1, child).len());
        let sizes = shares(&capacities.collect::<Vec<_>>(), ranks.len());
        if let Some(only) = sizes.iter().position(|&size| size == ranks.len()) {
            return self.divide(matrix, ranks, depth + 1, children.start + only);
        }
        let parts = partition(matrix, &sizes, self.seed);
        for (part, child) in children.enumerate() {
            let members: Vec<usize> = (0..ranks.len()).filter(|&i| parts[i] == part).collect();
            let below: Vec<usize> = members.iter().map(|&i| ranks[i]).collect();
            self.divide(&submatrix(matrix, &members)?, &below, depth + 1, child)?;
        }
        Ok(())
    }
}

/// Number of the `count` ranks that each child gets.
fn shares(capacities: &[usize], count: usize) -> Vec<usize> {
    let mut by_size: Vec<usize> = (0..capacities.len()).collect();
    by_size.sort_by_key(|&child| (std::cmp::Reverse(capacities[child]), child));
    let mut sizes = vec![0; capacities.len()];
    let mut left = count;
    while left > 0 && !by_size.is_empty() {
        // The smallest child that holds all of the rest, or else the largest.
        let holding = by_size.partition_point(|&child| capacities[child] >= left);
        let smallest = by_size[holding.saturating_sub(1)];
        let at = by_size.partition_point(|&child| capacities[child] > capacities[smallest]);
        let child = by_size.remove(at);
        sizes[child] = left.min(capacities[child]);
        left -= sizes[child];
    }
    sizes
}

/// The matrix of `members` among themselves, numbered in their order
/// (`split_com_mat` of the thesis).
pub(crate) fn submatrix(matrix: &Matrix, members: &[usize]) -> Result<Matrix, PlacementError> {
    let mut new_number = vec![None; matrix.order()];
    for (number, &member) in members.iter().enumerate() {
        new_number[member] = Some(number);
    }
    let new_number = &new_number;
    let inside = members.iter().enumerate().flat_map(|(number, &member)| {
        let row = matrix.row(member);
        row.filter_map(move |(partner, value)| Some((number, new_number[partner]?, value)))
    });
    Ok(Matrix::from_entries(members.len(), inside)?)
}

#[cfg(test)]
mod tests {
    use super::shares;

    #[test]
    fn shares_fill_the_largest_children_and_put_the_rest_where_it_just_fits() {
        assert_eq!(shares(&[4, 8, 2], 14), [4, 8, 2]);
        assert_eq!(shares(&[4, 8, 2], 10), [0, 8, 2]);
        assert_eq!(shares(&[4, 8, 2], 4), [4, 0, 0]);
        assert_eq!(shares(&[2, 2, 2], 3), [2, 1, 0]);
        assert_eq!(shares(&[2, 2], 0), [0, 0]);
    }
}
