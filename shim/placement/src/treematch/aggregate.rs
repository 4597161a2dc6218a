//! The two steps between levels: padding, and aggregation of groups to entities.

use treepie_traffic::{Matrix, MatrixError};

/// Pads the matrix to `order` with entities that communicate with no other (ExtendComMatrix of
/// thesis 2.4.1). A larger matrix does not change.
///
/// # Errors
/// None for a valid matrix.
pub fn extended(matrix: &Matrix, order: usize) -> Result<Matrix, MatrixError> {
    Matrix::from_entries(order.max(matrix.order()), matrix.entries())
}

/// Computes the affinities between groups: entry `(i, j)` is the sum from members of group `i` to
/// members of group `j`, zero on the diagonal (AggregateComMatrix of thesis 2.4.1). The groups must
/// hold every entity exactly once.
///
/// # Errors
/// An entity with affinities is in no group, or a sum is not finite.
pub fn aggregated(matrix: &Matrix, groups: &[Vec<usize>]) -> Result<Matrix, MatrixError> {
    let mut group_of = vec![groups.len(); matrix.order()];
    for (group, members) in groups.iter().enumerate() {
        for &member in members.iter().filter(|&&member| member < matrix.order()) {
            group_of[member] = group;
        }
    }
    // Group by group, so that the entries are sorted and few.
    let mut sums = vec![0.0; groups.len() + 1];
    let between = groups.iter().enumerate().flat_map(|(group, members)| {
        let mut met = Vec::new();
        for &member in members.iter().filter(|&&member| member < matrix.order()) {
            for (partner, value) in matrix.row(member) {
                let other = group_of[partner];
                if sums[other] == 0.0 {
                    met.push(other);
                }
                sums[other] += value;
            }
        }
        met.sort_unstable();
        met.into_iter()
            .map(|other| (group, other, std::mem::take(&mut sums[other])))
            .filter(|(group, other, _)| group != other)
            .collect::<Vec<_>>()
    });
    Matrix::from_entries(groups.len(), between)
}
