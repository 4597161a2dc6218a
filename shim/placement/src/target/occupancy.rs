//! Ranks on slots, and their partners.

use crate::constraints::slot_tree::{Occupant, SlotTree};
use treepie_base::{List, Rank, Slot};
use treepie_traffic::Matrix;

/// Another rank and the traffic to and from it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Partner {
    pub rank: u32,
    pub sent: f64,
    pub received: f64,
}

/// A placement that swaps change.
#[derive(Debug)]
pub(crate) struct Occupancy {
    pub slot_of: Vec<usize>,
    pub rank_on: Vec<Option<usize>>,
    /// Partners of each rank, ascending.
    pub partners: Vec<Vec<Partner>>,
}

impl Occupancy {
    pub(crate) fn new(matrix: &Matrix, slot_tree: &SlotTree, slots: List<Rank, Slot>) -> Self {
        let slot_of: Vec<usize> = slots.into_iter().map(usize::from).collect();
        let mut rank_on = vec![None; slot_tree.topology().leaf_count()];
        for (rank, &slot) in slot_of.iter().enumerate() {
            rank_on[slot] = Some(rank);
        }
        Occupancy {
            slot_of,
            rank_on,
            partners: partners(matrix),
        }
    }

    /// A slot and its rank.
    pub(crate) fn at(&self, slot: usize) -> Occupant {
        Occupant {
            rank: self.rank_on[slot].map(Rank),
            slot: Slot(slot),
        }
    }

    /// Swaps the ranks of two slots, of which either may be empty.
    pub(crate) fn swap(&mut self, here: usize, there: usize) {
        self.rank_on.swap(here, there);
        for slot in [here, there] {
            if let Some(rank) = self.rank_on[slot] {
                self.slot_of[rank] = slot;
            }
        }
    }
}

/// Partners of every rank, with the traffic of both directions.
fn partners(matrix: &Matrix) -> Vec<Vec<Partner>> {
    let mut partners: Vec<Vec<Partner>> = vec![Vec::new(); matrix.order()];
    for (from, to, value) in matrix.entries().filter(|(from, to, _)| from != to) {
        for (one, other, sent, received) in [(from, to, value, 0.0), (to, from, 0.0, value)] {
            partners[one].push(Partner {
                rank: other as u32,
                sent,
                received,
            });
        }
    }
    for all in &mut partners {
        all.sort_by_key(|partner| partner.rank);
        all.dedup_by(|next, first| {
            let same = next.rank == first.rank;
            if same {
                first.sent += next.sent;
                first.received += next.received;
            }
            same
        });
    }
    partners
}
