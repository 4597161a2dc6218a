//! Swaps with true distances by simulated annealing (as Bhanot et al. 2005 placed on BlueGene/L),
//! then a descent until no examined swap helps.
//!
//! A vertex and one of its partners are drawn; the vertex is moved near that partner by a swap with
//! the vertex in that slot.

use crate::random::{Random, pick};
use crate::refine::refiner::Refiner;
use crate::refine::schedule::Schedule;
use crate::target::distances::{Distance, Distances};
use crate::target::near::NearNodes;
use crate::target::network::{NOBODY, NetworkTarget};
use treepie_base::{List, Rank, Slot};

/// Refiner of placements on a network by annealing; never increases the cost, up to rounding.
pub(crate) struct AnnealingRefiner<'a> {
    pub target: &'a NetworkTarget<'a>,
    pub distances: &'a Distances<'a>,
    pub near: &'a NearNodes,
    pub schedule: Schedule,
    pub random: Random,
}

impl Refiner for AnnealingRefiner<'_> {
    fn refine(&mut self, slot_of_rank: List<Rank, Slot>) -> List<Rank, Slot> {
        let Some(slots) = self.target.complete(&slot_of_rank) else {
            return slot_of_rank;
        };
        let swapped = match self.distances {
            Distances::Table(table) => self.anneal(table, slots),
            Distances::Coordinates(coordinates) => self.anneal(coordinates, slots),
            Distances::Positions(positions) => self.anneal(positions, slots),
            Distances::Network(nodes) => self.anneal(*nodes, slots),
        };
        let swapped = self.target.of_ranks(&swapped);
        match self.target.cost(&swapped) <= self.target.cost(&slot_of_rank) {
            true => swapped,
            false => slot_of_rank,
        }
    }
}

impl AnnealingRefiner<'_> {
    /// Slot of every vertex after annealing and descent.
    fn anneal<D: Distance>(&mut self, distance: &D, slot_of: Vec<u32>) -> Vec<u32> {
        let ranks = 0..self.target.ranks;
        let movable: Vec<u32> = ranks
            .filter(|&rank| self.target.graph.degree(rank) > 0)
            .map(|rank| rank as u32)
            .collect();
        if movable.is_empty() || self.target.nodes.count() < 2 {
            return slot_of;
        }
        let mut state = Annealing::new(self.target, distance, self.near, slot_of);
        let steps = (self.schedule.sweeps * movable.len() as f64) as usize;
        // The number of temperatures is so large that each step is small.
        let stages = 200.min(steps.max(1));
        let ratio = self.schedule.ratio(stages);
        let mut temperature = self.schedule.hot;
        for _ in 0..stages {
            for _ in 0..steps / stages {
                state.propose(&movable, temperature as f32, &mut self.random);
            }
            temperature *= ratio;
        }
        state.descend(&movable);
        state.slot_of
    }
}

/// An edge: its other end, and its weight relative to the mean.
#[derive(Clone, Copy)]
struct Edge {
    to: u32,
    weight: f32,
}

struct Annealing<'a, D> {
    target: &'a NetworkTarget<'a>,
    distance: &'a D,
    near: &'a NearNodes,
    starts: Vec<u32>,
    edges: Vec<Edge>,
    slot_of: Vec<u32>,
    node_of: Vec<u32>,
    vertex_on: Vec<u32>,
    free: bool,
    single: bool,
    /// Number of the search in which a node was last visited.
    seen: Vec<u32>,
    turn: u32,
}

impl<'a, D: Distance> Annealing<'a, D> {
    fn new(
        target: &'a NetworkTarget<'a>,
        distance: &'a D,
        near: &'a NearNodes,
        slot_of: Vec<u32>,
    ) -> Self {
        let graph = &target.graph;
        let mean = graph.mean_weight();
        let mut starts = vec![0];
        let mut edges = Vec::with_capacity(graph.entries());
        for vertex in 0..graph.order() {
            edges.extend(graph.row(vertex).map(|(to, weight)| Edge {
                to: to as u32,
                weight: (weight / mean) as f32,
            }));
            starts.push(edges.len() as u32);
        }
        let mut vertex_on = vec![NOBODY; target.node_of_slot.len()];
        for (vertex, &slot) in slot_of.iter().enumerate() {
            vertex_on[slot as usize] = vertex as u32;
        }
        Annealing {
            node_of: slot_of
                .iter()
                .map(|&slot| target.node_of_slot[slot as usize])
                .collect(),
            free: target.slot_tree.is_free(),
            single: target.most_slots == 1,
            seen: vec![0; target.nodes.count()],
            turn: 0,
            target,
            distance,
            near,
            starts,
            edges,
            slot_of,
            vertex_on,
        }
    }

    #[inline]
    fn row(&self, vertex: u32) -> &[Edge] {
        let (start, end) = (
            self.starts[vertex as usize],
            self.starts[vertex as usize + 1],
        );
        &self.edges[start as usize..end as usize]
    }

    /// Cost of a vertex at `to` less that at `from`, without the edge to `other`.
    #[inline]
    fn change(&self, vertex: u32, other: u32, from: u32, to: u32) -> f32 {
        let mut sum = 0.0;
        for edge in self.row(vertex) {
            let there = self.node_of[edge.to as usize];
            let further = self.distance.between(to, there) - self.distance.between(from, there);
            // The length of the edge between two swapped vertices does not change.
            sum += if edge.to == other {
                0.0
            } else {
                edge.weight * further
            };
        }
        sum
    }

