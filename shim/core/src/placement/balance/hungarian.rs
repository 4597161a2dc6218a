//! The assignment of rows to columns with the least sum (thesis 3.4.1.1).

/// The Hungarian method (Kuhn 1955, Munkres 1957; the thesis cites another
/// matching algorithm under this name): the column of each row, every column
/// once, such that the sum of the chosen entries is least. `cost(row, column)`
/// is asked for rows and columns below `order`; it must be finite. O(order^3).
///
/// Row after row joins by a shortest augmenting path over reduced costs: entry
/// less the prices of its row and column, never negative, zero where assigned.
pub fn cheapest_assignment(order: usize, cost: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    // One column more, with number `order`: there each new row starts.
    let mut row_price = vec![0.0; order];
    let mut column_price = vec![0.0; order + 1];
    let mut row_of = vec![None; order + 1];
    for new in 0..order {
        row_of[order] = Some(new);
        let mut path = Path::new(order);
        let mut column = order;
        while let Some(row) = row_of[column] {
            path.reached[column] = true;
            let reduced = |to: usize| cost(row, to) - row_price[row] - column_price[to];
            let (step, next) = path.extend(column, reduced);
            for at in 0..=order {
                match (path.reached[at], row_of[at]) {
                    (true, Some(row)) => {
                        row_price[row] += step;
                        column_price[at] -= step;
                    }
                    _ => path.slack[at] -= step,
                }
            }
            column = next;
        }
        while column != order {
            let before = path.previous[column];
            row_of[column] = row_of[before];
            column = before;
        }
    }
    let mut column_of = vec![0; order];
    for (column, row) in row_of[..order].iter().enumerate() {
        if let Some(row) = *row {
            column_of[row] = column;
        }
    }
    column_of
}

/// Columns that were reached on the way to a free one.
struct Path {
    reached: Vec<bool>,
    /// The least reduced cost from a reached column's row to each column.
    slack: Vec<f64>,
    /// The reached column from which that is.
    previous: Vec<usize>,
}

impl Path {
    fn new(order: usize) -> Self {
        Path {
            reached: vec![false; order + 1],
            slack: vec![f64::INFINITY; order + 1],
            previous: vec![order; order + 1],
        }
    }

    /// Notes the ways from the row of `column`; the nearest column that was not
    /// reached yet, and how far it is.
    fn extend(&mut self, column: usize, reduced: impl Fn(usize) -> f64) -> (f64, usize) {
        let order = self.reached.len() - 1;
        let mut nearest = (f64::INFINITY, order);
        for to in (0..order).filter(|&to| !self.reached[to]) {
            let way = reduced(to);
            if way < self.slack[to] {
                self.slack[to] = way;
                self.previous[to] = column;
            }
            if self.slack[to] < nearest.0 {
                nearest = (self.slack[to], to);
            }
        }
        nearest
    }
}

/// `costs[group][leaf]`: how many ranks of each group move if the group goes to
/// that leaf, which is those that are not there now (caption of thesis figure
/// 3.6). `groups` has the ranks of each group; leaves count as groups do.
pub fn migration_costs(groups: &[Vec<usize>], current: &[Option<usize>]) -> Vec<Vec<usize>> {
    let costs = groups.iter().map(|members| {
        let mut moved = vec![members.len(); groups.len()];
        for &member in members {
            if let Some(leaf) = current[member] {
                moved[leaf] -= 1;
            }
        }
        moved
    });
    costs.collect()
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

    /// The least sum over all permutations.
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
