//! Candidates of the multilevel mapper for a matrix and a tree.

use super::coordinate_bisection::boxed;
use super::effort::Effort;
use super::exhaustive::{FEW, cheapest};
use super::graph::Graph;
use super::grid::Grid;
use super::multisection::Filling;
use super::refine::refine;
use super::slots::Slots;
use super::tiling::tiled;
use crate::Progress;
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// A graph with a vertex for each rank and for each slot that stays empty, and
/// the slots: what all candidates are made from, and what improves them.
pub struct Engine<'a> {
    graph: Graph,
    slots: Slots<'a>,
    ranks: usize,
    effort: Effort,
    seed: u64,
    threads: usize,
    progress: Option<&'a Progress>,
}

impl<'a> Engine<'a> {
    /// For the ranks of a matrix on the allowed leaves of a topology, of which
    /// there must be enough.
    pub fn new(
        matrix: &Matrix,
        topology: &'a Topology,
        effort: Effort,
        seed: u64,
        threads: usize,
    ) -> Self {
        let ranks = matrix.order();
        let slots = Slots::for_ranks(topology, ranks);
        Engine {
            graph: Graph::new(matrix, slots.total()),
            slots,
            ranks,
            effort,
            seed,
            threads,
            progress: None,
        }
    }

    /// The same, telling how far it is.
    pub(crate) fn with_progress(self, progress: Option<&'a Progress>) -> Self {
        Engine { progress, ..self }
    }

    /// The leaf of each rank where ranks form a grid: equal boxes if the tree
    /// divides it, else boxes as equal as can be. And whether that is all that
    /// is worth looking for with little effort: equal boxes of a grid without
    /// other edges.
    pub fn grid(&self) -> Option<(Vec<usize>, bool)> {
        let grid = Grid::find(&self.graph)?;
        let equal = tiled(&self.graph, &grid, &self.slots);
        let enough = equal.is_some() && grid.whole && self.effort == Effort::Fast;
        let leaf_of = equal.unwrap_or_else(|| boxed(&self.graph, &grid, &self.slots));
        Some((self.of_ranks(leaf_of), enough))
    }

    /// The leaf of each rank by multisection. Where ranks form a grid (`easy`),
    /// there is little left to find, and less effort is made.
    pub fn multisection(&self, easy: bool) -> Vec<usize> {
        if self.ranks == 0 {
            return Vec::new();
        }
        let effort = match easy && self.effort == Effort::Normal {
            true => Effort::Fast,
            false => self.effort,
        };
        let filling = Filling {
            slots: &self.slots,
            effort,
            seed: self.seed,
            progress: self.progress,
        };
        self.of_ranks(filling.fill_tree(&self.graph, self.threads))
    }

    /// The leaf of each rank in a placement that costs less than `limit` and
    /// than all others, if there is one and the ranks are few enough to try all.
    pub fn cheapest(&self, limit: f64) -> Option<Vec<usize>> {
        let few = self.ranks <= FEW && self.ranks > 0;
        let slots = Slots::new(self.slots.topology());
        few.then(|| cheapest(&self.graph, &slots, self.ranks, limit))?
    }

    /// A placement that swaps have made cheaper; see [`refine`].
    pub(crate) fn refined(
        &self,
        leaf_of_rank: &[usize],
        may_swap: impl Fn((Option<usize>, usize), (Option<usize>, usize)) -> bool,
    ) -> Vec<usize> {
        let slots = Slots::new(self.slots.topology());
        let mut taken = vec![false; slots.topology().leaf_count()];
        leaf_of_rank.iter().for_each(|&leaf| taken[leaf] = true);
        let free = self.slots.leaves(0, 0).filter(|&leaf| !taken[leaf]);
        let mut leaf_of = leaf_of_rank.to_vec();
        leaf_of.extend(free.take(self.graph.order() - self.ranks));
        // Ranks outside the slots leave more of these free than there are vertices.
        let graph = &self.graph;
        if leaf_of.len() == graph.order() {
            let rank = |(vertex, leaf)| ((vertex < self.ranks).then_some(vertex), leaf);
            let may_swap = |a, b| may_swap(rank(a), rank(b));
            refine(graph, &slots, &mut leaf_of, self.effort.passes(), may_swap);
        }
        self.of_ranks(leaf_of)
    }

    fn of_ranks(&self, mut leaf_of: Vec<usize>) -> Vec<usize> {
        leaf_of.truncate(self.ranks);
        leaf_of
    }
}
