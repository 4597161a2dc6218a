//! FastGroupProcesses (thesis 2.4.2.2): groups grow along the heaviest edges.
//!
//! For groups of more than two the thesis does not specify how edges become groups. Here an edge
//! joins the partial groups of its two ends, if the result is not too large and all partial groups
//! can still be completed. Partial groups that no edge joins are packed at the end; for pairs this
//! is equivalent to edges of value zero, in the order of their entities.

use crate::treematch::buckets::{Buckets, Edge};
use crate::treematch::partial_groups::PartialGroups;
use treepie_traffic::Matrix;

/// Groups, and the amount of sorting needed to find them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FastGrouping {
    /// Members of each group.
    pub groups: Vec<Vec<usize>>,
    /// Number of buckets of edges sorted before all groups were complete.
    pub buckets_sorted: usize,
}

/// Groups of `size` entities of a symmetric matrix, with each entity in one; `size` must divide the
/// matrix's order. The sample that gives `buckets` buckets their limits depends on `seed`; only the
/// time depends on it, the groups do not.
pub fn group(matrix: &Matrix, size: usize, buckets: usize, seed: u64) -> FastGrouping {
    let order = matrix.order();
    let mut partial = PartialGroups::new(order, size);
    let mut buckets = Buckets::new(edges(matrix), buckets, order, seed);
    while !partial.complete() {
        let Some(sorted) = buckets.next_sorted() else {
            break;
        };
        for edge in sorted {
            partial.join(edge.low, edge.high);
            if partial.complete() {
                break;
            }
        }
    }
    FastGrouping {
        buckets_sorted: buckets.sorted(),
        groups: partial.into_groups(matrix),
    }
}

/// The upper triangle; the matrix is symmetric.
fn edges(matrix: &Matrix) -> Vec<Edge> {
    matrix
        .entries()
        .filter(|(row, column, _)| row < column)
        .map(|(low, high, value)| Edge { low, high, value })
        .collect()
}
