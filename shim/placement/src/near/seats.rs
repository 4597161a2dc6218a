//! Swaps inside nodes: of parts of one shape, then of single ranks.

use crate::constraints::request::Constraints;
use crate::near::interfaces::Interfaces;
use crate::objective::hop_bytes::mean_of_directions;
use treepie_base::{Leaf, List, Rank, Slice};
use treepie_topology::Topology;
use treepie_traffic::{Matrix, MatrixError};

/// Maximum number of rounds over all pairs; later ones improve little.
const ROUNDS: usize = 8;

/// A placement whose ranks are to move towards the interfaces.
#[derive(Debug, Clone, Copy)]
pub struct Seats<'a> {
    /// Bytes between ranks.
    pub bytes: &'a Matrix,
    /// Affinities whose cost the placement minimizes.
    pub affinity: &'a Matrix,
    /// The tree.
    pub topology: &'a Topology,
    /// The distances of its leaves from interfaces.
    pub interfaces: &'a Interfaces,
    /// Constraints; ranks that are fixed, or limited to some leaves, stay where they are.
    pub constraints: &'a Constraints,
    /// The placement.
    pub leaf_of_rank: &'a Slice<Rank, Leaf>,
}

impl Seats<'_> {
    /// Returns the placement after swaps of ranks of the same node that move those with the most
    /// bytes to other nodes towards an interface: first by swaps that cost nothing on a tree, then
    /// by swaps that add at most `budget` DistComm.
    ///
    /// # Errors
    /// None for a matrix with finite sums.
    ///
    /// # Panics
    /// Panics if the placement is not a list of leaves of the ranks.
    pub fn near_interfaces(&self, budget: f64) -> Result<List<Rank, Leaf>, MatrixError> {
        let mut search = InterfaceSearch::new(self)?;
        if !self.interfaces.differ() {
            return Ok(search.leaf_of_rank);
        }
        for _ in 0..ROUNDS {
            if !search.swap_parts() {
                break;
            }
        }
        if budget > 0.0 {
            search.swap_ranks(budget);
        }
        Ok(search.leaf_of_rank)
    }
}

struct InterfaceSearch<'a> {
    seats: Seats<'a>,
    affinity: Matrix,
    outside: List<Rank, f64>,
    leaf_of_rank: List<Rank, Leaf>,
    ranks_on: List<Leaf, Vec<Rank>>,
    fixed: List<Rank, bool>,
    alone: List<Rank, bool>,
}

impl<'a> InterfaceSearch<'a> {
    fn new(seats: &Seats<'a>) -> Result<Self, MatrixError> {
        let ranks = seats.bytes.order();
        let constraints = seats.constraints;
        let mut fixed: List<Rank, bool> = vec![false; ranks].into();
        for &rank in constraints.fixed.keys().chain(constraints.allowed.keys()) {
            fixed[rank] = true;
        }
        let mut alone: List<Rank, bool> = fixed.iter().map(|fixed| !fixed).collect();
        if constraints.together_level.is_some() {
            constraints
                .together
                .iter()
                .flatten()
                .for_each(|&rank| alone[rank] = false);
        }
        let mut ranks_on = List::from(vec![Vec::new(); seats.topology.leaf_count()]);
        for (rank, &leaf) in seats.leaf_of_rank.iter_enumerated() {
            ranks_on[leaf].push(rank);
        }
        Ok(InterfaceSearch {
            seats: *seats,
            affinity: mean_of_directions(seats.affinity)?,
            outside: seats
                .interfaces
                .outside(seats.bytes, seats.topology, seats.leaf_of_rank),
            leaf_of_rank: seats.leaf_of_rank.to_owned(),
            ranks_on,
            fixed,
            alone,
        })
    }

    /// Swaps neighbouring parts of one shape if that brings more bytes nearer. The distances
    /// between ranks do not change.
    fn swap_parts(&mut self) -> bool {
        let topology = self.seats.topology;
        let mut swapped = false;
        for depth in self.seats.interfaces.depth..topology.depth() {
            for above in 0..topology.node_count(depth) {
                let parts = topology.children(depth, above);
                for one in parts.clone() {
                    for other in one + 1..parts.end {
                        swapped |= self.try_parts(depth + 1, one, other);
                    }
                }
            }
        }
        swapped
    }

