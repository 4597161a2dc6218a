//! Input of a balancer.

use treepie_base::{Leaf, Rank, Slice};
use treepie_traffic::Matrix;

/// Input of a balancer: ranks, loads and the current placement.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// Affinities of the ranks.
    pub matrix: &'a Matrix,
    /// Load of each rank, in any unit.
    pub loads: &'a Slice<Rank, f64>,
    /// Present leaf of each rank; ranks leave a leaf that the topology forbids or does not have in
    /// any case.
    pub current: &'a Slice<Rank, Leaf>,
}
