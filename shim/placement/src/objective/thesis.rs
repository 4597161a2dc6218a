//! The objectives of the thesis other than DistComm (thesis 1.4.1).

use crate::objective::hop_bytes::traffic_by_level;
use treepie_base::{Leaf, Rank, Slice};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// TempsComm (thesis 1.4.1): the time of all communication, one message after the other: the sum
/// over unordered pairs of volume divided by throughput. `throughputs[d]` is that between leaves
/// whose lowest common ancestor is at depth `d`, in units of the matrix per unit of time; ranks on
/// one leaf take no time. As in [`super::dist_comm`], the volume of a pair is the mean of its two
/// directions.
///
/// # Panics
/// Panics if `throughputs` has fewer numbers than the tree has levels, or `leaf_of_rank` is not a
/// list of leaves of the ranks.
pub(crate) fn temps_comm(
    matrix: &Matrix,
    topology: &Topology,
    leaf_of_rank: &Slice<Rank, Leaf>,
    throughputs: &[f64],
) -> f64 {
    let traffic = traffic_by_level(matrix, topology, leaf_of_rank);
    let times = traffic.iter().enumerate();
    times
        .map(|(depth, sum)| time(sum / 2.0, throughputs[depth]))
        .sum()
}

/// MakespanComm (thesis 1.4.1): the time of the pair of ranks that takes
/// longest, in the terms of [`temps_comm`].
///
/// # Panics
/// See [`temps_comm`].
pub(crate) fn makespan_comm(
    matrix: &Matrix,
    topology: &Topology,
    leaf_of_rank: &Slice<Rank, Leaf>,
    throughputs: &[f64],
) -> f64 {
    let depth = topology.depth();
    let mut longest = 0.0_f64;
    for (from, to, value) in matrix.entries() {
        let common = topology.common_level(leaf_of_rank[Rank(from)], leaf_of_rank[Rank(to)]);
        if common < depth {
            let both = (value + matrix.get(to, from)) / 2.0;
            longest = longest.max(time(both, throughputs[common]));
        }
    }
    longest
}

/// CoupeMin (thesis 1.4.1): the cut at every level from the root, where the ranks of each node are
/// divided among its children; unordered pairs, each with the mean of its directions. The thesis
/// cuts the upper levels first, so that of two placements the better one has the lexicographically
/// smaller list. The thesis counts edges; here their affinities are added.
///
/// # Panics
/// See [`super::dist_comm`].
pub fn coupe_min(
    matrix: &Matrix,
    topology: &Topology,
    leaf_of_rank: &Slice<Rank, Leaf>,
) -> Vec<f64> {
    let traffic = traffic_by_level(matrix, topology, leaf_of_rank);
    traffic.into_iter().map(|sum| sum / 2.0).collect()
}

/// No volume takes no time, even if the throughput is 0.
fn time(volume: f64, throughput: f64) -> f64 {
    if volume == 0.0 {
        0.0
    } else {
        volume / throughput
    }
}
