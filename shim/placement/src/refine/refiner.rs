//! The interface of refinement.

use treepie_base::{List, Rank, Slot};

/// Refinement of a placement: moves that lower its cost and satisfy its constraints.
pub(crate) trait Refiner {
    /// Returns the refined placement, one slot for each rank.
    fn refine(&mut self, slot_of_rank: List<Rank, Slot>) -> List<Rank, Slot>;
}