    fn try_parts(&mut self, depth: usize, one: usize, other: usize) -> bool {
        let topology = self.seats.topology;
        let (first, second) = (
            topology.leaves_below(depth, one),
            topology.leaves_below(depth, other),
        );
        let steps = &self.seats.interfaces.steps;
        let bytes = |leaf: Leaf| -> f64 {
            let ranks = self.ranks_on[leaf].iter();
            ranks.map(|&rank| self.outside[rank]).sum()
        };
        let pairs = first.clone().zip(second.clone());
        let saved: f64 = pairs
            .map(|(a, b)| (bytes(a) - bytes(b)) * (steps[a] - steps[b]))
            .sum();
        // Sums of the same numbers in different orders may differ in the last digits.
        let scale: f64 = first.clone().map(|a| bytes(a) * steps[a]).sum::<f64>()
            + second.clone().map(|b| bytes(b) * steps[b]).sum::<f64>();
        if saved <= 1e-9 * scale || !self.may_swap(depth, one, other) {
            return false;
        }
        for (a, b) in first.zip(second) {
            self.ranks_on.swap(a, b);
            for leaf in [a, b] {
                for &rank in &self.ranks_on[leaf] {
                    self.leaf_of_rank[rank] = leaf;
                }
            }
        }
        true
    }

    /// True if two parts have the same shape with ranks on the same leaves, and may be swapped.
    fn may_swap(&self, depth: usize, one: usize, other: usize) -> bool {
        let topology = self.seats.topology;
        if depth == topology.depth() {
            let both = [&self.ranks_on[Leaf(one)], &self.ranks_on[Leaf(other)]];
            return both[0].len() == both[1].len()
                && both
                    .iter()
                    .all(|ranks| ranks.iter().all(|&rank| !self.fixed[rank]));
        }
        let (first, second) = (
            topology.children(depth, one),
            topology.children(depth, other),
        );
        first.len() == second.len()
            && first
                .zip(second)
                .all(|(a, b)| self.may_swap(depth + 1, a, b))
    }

    /// Swaps single ranks of a node, those with the largest ratio of saving to cost first.
    fn swap_ranks(&mut self, mut budget: f64) {
        for _ in 0..ROUNDS {
            let mut found = self.pairs(budget);
            found.sort_by(|a, b| b.0.total_cmp(&a.0));
            let mut swapped = false;
            for (_, a, b) in found {
                let (saved, cost) = (self.saved(a, b), self.cost(a, b));
                if saved > 0.0 && cost <= budget {
                    budget -= cost;
                    self.swap(a, b);
                    swapped = true;
                }
            }
            if !swapped {
                return;
            }
        }
    }

    /// Pairs of ranks of a node whose swap saves more than it costs: the ratio, and the two ranks.
    fn pairs(&self, budget: f64) -> Vec<(f64, Rank, Rank)> {
        let topology = self.seats.topology;
        let mut found = Vec::new();
        for node in 0..topology.node_count(self.seats.interfaces.depth) {
            let leaves = topology.leaves_below(self.seats.interfaces.depth, node);
            let ranks: Vec<Rank> = leaves
                .flat_map(|leaf| self.ranks_on[leaf].iter().copied())
                .filter(|&rank| self.alone[rank])
                .collect();
            for &far in &ranks {
                for &near in &ranks {
                    // Each pair once: the rank that is further away comes nearer.
                    if self.steps(far) <= self.steps(near) {
                        continue;
                    }
                    let saved = self.saved(far, near);
                    if saved <= 0.0 {
                        continue;
                    }
                    let cost = self.cost(far, near);
                    if cost <= budget {
                        found.push((saved / cost.max(f64::MIN_POSITIVE), far, near));
                    }
                }
            }
        }
        found
    }

    fn steps(&self, rank: Rank) -> f64 {
        self.seats.interfaces.steps[self.leaf_of_rank[rank]]
    }

    /// Bytes times distance to an interface that a swap saves.
    fn saved(&self, a: Rank, b: Rank) -> f64 {
        (self.outside[a] - self.outside[b]) * (self.steps(a) - self.steps(b))
    }

    /// DistComm that a swap adds.
    fn cost(&self, a: Rank, b: Rank) -> f64 {
        let topology = self.seats.topology;
        let (here, there) = (self.leaf_of_rank[a], self.leaf_of_rank[b]);
        let distance = |one: Leaf, other: Leaf| {
            let distances = topology
                .level_distances()
                .get(topology.common_level(one, other));
            distances.copied().unwrap_or(0.0)
        };
        let moved = |rank: Rank, other: Rank, from: Leaf, to: Leaf| -> f64 {
            let partners = self.affinity.row(rank.0);
            let partners = partners.map(|(partner, weight)| (Rank(partner), weight));
            let partners = partners.filter(|&(partner, _)| partner != other);
            let change = |(partner, weight): (Rank, f64)| {
                let at = self.leaf_of_rank[partner];
                weight * (distance(to, at) - distance(from, at))
            };
            partners.map(change).sum()
        };
        moved(a, b, here, there) + moved(b, a, there, here)
    }

    fn swap(&mut self, a: Rank, b: Rank) {
        let (here, there) = (self.leaf_of_rank[a], self.leaf_of_rank[b]);
        for (rank, from, to) in [(a, here, there), (b, there, here)] {
            self.ranks_on[from].retain(|&other| other != rank);
            self.ranks_on[to].push(rank);
            self.leaf_of_rank[rank] = to;
        }
    }
}
