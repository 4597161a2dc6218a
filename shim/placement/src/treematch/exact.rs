//! GroupProcesses (thesis 2.4.1): lists all possible groups, weighs them, and chooses disjoint ones
//! with three heuristics.

use crate::treematch::independent_set;
use crate::treematch::possible_groups::PossibleGroups;
use treepie_traffic::Matrix;

/// Groups of `size` entities, with each entity in one; `size` must divide the matrix's order. The
/// number of possible groups should be small.
pub fn group(matrix: &Matrix, size: usize) -> Vec<Vec<usize>> {
    let order = matrix.order();
    if size == order {
        return vec![(0..order).collect()];
    }
    if size == 1 {
        return (0..order).map(|entity| vec![entity]).collect();
    }
    let possible = PossibleGroups::new(matrix, size);
    let chosen = independent_set::lightest_found(&possible);
    let members = chosen.into_iter().map(|group| possible.members(group));
    members.map(<[usize]>::to_vec).collect()
}
