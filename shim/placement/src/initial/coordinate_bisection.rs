//! Grids cut in two recursively, for any sizes and any tree, if equal boxes do not fit (recursive
//! coordinate bisection, Berger and Bokhari 1987).

use crate::coarsen::block::{Siblings, is_group, parts};
use crate::coarsen::graph::Graph;
use crate::initial::grid::Grid;
use crate::target::slots::Slots;

/// Computes the leaf of each vertex. Each cut is across the axis that costs least; vertices outside
/// the grid fill the remaining leaves.
pub fn boxed(graph: &Graph, grid: &Grid, slots: &Slots) -> Vec<usize> {
    let mut cutting = Cutting {
        graph,
        grid,
        slots,
        leaf_of: vec![0; graph.order()],
        first: vec![false; graph.order()],
    };
    // Vertices outside the grid are last on every axis.
    let mut members: Vec<u32> = (0..graph.order() as u32).collect();
    let top = Siblings {
        depth: 0,
        nodes: vec![0],
    };
    cutting.fill(&mut members, &top);
    cutting.leaf_of
}

struct Cutting<'a> {
    graph: &'a Graph,
    grid: &'a Grid,
    slots: &'a Slots<'a>,
    leaf_of: Vec<usize>,
    /// True if a vertex is in the first half of the present cut.
    first: Vec<bool>,
}

impl Cutting<'_> {
    fn fill(&mut self, members: &mut [u32], top: &Siblings) {
        if is_group(self.slots, top) {
            let leaves = self.slots.leaves(top.depth, top.nodes[0] as usize);
            for (&member, leaf) in members.iter().zip(leaves) {
                self.leaf_of[member as usize] = leaf;
            }
            return;
        }
        self.halve(members, &parts(self.slots, top));
    }

    /// Divides `members` among siblings, halving both recursively.
    fn halve(&mut self, members: &mut [u32], parts: &[Siblings]) {
        if let [part] = parts {
            return self.fill(members, part);
        }
        let (left, right) = parts.split_at(parts.len() / 2);
        let size = left.iter().map(|part| part.size(self.slots)).sum();
        let axes = 0..self.grid.extents.len();
        let costs = axes.map(|axis| (self.cut(members, size, axis), axis));
        let best = costs.min_by(|a, b| a.0.total_cmp(&b.0));
        self.sort(members, best.map_or(0, |best| best.1));
        let (first, second) = members.split_at_mut(size);
        self.halve(first, left);
        self.halve(second, right);
    }

    fn sort(&self, members: &mut [u32], axis: usize) {
        members.sort_unstable_by_key(|&member| {
            let at = self.grid.at(member as usize);
            let outside = self.graph.degree(member as usize) == 0;
            (outside, at[axis], at, member)
        });
    }

    /// Weight between the first `size` members along an axis and the others.
    fn cut(&mut self, members: &mut [u32], size: usize, axis: usize) -> f64 {
        self.sort(members, axis);
        let (first, second) = members.split_at(size);
        first.iter().for_each(|&m| self.first[m as usize] = true);
        let rows = second.iter().flat_map(|&m| self.graph.row(m as usize));
        let cut = rows.filter(|&(n, _)| self.first[n]).map(|(_, w)| w).sum();
        first.iter().for_each(|&m| self.first[m as usize] = false);
        cut
    }
}