    /// Proposes one swap.
    #[inline]
    fn propose(&mut self, movable: &[u32], temperature: f32, random: &mut Random) {
        let bits = random.next();
        let vertex = movable[pick(bits as u32, movable.len())];
        let row = self.row(vertex);
        let partner = row[pick((bits >> 32) as u32, row.len())].to;
        let here = self.node_of[vertex as usize];
        let bits = random.next();
        let mut there = self.node_of[partner as usize];
        // With one slot per node: to a neighbour of the partner's node. With several: often to that
        // node itself.
        if self.single || bits & 1 == 0 || there == here {
            let near = self.near.of(there);
            if near.is_empty() {
                return;
            }
            there = near[pick(bits as u32 & !1, near.len())];
        }
        if there == here {
            return;
        }
        let slots = self.target.slots_of(there as usize);
        if slots.is_empty() {
            return;
        }
        let slot = slots[pick((bits >> 32) as u32, slots.len())];
        let other = self.vertex_on[slot as usize];
        let chance = (random.next() >> 40) as f32 * (1.0 / (1 << 24) as f32);
        let limit = -temperature * fast_logarithm(chance);
        let change =
            self.change(vertex, other, here, there) + self.back(other, vertex, there, here);
        if change <= limit {
            self.swap(vertex, other);
        }
    }

    /// Swaps two vertices if the constraints allow it.
    #[inline]
    fn swap(&mut self, a: u32, b: u32) -> bool {
        let (slot_a, slot_b) = (self.slot_of[a as usize], self.slot_of[b as usize]);
        if !self.free && !self.target.may_swap((a, slot_a), (b, slot_b)) {
            return false;
        }
        self.slot_of.swap(a as usize, b as usize);
        self.node_of.swap(a as usize, b as usize);
        self.vertex_on[slot_a as usize] = b;
        self.vertex_on[slot_b as usize] = a;
        true
    }

    /// Makes every swap that helps, vertex after vertex, until none does. If a pass takes seconds,
    /// the passes that save the last per cent are left out.
    fn descend(&mut self, movable: &[u32]) {
        let passes = match movable.len() {
            0..20_000 => 30,
            _ => 6,
        };
        let mut dirty = vec![true; self.target.graph.order()];
        for _ in 0..passes {
            let mut swapped = false;
            for &vertex in movable {
                if !std::mem::replace(&mut dirty[vertex as usize], false) {
                    continue;
                }
                if let Some(other) = self.best(vertex)
                    && self.swap(vertex, other)
                {
                    swapped = true;
                    for moved in [vertex, other] {
                        dirty[moved as usize] = true;
                        for edge in self.row(moved) {
                            dirty[edge.to as usize] = true;
                        }
                    }
                }
            }
            if !swapped {
                break;
            }
        }
    }

    /// The vertex with which a swap saves most, among those at and near the partners' nodes.
    ///
    /// If a swap of two vertices saves, at least one of the two saves by moving alone: the swap is
    /// found from that one, and nodes at which `vertex` saves nothing are skipped.
    fn best(&mut self, vertex: u32) -> Option<u32> {
        const NODES: usize = 12;
        const PARTNERS: usize = 12;
        self.turn += 1;
        let here = self.node_of[vertex as usize];
        let mut seen = std::mem::take(&mut self.seen);
        let mut best = (-1e-3_f32, None);
        for edge in self.row(vertex).iter().take(PARTNERS) {
            let at = self.node_of[edge.to as usize];
            let near = self.near.of(at).iter().take(NODES);
            for &there in near.chain((!self.single).then_some(&at)) {
                let last = std::mem::replace(&mut seen[there as usize], self.turn);
                if there == here || last == self.turn {
                    continue;
                }
                let alone = self.change(vertex, NOBODY, here, there);
                if alone >= 0.0 {
                    continue;
                }
                for &slot in self.target.slots_of(there as usize) {
                    let other = self.vertex_on[slot as usize];
                    let back = self.back(other, vertex, there, here);
                    // An edge between the two only raises the cost.
                    if alone + back >= best.0 {
                        continue;
                    }
                    let change = self.change(vertex, other, here, there) + back;
                    if change < best.0 {
                        best = (change, Some(other));
                    }
                }
            }
        }
        self.seen = seen;
        best.1
    }

    /// Change of the cost of the vertex with which `vertex` is swapped.
    #[inline]
    fn back(&self, other: u32, vertex: u32, there: u32, here: u32) -> f32 {
        match (other as usize) < self.target.ranks {
            true => self.change(other, vertex, there, here),
            false => 0.0,
        }
    }
}

/// Natural logarithm with a relative error of about one in a thousand, which suffices for the
/// probability of a swap.
#[inline]
fn fast_logarithm(x: f32) -> f32 {
    let bits = x.max(1e-12).to_bits();
    let exponent = (bits >> 23) as f32 - 127.0;
    let m = f32::from_bits((bits & 0x007f_ffff) | 0x3f80_0000);
    // ln(m) on 1..2 as a polynomial that is exact at both ends.
    let t = m - 1.0;
    let ln = t * (0.999_77 + t * (-0.490_85 + t * (0.263_1 + t * -0.078_87)));
    exponent * std::f32::consts::LN_2 + ln
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_logarithm_is_right_to_three_digits() {
        for step in 1..1000 {
            let x = step as f32 / 1000.0;
            assert!((fast_logarithm(x) - x.ln()).abs() < 2e-3, "{x}");
        }
    }
}
