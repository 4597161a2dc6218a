//! The cheapest of all placements of a few ranks, by branch and bound.

use std::collections::HashMap;

use crate::coarsen::graph::Graph;
use crate::target::cells::Cells;

/// Largest number of ranks for which all placements are tried.
pub(crate) const FEW: usize = 8;

/// Maximum number of partial placements examined.
const MOST_STEPS: usize = 5_000_000;

/// Slot of each of the first `ranks` vertices in a cheapest placement; `None` if there are too many
/// ranks or placements.
///
/// Ranks are placed one after the other, the heaviest first. Of cells that are equivalent for a
/// rank only the first is tried.
pub(crate) fn cheapest(graph: &Graph, cells: &impl Cells, ranks: usize) -> Option<Vec<usize>> {
    if !(1..=FEW).contains(&ranks) {
        return None;
    }
    let mut order: Vec<usize> = (0..ranks).collect();
    let strength = |rank: usize| graph.strength(rank);
    order.sort_by(|&a, &b| strength(b).total_cmp(&strength(a)).then(a.cmp(&b)));
    // No placement costs less than all edges at the least distance.
    let bound = (0..ranks).map(strength).sum::<f64>() / 2.0 * cells.least_distance();
    let mut search = BranchAndBound {
        graph,
        cells,
        order,
        taken: vec![0; cells.count()],
        placed: Vec::new(),
        cell_of: vec![None; ranks],
        least: f64::INFINITY,
        best: None,
        steps: 0,
    };
    search.place_next(0.0, bound);
    if search.steps > MOST_STEPS {
        return None;
    }
    search.best.map(|cell_of| on_slots(&cell_of, cells))
}

struct BranchAndBound<'a, C> {
    graph: &'a Graph,
    cells: &'a C,
    order: Vec<usize>,
    /// Ranks in each cell.
    taken: Vec<usize>,
    /// Cells of the placed ranks, in their order.
    placed: Vec<usize>,
    cell_of: Vec<Option<usize>>,
    least: f64,
    best: Option<Vec<usize>>,
    steps: usize,
}

impl<C: Cells> BranchAndBound<'_, C> {
    /// Places the remaining ranks. The edges between placed ranks cost `cost`, all others at least
    /// `bound`.
    fn place_next(&mut self, cost: f64, bound: f64) {
        self.steps += 1;
        let rounding = match self.best {
            Some(_) => 1e-12 * self.least,
            None => 0.0,
        };
        if cost + bound >= self.least - rounding || self.steps > MOST_STEPS {
            return;
        }
        let Some(&rank) = self.order.get(self.placed.len()) else {
            self.least = cost;
            self.best = self.cell_of.iter().copied().collect();
            return;
        };
        let edges = self.graph.row(rank);
        let placed = edges.filter(|&(other, _)| self.cell_of[other].is_some());
        let placed: f64 = placed.map(|(_, weight)| weight).sum();
        let bound = (bound - placed * self.cells.least_distance()).max(0.0);
        let free = |&cell: &usize| self.taken[cell] < self.cells.capacity(cell);
        let cells = self.cells.distinct(&self.placed).into_iter().filter(free);
        let mut cells: Vec<(f64, usize)> =
            cells.map(|cell| (self.cost(rank, cell), cell)).collect();
        cells.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (added, cell) in cells {
            self.cell_of[rank] = Some(cell);
            self.taken[cell] += 1;
            self.placed.push(cell);
            self.place_next(cost + added, bound);
            self.placed.pop();
            self.taken[cell] -= 1;
            self.cell_of[rank] = None;
        }
    }

    /// Cost of the edges to placed ranks.
    fn cost(&self, rank: usize, cell: usize) -> f64 {
        let edges = self.graph.row(rank);
        let placed = edges.filter_map(|(other, weight)| Some((self.cell_of[other]?, weight)));
        placed
            .map(|(there, weight)| weight * self.cells.distance(cell, there))
            .sum()
    }
}

/// A slot for each rank in its cell.
fn on_slots(cell_of: &[usize], cells: &impl Cells) -> Vec<usize> {
    let mut taken: HashMap<usize, usize> = HashMap::new();
    let slot = |&cell: &usize| {
        let at = taken.entry(cell).or_insert(0);
        *at += 1;
        cells.slots(cell).nth(*at - 1)
    };
    cell_of.iter().filter_map(slot).collect()
}
