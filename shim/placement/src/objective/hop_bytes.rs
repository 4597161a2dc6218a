//! Hop-bytes on trees, and the traffic of each level.

use treepie_base::{Leaf, Rank, Slice};
use treepie_topology::Topology;
use treepie_traffic::{Matrix, MatrixError};

/// DistComm (thesis 1.4.1): the sum over unordered pairs of ranks of affinity times distance. The
/// affinity of a pair is the mean of its two directions, `(m[u][v] + m[v][u]) / 2`, so that a
/// symmetric matrix counts each pair once and the result is half the sum over ordered pairs.
/// Distances are those of [`Topology::level_distances`]: hops by default. The diagonal and ranks on
/// the same leaf cost nothing.
///
/// # Panics
/// Panics if `leaf_of_rank` lacks a rank of the matrix or names a leaf that the topology does not
/// have; [`crate::check()`] finds both.
pub fn dist_comm(matrix: &Matrix, topology: &Topology, leaf_of_rank: &Slice<Rank, Leaf>) -> f64 {
    let by_level = traffic_by_level(matrix, topology, leaf_of_rank);
    let distances = topology.level_distances();
    let ordered: f64 = by_level.iter().zip(distances).map(|(t, d)| t * d).sum();
    ordered / 2.0
}

/// Traffic by the depth of the lowest common ancestor of sender and receiver: element 0 crosses the
/// root, the last one stays below the lowest nodes above the leaves; there are [`Topology::depth`]
/// elements. Entries are summed without change over ordered pairs, without the diagonal and without
/// ranks on the same leaf.
///
/// # Panics
/// See [`dist_comm`].
pub fn traffic_by_level(
    matrix: &Matrix,
    topology: &Topology,
    leaf_of_rank: &Slice<Rank, Leaf>,
) -> Vec<f64> {
    let mut traffic = vec![0.0; topology.depth()];
    for (from, to, value) in matrix.entries() {
        let depth = topology.common_level(leaf_of_rank[Rank(from)], leaf_of_rank[Rank(to)]);
        if let Some(sum) = traffic.get_mut(depth) {
            *sum += value;
        }
    }
    traffic
}

/// The symmetric matrix used by placement: `(m + mᵀ) / 2` without the diagonal. (The thesis does
/// not specify the treatment of asymmetric matrices; a symmetric one does not change.)
///
/// # Errors
/// None for a matrix whose [`Matrix::total`] is finite.
pub fn mean_of_directions(matrix: &Matrix) -> Result<Matrix, MatrixError> {
    let mut received = vec![Vec::new(); matrix.order()];
    for (from, to, value) in matrix.entries() {
        received[to].push((from, value));
    }
    // Row by row, so that the entries are nearly sorted.
    let rows = received.into_iter().enumerate().flat_map(|(rank, column)| {
        let mut both: Vec<(usize, f64)> = matrix.row(rank).chain(column).collect();
        both.sort_by_key(|&(partner, _)| partner);
        both.into_iter()
            .filter(move |&(partner, _)| partner != rank)
            .map(move |(partner, value)| (rank, partner, value / 2.0))
    });
    Matrix::from_entries(matrix.order(), rows)
}
