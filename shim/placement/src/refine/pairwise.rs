//! Refinement by swaps of any two ranks in the tree, as long as one lowers the cost.

use std::ops::Range;

use crate::coarsen::graph::Graph;
use crate::constraints::slot_tree::{Occupant, SlotTree};
use crate::refine::refiner::Refiner;
use crate::target::slots::Slots;
use treepie_base::{List, Rank, Slot};

/// Number of groups examined for each rank: those to which it sends most.
const GROUPS: usize = 4;

/// Refiner of placements of the ranks of a graph in a tree.
pub(crate) struct PairwiseRefiner<'a> {
    /// The graph, with a vertex for each rank, then one for each empty slot.
    pub graph: &'a Graph,
    pub ranks: usize,
    /// Slots worth filling, as many as there are vertices.
    pub worth_filling: &'a Slots<'a>,
    pub slot_tree: &'a SlotTree,
    /// Maximum number of passes over all vertices.
    pub passes: usize,
}

impl Refiner for PairwiseRefiner<'_> {
    fn refine(&mut self, slot_of_rank: List<Rank, Slot>) -> List<Rank, Slot> {
        let slots = Slots::new(self.worth_filling.topology());
        let mut taken = vec![false; slots.topology().leaf_count()];
        slot_of_rank.iter().for_each(|slot| taken[slot.0] = true);
        let free = self.worth_filling.leaves(0, 0).filter(|&slot| !taken[slot]);
        let mut slot_of: Vec<usize> = slot_of_rank.into_iter().map(usize::from).collect();
        slot_of.extend(free.take(self.graph.order() - self.ranks));
        // Ranks outside the slots leave more of these free than there are vertices.
        if slot_of.len() == self.graph.order() {
            let of = |(vertex, slot)| Occupant {
                rank: (vertex < self.ranks).then_some(Rank(vertex)),
                slot: Slot(slot),
            };
            let may_swap = |a, b| self.slot_tree.may_swap(of(a), of(b));
            refine(self.graph, &slots, &mut slot_of, self.passes, may_swap);
        }
        Slot::list(slot_of.into_iter().take(self.ranks))
    }
}

/// Improves a placement by swaps, each of which lowers the cost, in at most `passes` passes over
/// all vertices. `leaf_of` has a leaf for each vertex of the graph, including those without edges.
/// No swap is made that `may_swap` refuses for the two vertices and their leaves.
///
/// A swap is evaluated exactly from the neighbours of the two ranks and the distances of all
/// levels.
pub(crate) fn refine(
    graph: &Graph,
    slots: &Slots,
    leaf_of: &mut [usize],
    passes: usize,
    may_swap: impl Fn((usize, usize), (usize, usize)) -> bool,
) {
    let mut refinement = Refinement::new(graph, slots, leaf_of);
    for _ in 0..passes {
        let mut swapped = false;
        for vertex in 0..graph.order() {
            if let Some(other) = refinement.best_swap(vertex, &may_swap) {
                refinement.swap(vertex, other);
                swapped = true;
            }
        }
        if !swapped {
            break;
        }
    }
}

struct Refinement<'a> {
    graph: &'a Graph,
    slots: &'a Slots<'a>,
    leaf_of: &'a mut [usize],
    group_of: Vec<u32>,
    /// Vertices of each group.
    members: Vec<Vec<u32>>,
    /// The nodes from the groups upwards.
    layers: Vec<Layer>,
    /// Weight from the current vertex to each group; 0 between vertices.
    sent: Vec<f64>,
    /// Saving of a unit of weight to each group for the current move; 0 between moves.
    saving: Vec<f64>,
}

/// The nodes of one depth.
struct Layer {
    /// Parent of each node; empty for the root.
    parents: Vec<u32>,
    /// First group below each node, and finally the number of groups.
    starts: Vec<u32>,
}

impl<'a> Refinement<'a> {
    fn new(graph: &'a Graph, slots: &'a Slots, leaf_of: &'a mut [usize]) -> Self {
        let mut members = vec![Vec::new(); slots.groups()];
        let mut group_of = Vec::with_capacity(leaf_of.len());
        for (vertex, &leaf) in leaf_of.iter().enumerate() {
            let group = slots.group_of(leaf);
            group_of.push(group as u32);
            members[group].push(vertex as u32);
        }
        Refinement {
            layers: layers(slots),
            sent: vec![0.0; slots.groups()],
            saving: vec![0.0; slots.groups()],
            graph,
            slots,
            leaf_of,
            group_of,
            members,
        }
    }

