//! Multisection from the root down: each block of the tree is filled by bisection, then improved by
//! swaps, then each of its cells is filled. The arrangement inside a cell does not affect the cost
//! between cells, because all leaves of two different cells are equally far apart.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::coarsen::block::{Block, Siblings, is_group};
use crate::coarsen::graph::Graph;
use crate::effort::Effort;
use crate::initial::bisect::{Trials, bisect};
use crate::progress::Progress;
use crate::random::Random;
use crate::refine::cell_annealing::anneal;
use crate::refine::mapping::total_saving;
use crate::target::slots::Slots;

/// Least number of vertices for which several threads are used.
const WORTH_THREADS: usize = 1024;

/// Multisection of one tree.
pub(crate) struct Filling<'a> {
    /// The slots of the tree.
    pub slots: &'a Slots<'a>,
    /// Amount of work.
    pub effort: Effort,
    /// Seed of all random choices.
    pub seed: u64,
    /// Progress, in bits of information about the decided slots; `n` vertices in `n` slots have `n
    /// log2 n`.
    pub progress: Option<&'a Progress>,
}

impl Filling<'_> {
    /// Computes the leaf of each vertex of a graph that has as many vertices as there are slots.
    /// The result is the same for any number of threads.
    pub(crate) fn fill_tree(&self, graph: &Graph, threads: usize) -> Vec<usize> {
        let root = Siblings {
            depth: 0,
            nodes: vec![0],
        };
        if let Some(progress) = self.progress {
            progress.expect(bits(graph.order()));
        }
        self.fill(graph, graph.order(), &root, threads)
    }

    fn decided(&self, bits: f64) {
        if let Some(progress) = self.progress {
            progress.add(bits);
        }
    }

    /// Computes the leaf below `top` of each of `count` vertices, whose graph is `graph`; it may be
    /// empty if `top` is a group.
    fn fill(&self, graph: &Graph, count: usize, top: &Siblings, threads: usize) -> Vec<usize> {
        if is_group(self.slots, top) {
            self.decided(bits(count));
            let leaves = self.slots.leaves(top.depth, top.nodes[0] as usize);
            return leaves.take(count).collect();
        }
        let block = Block::below(self.slots, top);
        let seed = self.seed.wrapping_add((top.nodes[0] as u64) << 8) ^ top.depth as u64;
        let cell_of = self.arrange(graph, &block, &mut Random::new(seed));
        let mut of_cell = vec![Vec::new(); block.cells.len()];
        for (vertex, &cell) in cell_of.iter().enumerate() {
            of_cell[cell as usize].push(vertex as u32);
        }
        // Cells are independent: any thread may fill any cell.
        let next = AtomicUsize::new(0);
        let work = || {
            let mut filled = Vec::new();
            let mut number = vec![Graph::OUTSIDE; graph.order()];
            while let Some(vertices) = of_cell.get(next.fetch_add(1, Ordering::Relaxed)) {
                filled.push(self.fill_cell(graph, &block, &cell_of, vertices, &mut number));
            }
            filled
        };
        let threads = match graph.order() < WORTH_THREADS {
            true => 1,
            false => threads.clamp(1, of_cell.len()),
        };
        let mut leaf_of = vec![0; count];
        let mut take = |filled: Vec<(&[u32], Vec<usize>)>| {
            for (vertices, leaves) in filled {
                for (&vertex, leaf) in vertices.iter().zip(leaves) {
                    leaf_of[vertex as usize] = leaf;
                }
            }
        };
        if threads == 1 {
            take(work());
        } else {
            std::thread::scope(|scope| {
                let others: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
                for other in others {
                    match other.join() {
                        Ok(filled) => take(filled),
                        Err(panic) => std::panic::resume_unwind(panic),
                    }
                }
            });
        }
        leaf_of
    }

    /// Computes the vertices of a cell and their leaves.
    fn fill_cell<'v>(
        &self,
        graph: &Graph,
        block: &Block,
        cell_of: &[u32],
        vertices: &'v [u32],
        number: &mut [u32],
    ) -> (&'v [u32], Vec<usize>) {
        let Some(&first) = vertices.first() else {
            return (vertices, Vec::new());
        };
        let cell = &block.cells[cell_of[first as usize] as usize];
        let inside = match is_group(self.slots, cell) {
            true => Graph::empty(),
            false => graph.subgraph(vertices, number),
        };
        (vertices, self.fill(&inside, vertices.len(), cell, 1))
    }

    /// Computes the cell of each vertex: by bisection, then by the best of several annealing runs.
    fn arrange(&self, graph: &Graph, block: &Block, random: &mut Random) -> Vec<u32> {
        let inside: f64 = block.sizes.iter().copied().map(bits).sum();
        let decided = bits(graph.order()) - inside;
        let mut best = divide(block, graph, self.effort.trials(), random);
        if block.cells.len() < 2 || graph.entries() == 0 {
            self.decided(decided);
            return best;
        }
        let neighbours = graph.entries() as f64 / graph.order() as f64;
        let mut most = total_saving(graph, block, &best);
        let ranks = self.slots.total();
        let schedules = self.effort.schedules(ranks, neighbours);
        let step = decided / (schedules.len() + 1) as f64;
        self.decided(step);
        for schedule in schedules {
            let found = anneal(graph, block, best.clone(), schedule, random);
            let saving = total_saving(graph, block, &found);
            if saving > most {
                (best, most) = (found, saving);
            }
            self.decided(step);
        }
        best
    }
}

/// Divides the ranks of a graph among the cells by bisection.
pub(crate) fn divide(
    block: &Block,
    graph: &Graph,
    trials: Trials,
    random: &mut Random,
) -> Vec<u32> {
    let order = graph.order();
    let mut cell_of = vec![0_u32; order];
    let mut number = vec![Graph::OUTSIDE; order];
    // Cuts come from the top down, so that the first cell of a range holds its ranks.
    for cut in &block.cuts {
        let inside = (0..order as u32).filter(|&v| cell_of[v as usize] == cut.start as u32);
        let members: Vec<u32> = inside.collect();
        let first = block.sizes[cut.start..cut.middle].iter().sum();
        let graph = graph.subgraph(&members, &mut number);
        let side = bisect(graph, first, trials, random);
        for (&member, side) in members.iter().zip(side) {
            if side == 1 {
                cell_of[member as usize] = cut.middle as u32;
            }
        }
    }
    cell_of
}

/// Information, in bits, of an arrangement of `count` vertices in as many slots.
fn bits(count: usize) -> f64 {
    match count {
        0 => 0.0,
        count => count as f64 * libm::log2(count as f64),
    }
}
