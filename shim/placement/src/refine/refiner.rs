//! The interface of refinement.

use treepie_base::{List, Rank, Slot};

/// Refinement of a placement: moves that lower its cost and keep its rules.
pub(crate) trait Refiner {
    /// The placement after refinement, one slot for each rank.
    fn refine(&mut self, slot_of_rank: List<Rank, Slot>) -> List<Rank, Slot>;
}
