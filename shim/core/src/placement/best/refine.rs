//! Swaps of any two ranks anywhere in the tree, as long as one makes it cheaper.

use super::graph::Graph;
use super::slots::Slots;

/// Groups that are looked at for each rank: those to which it sends most.
const GROUPS: usize = 4;

/// Improves a placement by swaps, each of which makes it cheaper, in at most
/// `passes` passes over all vertices. `leaf_of` has a leaf for each vertex of
/// the graph, those without edges included. No swap is made that `may_swap`
/// refuses for the two vertices and their leaves.
///
/// A swap is judged exactly from the neighbours of the two ranks and the
/// distances of all levels.
pub fn refine(
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
    /// The parents of the nodes at each depth, from the groups upwards.
    parents: Vec<Vec<u32>>,
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
        let parents = (0..slots.group_depth()).rev().map(|depth| {
            let topology = slots.topology();
            let nodes = 0..topology.node_count(depth);
            nodes
                .flat_map(|node| topology.children(depth, node).map(move |_| node as u32))
                .collect()
        });
        Refinement {
            parents: parents.collect(),
            graph,
            slots,
            leaf_of,
            group_of,
            members,
        }
    }

    /// Distance of different ranks in two groups.
    fn distance(&self, a: u32, b: u32) -> f64 {
        let (mut a, mut b, mut climbed) = (a, b, 0);
        while a != b {
            a = self.parents[climbed][a as usize];
            b = self.parents[climbed][b as usize];
            climbed += 1;
        }
        self.slots.distance(self.slots.group_depth() - climbed)
    }

    /// What a vertex would cost in a group, with all others where they are.
    fn cost(&self, vertex: usize, group: u32) -> f64 {
        let row = self.graph.row(vertex);
        row.map(|(neighbour, weight)| weight * self.distance(group, self.group_of[neighbour]))
            .sum()
    }

    /// The groups that a vertex sends most to, its own left out.
    fn drawn_to(&self, vertex: usize) -> Vec<u32> {
        let mut sums: Vec<(u32, f64)> = Vec::new();
        for (neighbour, weight) in self.graph.row(vertex) {
            let group = self.group_of[neighbour];
            match sums.iter_mut().find(|sum| sum.0 == group) {
                Some(sum) => sum.1 += weight,
                None => sums.push((group, weight)),
            }
        }
        sums.retain(|sum| sum.0 != self.group_of[vertex]);
        sums.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        sums.into_iter().take(GROUPS).map(|sum| sum.0).collect()
    }

    /// The partner with which a swap saves most; `None` if no swap saves more
    /// than rounding.
    fn best_swap(
        &self,
        vertex: usize,
        may_swap: &impl Fn((usize, usize), (usize, usize)) -> bool,
    ) -> Option<usize> {
        let here = self.group_of[vertex];
        let now = self.cost(vertex, here);
        let mut best = (1e-9 * now, None);
        for there in self.drawn_to(vertex) {
            let saved = now - self.cost(vertex, there);
            let apart = self.distance(here, there) - self.distance(here, here);
            for &other in &self.members[there as usize] {
                let other = other as usize;
                // The edge between the two stays as long as it is.
                let between = self.graph.weight(vertex, other) * apart;
                // In a swap that saves, one of the two saves: asked in its turn.
                if saved <= between {
                    continue;
                }
                let of_other = self.cost(other, there) - self.cost(other, here);
                let saving = saved + of_other - 2.0 * between;
                let places = ((vertex, self.leaf_of[vertex]), (other, self.leaf_of[other]));
                if saving > best.0 && may_swap(places.0, places.1) {
                    best = (saving, Some(other));
                }
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
