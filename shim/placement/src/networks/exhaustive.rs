//! The cheapest of all placements of a few ranks.

use super::field::Field;

/// More arrangements than this are not tried.
const MOST: usize = 200_000;

/// The slots of the ranks in a placement that no other is cheaper than; `None` where there are too
/// many ways, or rules to keep.
pub fn cheapest(field: &Field) -> Option<Vec<usize>> {
    let slots = field.slots().len();
    let ways = (0..field.ranks).try_fold(1_usize, |ways, taken| {
        ways.checked_mul(slots - taken).filter(|&ways| ways <= MOST)
    });
    if ways.is_none() || !field.slot_tree.is_free() || field.ranks == 0 {
        return None;
    }
    let mut search = Search {
        field,
        taken: vec![false; slots],
        placed: Vec::with_capacity(field.ranks),
        least: f64::INFINITY,
        best: Vec::new(),
    };
    search.place(0.0);
    Some(search.best)
}

struct Search<'a> {
    field: &'a Field<'a>,
    taken: Vec<bool>,
    placed: Vec<usize>,
    least: f64,
    best: Vec<usize>,
}

impl Search<'_> {
    /// Places the next rank on every free slot.
    fn place(&mut self, cost: f64) {
        // Sums in another order differ in the last digits.
        if cost >= self.least * (1.0 - 1e-12) {
            return;
        }
        let rank = self.placed.len();
        if rank == self.field.ranks {
            self.least = cost;
            self.best.clone_from(&self.placed);
            return;
        }
        for at in 0..self.taken.len() {
            if self.taken[at] {
                continue;
            }
            let slot = self.field.slots()[at] as usize;
            let node = |slot: usize| self.field.node_of_slot[slot] as usize;
            let row = self
                .field
                .graph
                .row(rank)
                .filter(|&(other, _)| other < rank);
            let more = row.map(|(other, weight)| {
                let there = node(self.placed[other]);
                weight * f64::from(self.field.nodes.distance(node(slot), there))
            });
            let more: f64 = more.sum();
            self.taken[at] = true;
            self.placed.push(slot);
            self.place(cost + more);
            self.placed.pop();
            self.taken[at] = false;
        }
    }
}
