//! Lower bound of hop-bytes on any hardware.

use crate::bound::network::lower_bound_on_network;
use crate::bound::tree::lower_bound_on_tree;
use crate::hardware::Hardware;
use treepie_base::{Leaf, Rank, Slice};
use treepie_traffic::Matrix;

/// A lower bound of the hop-bytes of all placements with one rank on each usable leaf; 0 if none is
/// known. `placed` is a placement: if it is proven to be the cheapest, the search for a better
/// bound ends.
///
/// The time grows with the cube of the number of ranks, up to a second for several hundred; above
/// that, only fast bounds are computed.
///
/// # Panics
/// Panics if `placed` lacks a rank of the matrix or names a leaf that the topology does not have.
pub fn lower_bound<'a>(
    matrix: &Matrix,
    hardware: impl Into<Hardware<'a>>,
    placed: &Slice<Rank, Leaf>,
) -> f64 {
    let Hardware { topology, network } = hardware.into();
    match network {
        None => lower_bound_on_tree(matrix, topology, placed),
        Some(nodes) => lower_bound_on_network(matrix, topology, nodes, placed).unwrap_or_default(),
    }
}