    /// Fills in the saving of a unit of weight to each group by a move from one group to another:
    /// negative around `from`, positive around `to`. Distances to other groups do not change.
    /// Returns the distance between the two groups, and the ranges filled in.
    fn open(&mut self, from: u32, to: u32) -> (f64, [Range<usize>; 2]) {
        let mut climbed = 0;
        while self.groups_around(from, climbed + 1) != self.groups_around(to, climbed + 1) {
            climbed += 1;
        }
        let depth = self.slots.group_depth();
        let far = self.slots.distance(depth - climbed - 1);
        for (group, sign) in [(from, -1.0), (to, 1.0)] {
            // From the outside inwards: inner ranges overwrite outer ones.
            for layer in (0..=climbed).rev() {
                let groups = self.groups_around(group, layer);
                let near = self.slots.distance(depth - layer);
                self.saving[groups].fill(sign * (far - near));
            }
        }
        (far, [from, to].map(|end| self.groups_around(end, climbed)))
    }

    /// The groups below the node that is `layers` layers above a group.
    fn groups_around(&self, group: u32, layers: usize) -> Range<usize> {
        let mut node = group;
        for layer in &self.layers[..layers] {
            node = layer.parents[node as usize];
        }
        let starts = &self.layers[layers].starts;
        starts[node as usize] as usize..starts[node as usize + 1] as usize
    }

    /// Saving if a vertex makes the current move and all others stay.
    fn saved(&self, vertex: usize) -> f64 {
        let row = self.graph.row(vertex);
        row.map(|(neighbour, weight)| weight * self.saving[self.group_of[neighbour] as usize])
            .sum()
    }

    /// The groups other than its own to which a vertex sends most.
    fn drawn_to(&mut self, vertex: usize) -> Vec<u32> {
        let mut sums: Vec<(u32, f64)> = Vec::new();
        for (neighbour, weight) in self.graph.row(vertex) {
            let group = self.group_of[neighbour];
            let sent = &mut self.sent[group as usize];
            if *sent == 0.0 {
                sums.push((group, 0.0));
            }
            *sent += weight;
        }
        for (group, sum) in &mut sums {
            *sum = std::mem::take(&mut self.sent[*group as usize]);
        }
        sums.retain(|sum| sum.0 != self.group_of[vertex]);
        sums.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        sums.into_iter().take(GROUPS).map(|sum| sum.0).collect()
    }

    /// The partner with which a swap saves most; `None` if no swap saves more than rounding.
    fn best_swap(
        &mut self,
        vertex: usize,
        may_swap: &impl Fn((usize, usize), (usize, usize)) -> bool,
    ) -> Option<usize> {
        let here = self.group_of[vertex];
        let strength: f64 = self.graph.weights(vertex).iter().sum();
        let mut best = (1e-9 * strength * self.slots.distance(0), None);
        for there in self.drawn_to(vertex) {
            let (far, sides) = self.open(here, there);
            let saved = self.saved(vertex);
            // In a swap that saves, at least one of the two vertices saves: the swap is found when
            // that one is visited.
            if saved > 0.0 {
                let apart = far - self.slots.distance(self.slots.group_depth());
                for &other in &self.members[there as usize] {
                    let other = other as usize;
                    // The other vertex makes the opposite move.
                    let saving = saved - self.saved(other);
                    if saving <= best.0 {
                        continue;
                    }
                    // The length of the edge between the two does not change.
                    let saving = saving - 2.0 * self.graph.weight(vertex, other) * apart;
                    let places = ((vertex, self.leaf_of[vertex]), (other, self.leaf_of[other]));
                    if saving > best.0 && may_swap(places.0, places.1) {
                        best = (saving, Some(other));
                    }
                }
            }
            for side in sides {
                self.saving[side].fill(0.0);
            }
        }
        best.1
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.leaf_of.swap(a, b);
        self.group_of.swap(a, b);
        for (vertex, other) in [(a, b), (b, a)] {
            let members = &mut self.members[self.group_of[vertex] as usize];
            if let Some(place) = members.iter_mut().find(|m| **m == other as u32) {
                *place = vertex as u32;
            }
        }
    }
}

/// The layers of the tree from the groups to the root.
fn layers(slots: &Slots) -> Vec<Layer> {
    let topology = slots.topology();
    let mut starts: Vec<u32> = (0..=slots.groups() as u32).collect();
    let layers = (0..=slots.group_depth()).rev().map(|depth| {
        let mut parents = Vec::new();
        let mut above = Vec::new();
        if depth > 0 {
            for node in 0..topology.node_count(depth - 1) {
                let children = topology.children(depth - 1, node);
                above.push(starts[children.start]);
                parents.extend(children.map(|_| node as u32));
            }
            above.push(slots.groups() as u32);
        }
        Layer {
            parents,
            starts: std::mem::replace(&mut starts, above),
        }
    });
    layers.collect()
}
