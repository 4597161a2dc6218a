//! Matrices and trees printed in the thesis on TreeMatch.
#![allow(dead_code)] // each test file uses some of them

use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// Figure 2.6: the matrix of the worked example.
pub fn worked_example() -> Matrix {
    Matrix::from_rows(&[
        [0., 1000., 10., 1., 100., 1., 1., 1.],
        [1000., 0., 1000., 1., 1., 100., 1., 1.],
        [10., 1000., 0., 1000., 1., 1., 100., 1.],
        [1., 1., 1000., 0., 1., 1., 1., 100.],
        [100., 1., 1., 1., 0., 1000., 10., 1.],
        [1., 100., 1., 1., 1000., 0., 1000., 1.],
        [1., 1., 100., 1., 10., 1000., 0., 1000.],
        [1., 1., 1., 100., 1., 1., 1000., 0.],
    ])
    .unwrap()
}

/// Figure 2.6: the tree of the worked example, with its physical numbers.
pub fn worked_tree() -> Topology {
    let tree = Topology::from_arities("2:3:2").unwrap();
    tree.with_os_indices(&[0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11])
        .unwrap()
}

/// Figure 2.7: the first groups of the worked example.
pub fn first_groups() -> Vec<Vec<usize>> {
    vec![vec![0, 1], vec![2, 3], vec![4, 5], vec![6, 7]]
}

/// Figure 1.5 (b): LU, eight processes.
pub fn figure_1_5b() -> Matrix {
    Matrix::from_rows(&[
        [0., 80863., 33., 0., 80863., 0., 0., 0.],
        [80863., 0., 80830., 33., 0., 80862., 0., 0.],
        [33., 80830., 0., 80854., 0., 0., 80862., 0.],
        [0., 33., 80854., 0., 0., 0., 0., 80863.],
        [80863., 0., 0., 0., 0., 80854., 24., 0.],
        [0., 80862., 0., 0., 80854., 0., 80830., 24.],
        [0., 0., 80862., 0., 24., 80830., 0., 80854.],
        [0., 0., 0., 80863., 0., 24., 80854., 0.],
    ])
    .unwrap()
}

/// Figure 2.4 (a): CG, messages as seen by a tracer of point-to-point calls.
pub fn figure_2_4a() -> Matrix {
    Matrix::from_rows(&[
        [1976., 6004., 6004., 0., 0., 0., 0., 0.],
        [6004., 1976., 0., 6004., 0., 0., 0., 0.],
        [6004., 0., 0., 6004., 1976., 0., 0., 0.],
        [0., 6004., 6004., 0., 0., 1976., 0., 0.],
        [0., 0., 1976., 0., 0., 6004., 6004., 0.],
        [0., 0., 0., 1976., 6004., 0., 0., 6004.],
        [0., 0., 0., 0., 6004., 0., 1976., 6004.],
        [0., 0., 0., 0., 0., 6004., 6004., 1976.],
    ])
    .unwrap()
}

/// Figure 2.4 (b): the same run as seen by an instrumented MPI.
pub fn figure_2_4b() -> Matrix {
    Matrix::from_rows(&[
        [1976., 6033., 6033., 0., 23., 0., 0., 0.],
        [6072., 1976., 0., 6033., 6., 23., 0., 0.],
        [6072., 0., 0., 6023., 1976., 6., 29., 0.],
        [0., 6026., 6072., 0., 0., 1976., 0., 29.],
        [68., 0., 1976., 0., 0., 6026., 6026., 0.],
        [0., 22., 0., 1976., 6072., 0., 0., 6026.],
        [0., 0., 22., 0., 6072., 0., 1976., 6026.],
        [0., 0., 0., 22., 0., 6026., 6072., 1976.],
    ])
    .unwrap()
}

/// Messages of NAS CG class C on a power of two of ranks: reductions along the
/// rows of the process grid, and the exchange of the transpose.
pub fn cg_messages(ranks: usize) -> Matrix {
    let iterations = 75;
    let rows = 1 << (ranks.ilog2() / 2);
    let columns = ranks / rows;
    let (reduction, transpose) = (79. * (iterations + 1) as f64, 26. * (iterations + 1) as f64);
    let mut entries = Vec::new();
    for me in 0..ranks {
        let (row, column) = (me / columns, me % columns);
        let mut width = columns;
        while width > 1 {
            let partner = (column + width / 2) % width + column / width * width;
            entries.push((me, row * columns + partner, reduction));
            width /= 2;
        }
        let exchange = if columns == rows {
            (me % rows) * rows + me / rows
        } else {
            2 * (((me / 2) % rows) * rows + me / 2 / rows) + me % 2
        };
        entries.push((me, exchange, transpose));
    }
    Matrix::from_entries(ranks, entries).unwrap()
}

/// Messages like those of NAS LU: a grid with sides that are powers of two,
/// where neighbours exchange 80830 messages in each direction.
pub fn lu_messages(ranks: usize) -> Matrix {
    let rows = 1 << (ranks.ilog2() / 2);
    let columns = ranks / rows;
    let mut entries = Vec::new();
    for me in 0..ranks {
        let right = (me % columns + 1 < columns).then_some(me + 1);
        let below = (me + columns < ranks).then_some(me + columns);
        for partner in right.into_iter().chain(below) {
            entries.push((me, partner, 80830.));
            entries.push((partner, me, 80830.));
        }
    }
    Matrix::from_entries(ranks, entries).unwrap()
}
