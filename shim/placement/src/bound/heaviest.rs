//! Least cut of a level that follows from the limited size of its groups.

use crate::bound::groups::Groups;
use crate::coarsen::graph::Graph;

/// A rank keeps at most its heaviest partners in its group, as many as fit beside it; every pair is
/// counted at both ends. The bound is tight if all partners weigh the same: an all-to-all, or
/// groups that a pattern consists of.
pub(super) fn cut(graph: &Graph, groups: &Groups) -> f64 {
    let beside = groups.largest().saturating_sub(1);
    let mut doubled = 0.0;
    let mut weights: Vec<f64> = Vec::new();
    for rank in 0..graph.order() {
        if graph.degree(rank) > beside {
            weights.clear();
            weights.extend_from_slice(graph.weights(rank));
            weights.sort_unstable_by(|a, b| b.total_cmp(a));
            doubled += weights[beside..].iter().sum::<f64>();
        }
    }
    doubled / 2.0
}
