//! From the root down: each block of the tree is filled by bisection, then
//! improved by swaps, then each of its cells is filled in turn. What is inside
//! a cell has no influence on what is between cells, because leaves of
//! different cells are equally far apart wherever they are.

use super::anneal::anneal;
use super::block::{Block, Siblings, is_group};
use super::effort::Effort;
use super::graph::Graph;
use super::slots::Slots;
use super::state::total_saving;
use crate::placement::random::Random;

/// The leaf of each vertex of a graph that has as many vertices as there are slots.
pub fn multisection(graph: &Graph, slots: &Slots, effort: Effort, seed: u64) -> Vec<usize> {
    let order = graph.order();
    let mut filling = Filling {
        slots,
        effort,
        seed,
        leaf_of: vec![0; order],
    };
    let members: Vec<u32> = (0..order as u32).collect();
    let root = Siblings {
        depth: 0,
        nodes: vec![0],
    };
    filling.fill(graph, &members, &root);
    filling.leaf_of
}

struct Filling<'a> {
    slots: &'a Slots<'a>,
    effort: Effort,
    seed: u64,
    leaf_of: Vec<usize>,
}

impl Filling<'_> {
    /// Places `members`, whose graph is `graph`, below `top`.
    fn fill(&mut self, graph: &Graph, members: &[u32], top: &Siblings) {
        if is_group(self.slots, top) {
            let leaves = self.slots.leaves(top.depth, top.nodes[0] as usize);
            for (&member, leaf) in members.iter().zip(leaves) {
                self.leaf_of[member as usize] = leaf;
            }
            return;
        }
        let block = Block::below(self.slots, top);
        let seed = self.seed.wrapping_add((top.nodes[0] as u64) << 8) ^ top.depth as u64;
        let cell_of = self.arrange(graph, &block, &mut Random::new(seed));
        let mut of_cell = vec![Vec::new(); block.cells.len()];
        for (vertex, &cell) in cell_of.iter().enumerate() {
            of_cell[cell as usize].push(vertex as u32);
        }
        let mut number = vec![Graph::OUTSIDE; graph.order()];
        for (cell, vertices) in block.cells.iter().zip(of_cell) {
            let below: Vec<u32> = vertices.iter().map(|&v| members[v as usize]).collect();
            let inside = match is_group(self.slots, cell) {
                true => Graph::empty(),
                false => graph.subgraph(&vertices, &mut number),
            };
            self.fill(&inside, &below, cell);
        }
    }

    /// The cell of each vertex: bisection, then the better of what annealing finds.
    fn arrange(&self, graph: &Graph, block: &Block, random: &mut Random) -> Vec<u32> {
        let mut best = block.divide(graph, self.effort.trials(), random);
        if block.cells.len() < 2 || graph.entries() == 0 {
            return best;
        }
        let neighbours = graph.entries() as f64 / graph.order() as f64;
        let mut most = total_saving(graph, block, &best);
        for schedule in self.effort.schedules(self.leaf_of.len(), neighbours) {
            let found = anneal(graph, block, best.clone(), schedule, random);
            let saving = total_saving(graph, block, &found);
            if saving > most {
                (best, most) = (found, saving);
            }
        }
        best
    }
}
