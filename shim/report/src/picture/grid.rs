//! A matrix as cells that are large enough to be visible.

use treepie_traffic::Matrix;

/// The sums of square blocks of a matrix. If a matrix has few rows, each block is one entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Number of cells in a row, and of rows.
    pub side: usize,
    /// Number of rows and columns of the matrix in a cell.
    pub per_cell: usize,
    /// Values row by row; zero if nothing was sent.
    pub values: Vec<f64>,
}

impl Grid {
    /// Divides the matrix into at most `most_cells` rows of cells.
    pub fn new(matrix: &Matrix, most_cells: usize) -> Self {
        // A power of two, like the marks along the edges and the grids of most jobs.
        let least = matrix.order().div_ceil(most_cells.max(1)).max(1);
        let per_cell = least.next_power_of_two();
        let side = matrix.order().div_ceil(per_cell);
        let mut values = vec![0.0; side * side];
        for (row, column, value) in matrix.entries() {
            values[row / per_cell * side + column / per_cell] += value;
        }
        Grid {
            side,
            per_cell,
            values,
        }
    }

    /// The smallest and the largest of the values that are not zero.
    pub fn range(&self) -> Option<(f64, f64)> {
        let filled = self.values.iter().copied().filter(|&value| value > 0.0);
        filled.fold(None, |range, value| match range {
            None => Some((value, value)),
            Some((low, high)) => Some((value.min(low), value.max(high))),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_small_matrix_is_shown_entry_by_entry() {
        let matrix = Matrix::from_rows(&[[0.0, 3.0], [5.0, 0.0]]).unwrap();
        let grid = Grid::new(&matrix, 512);
        assert_eq!((grid.side, grid.per_cell), (2, 1));
        assert_eq!(grid.values, [0.0, 3.0, 5.0, 0.0]);
        assert_eq!(grid.range(), Some((3.0, 5.0)));
    }

    #[test]
    fn a_large_matrix_is_summed_in_blocks_and_nothing_is_lost() {
        let ring = (0..10).map(|rank| (rank, (rank + 1) % 10, 1.0));
        let matrix = Matrix::from_entries(10, ring).unwrap();
        let grid = Grid::new(&matrix, 4);
        assert_eq!((grid.side, grid.per_cell), (3, 4));
        assert_eq!(grid.values.iter().sum::<f64>(), matrix.total());
        assert_eq!(grid.values[0], 3.0);
    }

    #[test]
    fn a_matrix_without_traffic_has_no_range() {
        assert_eq!(Grid::new(&Matrix::zero(3), 512).range(), None);
    }
}
