//! Assignment of rows to columns with the minimum sum (thesis 3.4.1.1).

use ordered_float::OrderedFloat;
use pathfinding::prelude::{Matrix, kuhn_munkres_min};

/// Returns the column of each row, every column once, such that the sum of the chosen entries is
/// minimal, by the Hungarian method (Kuhn 1955, Munkres 1957; the thesis cites another matching
/// algorithm under this name). `cost(row, column)` must be a number for rows and columns below
/// `order`. O(order^3).
pub fn cheapest_assignment(order: usize, cost: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    if order == 0 {
        return Vec::new();
    }
    let costs = Matrix::from_fn(order, order, |(row, column)| {
        OrderedFloat(cost(row, column))
    });
    kuhn_munkres_min(&costs).1
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::cheapest_assignment;
    use proptest::prelude::*;

    fn sum(costs: &[Vec<f64>], columns: &[usize]) -> f64 {
        costs
            .iter()
            .zip(columns)
            .map(|(row, &column)| row[column])
            .sum()
    }

    /// Returns the minimum sum over all permutations.
    fn exhaustive(costs: &[Vec<f64>], row: usize, used: &mut Vec<bool>) -> f64 {
        if row == costs.len() {
            return 0.0;
        }
        let mut least = f64::INFINITY;
        for column in 0..costs.len() {
            if !used[column] {
                used[column] = true;
                least = least.min(costs[row][column] + exhaustive(costs, row + 1, used));
                used[column] = false;
            }
        }
        least
    }

    #[test]
    fn nothing_is_assigned_to_nothing_and_one_to_one() {
        assert!(cheapest_assignment(0, |_, _| 0.0).is_empty());
        assert_eq!(cheapest_assignment(1, |_, _| 7.0), [0]);
    }

    proptest! {
        #[test]
        fn no_assignment_is_cheaper_and_each_column_is_used_once(
            entries in prop::collection::vec(-20i32..60, 36), order in 1usize..=6,
        ) {
            let costs: Vec<Vec<f64>> = (0..order)
                .map(|row| (0..order).map(|c| f64::from(entries[row * 6 + c])).collect())
                .collect();
            let columns = cheapest_assignment(order, |row, column| costs[row][column]);
            let mut sorted = columns.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..order).collect::<Vec<_>>());
            let least = exhaustive(&costs, 0, &mut vec![false; order]);
            prop_assert_eq!(sum(&costs, &columns), least);
        }
    }
}
