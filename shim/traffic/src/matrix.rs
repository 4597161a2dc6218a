//! The sparse square matrix used by all other modules.

use thiserror::Error;

/// Errors in the entries of a matrix.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MatrixError {
    /// An entry names a row or column that the matrix does not have.
    #[error("entry ({row}, {column}) is outside a matrix of order {order}: rows and columns count from 0 to {}", order.saturating_sub(1))]
    OutOfRange {
        /// Sender, counted from 0.
        row: usize,
        /// Receiver, counted from 0.
        column: usize,
        /// Number of ranks.
        order: usize,
    },
    /// An entry is negative, infinite or not a number.
    #[error("entry ({row}, {column}) is {value}: affinities are finite and not negative")]
    BadValue {
        /// Sender, counted from 0.
        row: usize,
        /// Receiver, counted from 0.
        column: usize,
        /// The refused value.
        value: f64,
    },
    /// A count is too large for the matrix to hold it exactly.
    #[error(
        "rank {row} sends {count} to rank {column}, but counts from 2^53 on cannot be exact in a matrix: no job sends that much, take the profile again"
    )]
    Inexact {
        /// Sender, counted from 0.
        row: usize,
        /// Receiver, counted from 0.
        column: usize,
        /// The refused count.
        count: u64,
    },
}

/// Whole numbers below this one, 2^53, are exact in a matrix.
pub(super) const TOO_LARGE: u64 = 1 << 53;

