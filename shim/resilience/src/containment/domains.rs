//! Failure domains: parts that fail together.

use std::collections::BTreeSet;

#[cfg(test)]
use treepie_base::{Leaf, Rank, Slice};
#[cfg(test)]
use treepie_topology::Topology;

/// The failure domain of each rank. Domains without ranks are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domains {
    of_rank: Vec<usize>,
    count: usize,
}

impl Domains {
    /// One domain for each label, numbered in the order of the labels.
    pub fn from_labels<L: Ord>(label_of_rank: &[L]) -> Self {
        let labels: BTreeSet<&L> = label_of_rank.iter().collect();
        let labels: Vec<&L> = labels.into_iter().collect();
        let number = |label: &L| labels.partition_point(|&other| other < label);
        Domains {
            of_rank: label_of_rank.iter().map(number).collect(),
            count: labels.len(),
        }
    }

    /// The nodes of a topology at one depth; at depth 0, all of it.
    ///
    /// # Panics
    /// Panics if a leaf is not one of the topology's.
    #[cfg(test)]
    pub(crate) fn at_depth(
        topology: &Topology,
        leaf_of_rank: &Slice<Rank, Leaf>,
        depth: usize,
    ) -> Self {
        let node = |&leaf: &Leaf| topology.ancestor(leaf, depth);
        Domains::from_labels(&leaf_of_rank.iter().map(node).collect::<Vec<_>>())
    }

    /// The domain of each rank.
    pub fn of_rank(&self) -> &[usize] {
        &self.of_rank
    }

    /// Number of domains that have ranks.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Number of ranks of each domain.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.count];
        for &domain in &self.of_rank {
            sizes[domain] += 1;
        }
        sizes
    }
}
