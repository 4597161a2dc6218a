//! Lower bound of the cost of any placement.

use super::mean_of_directions;
use crate::affinity::Matrix;
use crate::topology::Topology;

/// A number that no placement's [`super::dist_comm`] is below, one rank on each
/// leaf. Cheap, and rarely reached: every rank is given the best surroundings
/// that any leaf has, its heaviest partners nearest to it, as if it were alone.
///
/// A leaf has at most as many others within a node of some depth as the largest
/// such node has leaves, less itself. Sum the affinities of a rank in falling
/// order times the distances of the places in rising order, and halve the sum
/// over all ranks: every pair was counted from both ends.
pub fn lower_bound(matrix: &Matrix, topology: &Topology) -> f64 {
    let Ok(affinity) = mean_of_directions(matrix) else {
        return 0.0;
    };
    let places = places_by_distance(topology);
    let mut doubled = 0.0;
    for rank in 0..affinity.order() {
        let mut partners: Vec<f64> = affinity.row(rank).map(|(_, value)| value).collect();
        partners.sort_unstable_by(|a, b| b.total_cmp(a));
        let mut partners = partners.into_iter();
        for &(count, distance) in &places {
            let near: f64 = partners.by_ref().take(count).sum();
            doubled += near * distance;
        }
    }
    doubled / 2.0
}

/// Most places of a leaf at each distance, the nearest first.
fn places_by_distance(topology: &Topology) -> Vec<(usize, f64)> {
    let usable = |depth: usize, node: usize| {
        let leaves = topology.leaves_below(depth, node);
        leaves
            .filter(|&leaf| !topology.leaf(leaf).forbidden)
            .count()
    };
    let mut nearer = 1;
    let mut places = Vec::new();
    for depth in (0..topology.depth()).rev() {
        let nodes = 0..topology.node_count(depth);
        let within = nodes.map(|node| usable(depth, node)).max().unwrap_or(0);
        let within = within.max(nearer);
        places.push((within - nearer, topology.level_distances()[depth]));
        nearer = within;
    }
    places
}