/// A sparse square matrix of affinities: `get(i, j)` is the traffic from rank `i` to rank `j`, in
/// messages or bytes. Rows are sorted by column, zeros are not stored; memory grows with the number
/// of non-zero entries.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Matrix {
    /// Creates a matrix of `order` ranks that do not communicate.
    pub fn zero(order: usize) -> Self {
        Matrix {
            starts: vec![0; order + 1],
            columns: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Builds a matrix from entries `(row, column, value)` in any order; entries at the same
    /// position add up, to at most the largest finite number.
    ///
    /// # Errors
    /// An entry is outside `order`, or a value is negative or not finite.
    pub fn from_entries(
        order: usize,
        entries: impl IntoIterator<Item = (usize, usize, f64)>,
    ) -> Result<Self, MatrixError> {
        let mut sorted: Vec<(u32, u32, f64)> = Vec::new();
        for (row, column, value) in entries {
            if row >= order || column >= order {
                return Err(MatrixError::OutOfRange { row, column, order });
            }
            if !value.is_finite() || value < 0.0 {
                return Err(MatrixError::BadValue { row, column, value });
            }
            if value > 0.0 {
                sorted.push((row as u32, column as u32, value));
            }
        }
        sorted.sort_by_key(|&(row, column, _)| (row, column));
        let mut matrix = Matrix::zero(order);
        let mut previous = None;
        for (row, column, value) in sorted {
            if previous == Some((row, column)) {
                if let Some(last) = matrix.values.last_mut() {
                    *last = (*last + value).min(f64::MAX);
                }
                continue;
            }
            previous = Some((row, column));
            matrix.columns.push(column);
            matrix.values.push(value);
            matrix.starts[row as usize + 1] = matrix.columns.len();
        }
        for row in 0..order {
            matrix.starts[row + 1] = matrix.starts[row + 1].max(matrix.starts[row]);
        }
        Ok(matrix)
    }

    /// Builds a matrix from rows of values.
    ///
    /// # Errors
    /// See [`Matrix::from_entries`]; if the length of a row differs from the number of rows, the
    /// error is [`MatrixError::OutOfRange`].
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Self, MatrixError> {
        let order = rows.len();
        for (row, values) in rows.iter().enumerate() {
            let column = values.as_ref().len();
            if column != order {
                return Err(MatrixError::OutOfRange { row, column, order });
            }
        }
        Matrix::from_entries(
            order,
            rows.iter().enumerate().flat_map(|(row, values)| {
                values
                    .as_ref()
                    .iter()
                    .enumerate()
                    .map(move |(column, &value)| (row, column, value))
            }),
        )
    }

    /// Number of ranks.
    pub fn order(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Number of non-zero entries.
    pub fn non_zeros(&self) -> usize {
        self.values.len()
    }

    /// Affinity from `row` to `column`; zero outside the matrix.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        if row >= self.order() {
            return 0.0;
        }
        let range = self.starts[row]..self.starts[row + 1];
        match self.columns[range.clone()].binary_search(&(column as u32)) {
            Ok(at) => self.values[range.start + at],
            Err(_) => 0.0,
        }
    }

    /// The non-zero entries `(column, value)` of one row, by increasing column.
    ///
    /// # Panics
    /// Panics if `row` is not below [`Matrix::order`].
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[row]..self.starts[row + 1];
        self.columns[range.clone()]
            .iter()
            .zip(&self.values[range])
            .map(|(&column, &value)| (column as usize, value))
    }

    /// All non-zero entries `(row, column, value)`, by row, then by column.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        (0..self.order()).flat_map(move |row| {
            self.row(row)
                .map(move |(column, value)| (row, column, value))
        })
    }

    /// Sum of all entries, including the diagonal.
    pub fn total(&self) -> f64 {
        self.values.iter().sum()
    }

    /// `m + mᵀ` without the diagonal, the input of placement. An entry counts both directions of a
    /// pair, and messages of a rank to itself do not count.
    pub fn symmetrised(&self) -> Matrix {
        let both = self
            .entries()
            .filter(|(row, column, _)| row != column)
            .flat_map(|(row, column, value)| [(row, column, value), (column, row, value)]);
        Matrix::from_entries(self.order(), both)
            .expect("entries of a matrix are in range, finite and not negative")
    }

    /// Renumbers the ranks: rank `i` of this matrix is rank `new_rank[i]` of the result. `new_rank`
    /// must be a permutation of the ranks.
    ///
    /// # Errors
    /// [`MatrixError::OutOfRange`] if `new_rank` leaves the matrix.
    pub fn renumbered(&self, new_rank: &[usize]) -> Result<Matrix, MatrixError> {
        let order = self.order();
        let name = |rank: usize| new_rank.get(rank).copied().unwrap_or(order);
        Matrix::from_entries(
            order,
            self.entries()
                .map(|(row, column, value)| (name(row), name(column), value)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::{entries, matrices, permutations, whole_matrices};
    use proptest::prelude::*;

    #[test]
    fn entries_at_the_same_place_add_up() {
        let matrix =
            Matrix::from_entries(3, [(2, 0, 1.0), (0, 1, 5.0), (2, 0, 2.5), (2, 0, 0.0)]).unwrap();
        assert_eq!(matrix.get(2, 0), 3.5);
        assert_eq!(matrix.non_zeros(), 2);
    }

    #[test]
    fn a_sum_stops_at_the_largest_finite_number() {
        let huge = [(0, 1, f64::MAX), (0, 1, f64::MAX), (1, 0, f64::MAX)];
        let matrix = Matrix::from_entries(2, huge).unwrap();
        assert_eq!(matrix.get(0, 1), f64::MAX);
        assert_eq!(matrix.symmetrised().get(1, 0), f64::MAX);
    }

    #[test]
    fn an_entry_outside_the_matrix_is_refused_and_named() {
        for (row, column) in [(2, 0), (0, 2), (usize::MAX, usize::MAX)] {
            let error = Matrix::from_entries(2, [(row, column, 1.0)]).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "entry ({row}, {column}) is outside a matrix of order 2: \
                     rows and columns count from 0 to 1"
                )
            );
        }
    }

    #[test]
    fn negative_infinite_and_undefined_values_are_refused() {
        for value in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = Matrix::from_entries(2, [(0, 1, value)]).unwrap_err();
            assert!(matches!(
                error,
                MatrixError::BadValue {
                    row: 0,
                    column: 1,
                    ..
                }
            ));
        }
    }

    #[test]
    fn rows_that_make_no_square_are_refused() {
        assert!(Matrix::from_rows(&[vec![0.0, 1.0], vec![2.0]]).is_err());
        assert!(Matrix::from_rows(&[vec![0.0, 1.0]]).is_err());
        let empty: [Vec<f64>; 0] = [];
        assert_eq!(Matrix::from_rows(&empty), Ok(Matrix::zero(0)));
    }

    #[test]
    fn what_is_outside_the_matrix_reads_as_zero() {
        let matrix = Matrix::from_entries(2, [(0, 1, 3.0)]).unwrap();
        assert_eq!(matrix.get(0, 2), 0.0);
        assert_eq!(matrix.get(2, 1), 0.0);
    }

    #[test]
    fn renumbering_by_something_that_is_no_list_of_ranks_is_refused() {
        let matrix = Matrix::from_entries(2, [(0, 1, 3.0)]).unwrap();
        assert!(matrix.renumbered(&[0]).is_err());
        assert!(matrix.renumbered(&[0, 7]).is_err());
    }

    proptest! {
        #[test]
        fn a_matrix_holds_the_sum_of_what_was_entered_at_each_place(
            (order, entries) in entries(12, (0u64..1000).prop_map(|value| value as f64))
        ) {
            let matrix = Matrix::from_entries(order, entries.clone()).unwrap();
            prop_assert_eq!(matrix.order(), order);
            for row in 0..order {
                for column in 0..order {
                    let expected: f64 = entries.iter()
                        .filter(|entry| (entry.0, entry.1) == (row, column))
                        .map(|entry| entry.2)
                        .sum();
                    prop_assert_eq!(matrix.get(row, column), expected);
                }
            }
        }

        #[test]
        fn entries_come_by_row_and_column_without_zeros_and_rebuild_the_matrix(matrix in matrices(12)) {
            let entries: Vec<_> = matrix.entries().collect();
            prop_assert!(entries.is_sorted_by_key(|entry| (entry.0, entry.1)));
            prop_assert!(entries.iter().all(|entry| entry.2 > 0.0));
            prop_assert_eq!(entries.len(), matrix.non_zeros());
            prop_assert_eq!(Matrix::from_entries(matrix.order(), entries), Ok(matrix));
        }

        #[test]
        fn a_symmetrised_matrix_holds_both_directions_of_each_pair(matrix in whole_matrices(12)) {
            let both = matrix.symmetrised();
            prop_assert_eq!(both.order(), matrix.order());
            for row in 0..matrix.order() {
                prop_assert_eq!(both.get(row, row), 0.0);
                for column in (0..matrix.order()).filter(|&column| column != row) {
                    let expected = matrix.get(row, column) + matrix.get(column, row);
                    prop_assert_eq!(both.get(row, column), expected);
                }
            }
        }

        #[test]
        fn renumbering_moves_each_entry_to_the_new_names_of_its_ranks(
            (matrix, new_rank) in whole_matrices(12)
                .prop_flat_map(|matrix| (Just(matrix.clone()), permutations(matrix.order())))
        ) {
            let renumbered = matrix.renumbered(&new_rank).unwrap();
            prop_assert_eq!(renumbered.non_zeros(), matrix.non_zeros());
            for (row, column, value) in matrix.entries() {
                prop_assert_eq!(renumbered.get(new_rank[row], new_rank[column]), value);
            }
        }
    }
}
