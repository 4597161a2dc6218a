//! Fake topologies: trees with a leaf for each rank, which only serve to order the ranks by
//! affinity (thesis 3.4.1 and 3.4.2).

use crate::error::PlacementError;
use crate::objective;
use crate::treematch::decompose::decomposed;
use crate::treematch::hierarchy::{Parameters, group};
use crate::treematch::top_down::place_top_down;
use treepie_base::{Leaf, List, Rank};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// Largest prime factor of the number of ranks that makes a useful tree: a level of a larger arity
/// determines no order.
const LARGEST_FACTOR: usize = 5;

/// A tree with a leaf for each rank and possibly a few additional leaves that are forbidden.
#[derive(Debug, Clone, PartialEq)]
pub struct FakeTree {
    topology: Topology,
}

/// Smallest number of the form 2^a 3^b that is at least `ranks` and at least 1.
pub(crate) fn smooth_leaf_count(ranks: usize) -> usize {
    let mut smallest = ranks.max(1).next_power_of_two();
    let mut threes = 3;
    while threes < smallest {
        let twos = ranks.div_ceil(threes).next_power_of_two();
        smallest = smallest.min(threes * twos);
        threes *= 3;
    }
    smallest
}

impl FakeTree {
    /// The tree whose arities are the prime factors of the number of ranks, the
    /// small ones at the root: `2:2:5:5` for 100 (thesis 3.4.1).
    ///
    /// # Errors
    /// There are more ranks than a topology can have leaves.
    pub(crate) fn from_prime_factors(ranks: usize) -> Result<Self, PlacementError> {
        Ok(FakeTree {
            topology: with_leaves(ranks)?,
        })
    }

    /// Builds a tree of twos and threes with enough leaves. Surplus leaves are forbidden, spread
    /// evenly over the smallest subtrees, so that equal parts of the tree have about equal numbers
    /// of ranks (thesis 3.4.2).
    ///
    /// # Errors
    /// There are more ranks than a topology can have leaves.
    pub fn from_twos_and_threes(ranks: usize) -> Result<Self, PlacementError> {
        let topology = with_leaves(smooth_leaf_count(ranks))?;
        let lowest = topology.depth() - 1;
        let subtrees = topology.node_count(lowest);
        // Less than a third of the leaves is surplus, so one in each subtree is enough.
        let surplus = topology.leaf_count() - ranks.max(1);
        let forbidden = (0..surplus).map(|i| {
            let subtree = i * subtrees / surplus;
            Leaf(topology.leaf_range(lowest, subtree).end - 1)
        });
        let forbidden: Vec<Leaf> = forbidden.collect();
        Ok(FakeTree {
            topology: topology.forbidding(&forbidden)?,
        })
    }

    /// The tree of prime factors if these are small, else that of twos and threes.
    ///
    /// # Errors
    /// There are more ranks than a topology can have leaves.
    pub fn for_ranks(ranks: usize) -> Result<Self, PlacementError> {
        match decomposed(&[ranks.max(1)]).last() {
            Some(&largest) if largest > LARGEST_FACTOR => FakeTree::from_twos_and_threes(ranks),
            _ => FakeTree::from_prime_factors(ranks),
        }
    }

    /// The tree.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The leaf of each rank, by TreeMatch, or by TreeMatchConstraints if leaves are forbidden.
    ///
    /// # Errors
    /// There are more ranks than leaves, or sums are not finite.
    pub fn leaf_of_rank(
        &self,
        matrix: &Matrix,
        seed: u64,
    ) -> Result<List<Rank, Leaf>, PlacementError> {
        let whole = self.topology.allowed_leaves().len() == self.topology.leaf_count();
        match self.topology.arities() {
            Some(arities) if whole => {
                let affinity = objective::mean_of_directions(matrix)?;
                let parameters = Parameters {
                    seed,
                    ..Parameters::default()
                };
                let grouping = group(&affinity, &arities, &parameters)?;
                Ok(Leaf::list(grouping.leaf_of_entity()))
            }
            _ => place_top_down(matrix, &self.topology, seed),
        }
    }
}

fn with_leaves(count: usize) -> Result<Topology, PlacementError> {
    let mut arities = decomposed(&[count.max(1)]);
    if arities.is_empty() {
        arities.push(1);
    }
    Ok(Topology::from_arity_list(&arities, None)?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_smallest_leaf_counts_are_those_of_the_table() {
        for (ranks, leaves) in [
            (1, 1),
            (17, 18),
            (25, 27),
            (33, 36),
            (55, 64),
            (65, 72),
            (100, 108),
            (110, 128),
            (129, 144),
            (1025, 1152),
        ] {
            assert_eq!(smooth_leaf_count(ranks), leaves, "{ranks} ranks");
        }
    }

    #[test]
    fn a_hundred_ranks_get_the_tree_2_2_5_5() {
        let tree = FakeTree::for_ranks(100).unwrap();
        assert_eq!(tree.topology().arities(), Some(vec![2, 2, 5, 5]));
    }

    #[test]
    fn nine_constraints_are_spread_over_the_pairs_of_64_leaves() {
        let tree = FakeTree::from_twos_and_threes(55).unwrap();
        let tree = tree.topology();
        assert_eq!(tree.leaf_count(), 64);
        let forbidden: Vec<usize> = (0..64)
            .filter(|&leaf| tree.leaf(Leaf(leaf)).forbidden)
            .collect();
        let pairs: Vec<usize> = forbidden.iter().map(|leaf| leaf / 2).collect();
        assert_eq!(pairs, [0, 3, 7, 10, 14, 17, 21, 24, 28]);
        let left = |core: usize| 16 - forbidden.iter().filter(|&&leaf| leaf / 16 == core).count();
        assert_eq!([0, 1, 2, 3].map(left), [13, 14, 14, 14]);
    }
}
