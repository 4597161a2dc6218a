//! Mapping of ranks to the cells of a block, with the saving of each rank in each cell.

use crate::coarsen::block::Block;
use crate::coarsen::graph::Graph;

/// A mapping that moves and swaps change. A table holds the saving of every rank in every cell, so
/// that a proposal is evaluated by a few look-ups; only an accepted one takes time in proportion to
/// the number of neighbours.
pub struct Mapping<'a> {
    pub graph: &'a Graph,
    pub block: &'a Block,
    pub cells: usize,
    pub cell_of: Vec<u32>,
    /// Factor of weights that keeps sums within single precision: a power of two, so that whole
    /// numbers stay exact.
    pub scale: f64,
    /// Ranks in each cell beyond its size.
    pub excess: Vec<f32>,
    /// Saving of a unit of weight between two cells.
    pub saved: Vec<f32>,
    /// Saving of rank `v` in cell `c`: `saving[v * cells + c]`.
    saving: Vec<f32>,
    /// The weights of the graph's edges, scaled.
    weights: Vec<f32>,
    /// Buffer for the change in each cell by a move.
    changes: Vec<f32>,
}

impl<'a> Mapping<'a> {
    pub fn new(graph: &'a Graph, block: &'a Block, cell_of: Vec<u32>) -> Self {
        let cells = block.sizes.len();
        let mut excess: Vec<f32> = block.sizes.iter().map(|&size| -(size as f32)).collect();
        for &cell in &cell_of {
            excess[cell as usize] += 1.0;
        }
        let scale = scale(graph, block);
        let weights = (0..graph.order()).flat_map(|rank| graph.weights(rank));
        let mut mapping = Mapping {
            saving: vec![0.0; graph.order() * cells],
            saved: block.saved.iter().map(|&saved| saved as f32).collect(),
            weights: weights.map(|weight| (weight * scale) as f32).collect(),
            changes: vec![0.0; cells],
            scale,
            graph,
            block,
            cells,
            cell_of,
            excess,
        };
        mapping.measure();
        mapping
    }

    /// Recomputes the table, which removes rounding errors.
    pub fn measure(&mut self) {
        let cells = self.cells;
        for (rank, row) in self.saving.chunks_exact_mut(cells).enumerate() {
            row.fill(0.0);
            let neighbours = self.graph.neighbours(rank).iter();
            for (&neighbour, &weight) in neighbours.zip(&self.weights[self.graph.range(rank)]) {
                let there = self.cell_of[neighbour as usize] as usize;
                let saved = &self.saved[there * cells..(there + 1) * cells];
                for (sum, saved) in row.iter_mut().zip(saved) {
                    *sum += weight * saved;
                }
            }
        }
    }

    /// Saving of a rank in each cell.
    #[inline]
    pub(crate) fn savings(&self, rank: usize) -> &[f32] {
        &self.saving[rank * self.cells..(rank + 1) * self.cells]
    }

    /// Saving of each rank in each cell, rank by rank.
    #[inline]
    pub(crate) fn all_savings(&self) -> std::slice::ChunksExact<'_, f32> {
        self.saving.chunks_exact(self.cells)
    }

    /// Moves a rank to another cell and updates its neighbours.
    pub fn shift(&mut self, rank: usize, to: usize) {
        let cells = self.cells;
        let from = self.cell_of[rank] as usize;
        let old = &self.saved[from * cells..(from + 1) * cells];
        let new = &self.saved[to * cells..(to + 1) * cells];
        // In the rest of the block the distance does not change.
        for range in [self.block.side(from, to), self.block.side(to, from)] {
            let length = range.len();
            for (change, (new, old)) in { &mut self.changes[..length] }
                .iter_mut()
                .zip(new[range.clone()].iter().zip(&old[range.clone()]))
            {
                *change = new - old;
            }
            let changes = &self.changes[..length];
            let row = self.graph.neighbours(rank).iter();
            for (&neighbour, &weight) in row.zip(&self.weights[self.graph.range(rank)]) {
                let at = neighbour as usize * cells + range.start;
                let savings = &mut self.saving[at..at + length];
                for (saving, change) in savings.iter_mut().zip(changes) {
                    *saving += weight * change;
                }
            }
        }
        self.cell_of[rank] = to as u32;
        self.excess[from] -= 1.0;
        self.excess[to] += 1.0;
    }

    /// Gain of swapping two ranks of different cells.
    pub(crate) fn swap_gain(&self, a: usize, b: usize) -> f32 {
        let (here, there) = (self.cell_of[a] as usize, self.cell_of[b] as usize);
        let (of_a, of_b) = (self.savings(a), self.savings(b));
        of_a[there] - of_a[here] + of_b[here] - of_b[there]
    }

    /// Excess of [`Mapping::swap_gain`] if the two ranks are neighbours: the length of the edge
    /// between them does not change.
    pub(crate) fn overcounted(&self, a: usize, b: usize) -> f32 {
        let weight = (self.graph.weight(a, b) * self.scale) as f32;
        if weight == 0.0 {
            return 0.0;
        }
        let (here, there) = (self.cell_of[a] as usize, self.cell_of[b] as usize);
        let saved = |a: usize, b: usize| self.saved[a * self.cells + b];
        weight * (saved(here, here) + saved(there, there) - 2.0 * saved(here, there))
    }
}

/// Power of two that scales the largest saving of a rank to about a million.
fn scale(graph: &Graph, block: &Block) -> f64 {
    let strength = |rank: usize| graph.weights(rank).iter().sum::<f64>();
    let most = (0..graph.order()).map(strength).fold(0.0, f64::max);
    let saved = block.saved.iter().copied().fold(0.0, f64::max);
    let exponent = 20.0 - libm::log2(most) - libm::log2(saved.max(f64::MIN_POSITIVE));
    libm::exp2(exponent.floor().clamp(-1000.0, 1000.0))
}

/// Total saving of all edges, with ranks in these cells.
pub(crate) fn total_saving(graph: &Graph, block: &Block, cell_of: &[u32]) -> f64 {
    let cells = block.sizes.len();
    let of_rank = |rank: usize| {
        let here = cell_of[rank] as usize * cells;
        let saved = |(n, weight): (usize, f64)| weight * block.saved[here + cell_of[n] as usize];
        graph.row(rank).map(saved).sum::<f64>()
    };
    (0..graph.order()).map(of_rank).sum::<f64>() / 2.0
}
