//! Multilevel mapping of a matrix onto a tree: coarsen, initial mapping, refinement.

use crate::coarsen::graph::Graph;
use crate::constraints::slot_tree::SlotTree;
use crate::effort::Effort;
use crate::initial::coordinate_bisection::boxed;
use crate::initial::exhaustive::{FEW, cheapest};
use crate::initial::grid::Grid;
use crate::initial::multisection::Filling;
use crate::initial::tiling::tiled;
use crate::options::Options;
use crate::progress::Progress;
use crate::refine::pairwise::PairwiseRefiner;
use crate::target::slots::Slots;
use crate::target::tree_cells::TreeCells;
use treepie_base::{Leaf, List, Rank};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// Known structure of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Structure {
    /// The ranks form a grid: there is little left to improve.
    Grid,
    Unknown,
}

/// Placement of a grid of ranks.
pub(crate) struct GridPlacement {
    pub leaf_of_rank: List<Rank, Leaf>,
    /// True if other candidates are not worth the search with little effort: the placement consists
    /// of equal boxes of a grid without other edges.
    pub suffices: bool,
}

/// The slots, and a graph with a vertex for each rank and for each empty slot.
pub(crate) struct MultilevelMapper<'a> {
    graph: Graph,
    slots: Slots<'a>,
    ranks: usize,
    effort: Effort,
    seed: u64,
    threads: usize,
    progress: Option<&'a Progress>,
}

impl<'a> MultilevelMapper<'a> {
    /// Creates a mapper for the ranks of a matrix on the allowed leaves of a topology, of which
    /// there must be enough.
    pub(crate) fn new(matrix: &Matrix, topology: &'a Topology, options: &Options<'a>) -> Self {
        let ranks = matrix.order();
        let slots = Slots::for_ranks(topology, ranks);
        MultilevelMapper {
            graph: Graph::new(matrix, slots.total()),
            slots,
            ranks,
            effort: options.effort,
            seed: options.seed,
            threads: options.threads,
            progress: options.progress,
        }
    }

    /// Leaf of each rank if ranks form a grid: equal boxes if the tree divides it, else boxes as
    /// equal as possible.
    pub(crate) fn grid(&self) -> Option<GridPlacement> {
        let grid = Grid::find(&self.graph)?;
        let equal = tiled(&self.graph, &grid, &self.slots);
        let suffices = equal.is_some() && grid.whole && self.effort == Effort::Fast;
        let leaf_of = equal.unwrap_or_else(|| boxed(&self.graph, &grid, &self.slots));
        Some(GridPlacement {
            leaf_of_rank: self.of_ranks(leaf_of),
            suffices,
        })
    }

    /// Leaf of each rank by multisection.
    pub(crate) fn multisection(&self, structure: Structure) -> List<Rank, Leaf> {
        if self.ranks == 0 {
            return List::new();
        }
        let effort = match structure == Structure::Grid && self.effort == Effort::Normal {
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

    /// Leaf of each rank in a cheapest placement, if the ranks are few enough to try all.
    pub(crate) fn cheapest(&self) -> Option<List<Rank, Leaf>> {
        if self.ranks > FEW {
            return None;
        }
        let slots = Slots::new(self.slots.topology());
        cheapest(&self.graph, &TreeCells::new(&slots), self.ranks).map(Leaf::list)
    }

    /// Refiner of placements by swaps that satisfy the constraints.
    pub(crate) fn refiner(&self, slot_tree: &'a SlotTree) -> PairwiseRefiner<'_> {
        PairwiseRefiner {
            graph: &self.graph,
            ranks: self.ranks,
            worth_filling: &self.slots,
            slot_tree,
            passes: self.effort.passes(),
        }
    }

    fn of_ranks(&self, leaf_of: Vec<usize>) -> List<Rank, Leaf> {
        Leaf::list(leaf_of.into_iter().take(self.ranks))
    }
}
