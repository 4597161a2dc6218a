//! The interface of refinement.

/// Refinement of a placement: moves that lower its cost and keep its rules.
pub(crate) trait Refiner {
    /// The placement after refinement, one slot for each rank.
    fn refine(&mut self, slot_of_rank: Vec<usize>) -> Vec<usize>;
}
