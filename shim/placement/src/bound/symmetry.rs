//! Reflections of a mesh or torus that leave its pattern unchanged.
//!
//! A matrix that they leave unchanged falls into blocks, one for each combination of signs that a
//! vector can have under them. Three reflections of 512 ranks make eight blocks of 64, whose
//! eigenvalues take a sixty-fourth of the time.
//!
//! ```text
//!   1 2 2 1      3  .  1  .      sums of the two ends of an axis, and differences:
//!   2 5 5 2 -->  .  1  .  .      a matrix that a reflection of rows and columns leaves unchanged
//!   2 5 5 2      1  .  9  .      mixes neither with the other
//!   1 2 2 1      .  .  .  1
//! ```

use nalgebra::DMatrix;

use crate::coarsen::graph::Graph;
use crate::initial::grid::Grid;

/// Commuting reflections and the blocks that they make.
#[derive(Debug)]
pub(super) struct Symmetry {
    /// Ranks that each reflection exchanges, in the same order for all.
    reflections: Vec<Vec<(usize, usize)>>,
    /// Indices of sums and differences of the same signs.
    blocks: Vec<Vec<usize>>,
}

impl Symmetry {
    /// No symmetry of `ranks` ranks: one block.
    pub(super) fn none(ranks: usize) -> Self {
        Symmetry {
            reflections: Vec::new(),
            blocks: vec![(0..ranks).collect()],
        }
    }

    /// Axes of a grid along which a graph that contains it can be reflected.
    pub(super) fn of_grid(graph: &Graph, grid: &Grid) -> Self {
        let mirrored = |axis: usize| {
            let pairs = reflection(graph.order(), grid, axis);
            is_automorphism(graph, &pairs).then_some(pairs)
        };
        let reflections: Vec<_> = (0..grid.extents.len()).filter_map(mirrored).collect();
        let mut signs = vec![0_usize; graph.order()];
        for (bit, pairs) in reflections.iter().enumerate() {
            pairs
                .iter()
                .for_each(|&(_, other)| signs[other] |= 1 << bit);
        }
        let block = |sign: usize| -> Vec<usize> {
            let ranks = 0..graph.order();
            ranks.filter(|&rank| signs[rank] == sign).collect()
        };
        let blocks = (0..1 << reflections.len()).map(block);
        Symmetry {
            blocks: blocks.filter(|block| !block.is_empty()).collect(),
            reflections,
        }
    }

    /// Sizes of the blocks.
    pub(super) fn sizes(&self) -> impl Iterator<Item = usize> + '_ {
        self.blocks.iter().map(Vec::len)
    }

    /// The blocks of a matrix, and the norm of the entries outside, which are rounding errors if
    /// the matrix has the symmetry.
    pub(super) fn split(&self, mut matrix: DMatrix<f64>) -> (Vec<DMatrix<f64>>, f64) {
        self.transform(&mut matrix);
        let block = |places: &Vec<usize>| {
            DMatrix::from_fn(places.len(), places.len(), |row, column| {
                matrix[(places[row], places[column])]
            })
        };
        let blocks: Vec<DMatrix<f64>> = self.blocks.iter().map(block).collect();
        for places in &self.blocks {
            for &column in places {
                places.iter().for_each(|&row| matrix[(row, column)] = 0.0);
            }
        }
        (blocks, matrix.norm())
    }

    /// The matrix of these blocks.
    pub(super) fn join(&self, blocks: &[DMatrix<f64>]) -> DMatrix<f64> {
        let order = self.blocks.iter().map(Vec::len).sum();
        let mut matrix = DMatrix::zeros(order, order);
        for (places, block) in self.blocks.iter().zip(blocks) {
            for (column, &to) in places.iter().enumerate() {
                for (row, &from) in places.iter().enumerate() {
                    matrix[(from, to)] = block[(row, column)];
                }
            }
        }
        self.transform(&mut matrix);
        matrix
    }

    /// Replaces pairs of rows and of columns by sums and differences; an involution.
    fn transform(&self, matrix: &mut DMatrix<f64>) {
        let root = std::f64::consts::FRAC_1_SQRT_2;
        for pairs in &self.reflections {
            for mut column in matrix.column_iter_mut() {
                for &(one, other) in pairs {
                    let (a, b) = (column[one], column[other]);
                    (column[one], column[other]) = (root * (a + b), root * (a - b));
                }
            }
            for &(one, other) in pairs {
                let (mut one, mut other) = matrix.columns_range_pair_mut(one, other);
                for (a, b) in one.iter_mut().zip(other.iter_mut()) {
                    (*a, *b) = (root * (*a + *b), root * (*a - *b));
                }
            }
        }
    }
}

/// The ranks that a reflection of an axis exchanges, in pairs that begin with the lower cell.
fn reflection(ranks: usize, grid: &Grid, axis: usize) -> Vec<(usize, usize)> {
    let number = |cell: &[u32]| {
        let axes = cell.iter().zip(&grid.extents);
        axes.fold(0, |number, (&at, &extent)| {
            number * extent as usize + at as usize
        })
    };
    let cells = grid.extents.iter().map(|&extent| extent as usize).product();
    let mut rank_of = vec![ranks; cells];
    for &member in &grid.members {
        rank_of[number(grid.at(member as usize))] = member as usize;
    }
    let pairs = grid.members.iter().filter_map(|&member| {
        let mut cell = grid.at(member as usize).to_vec();
        let there = grid.extents[axis] - 1 - cell[axis];
        let is_lower = cell[axis] < there;
        cell[axis] = there;
        is_lower.then(|| (member as usize, rank_of[number(&cell)]))
    });
    pairs.collect()
}

/// True if exchanging these ranks leaves all affinities unchanged.
fn is_automorphism(graph: &Graph, pairs: &[(usize, usize)]) -> bool {
    let mut image: Vec<usize> = (0..graph.order()).collect();
    for &(one, other) in pairs {
        (image[one], image[other]) = (other, one);
    }
    (0..graph.order()).all(|rank| {
        let mut row = graph.row(rank);
        graph.degree(rank) == graph.degree(image[rank])
            && row.all(|(other, weight)| graph.weight(image[rank], image[other]) == weight)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A mesh of these extents with all diagonals, its ranks numbered backwards.
    fn stencil(extents: [u32; 2]) -> Graph {
        let cells = extents[0] * extents[1];
        let at = |rank: u32| {
            (
                (cells - 1 - rank) / extents[1],
                (cells - 1 - rank) % extents[1],
            )
        };
        let rows = (0..cells).map(|rank| {
            let near = (0..cells).filter(|&other| {
                let (one, two) = (at(rank), at(other));
                other != rank && one.0.abs_diff(two.0) < 2 && one.1.abs_diff(two.1) < 2
            });
            let weighted = near.map(|other| {
                let (one, two) = (at(rank), at(other));
                let straight = one.0 == two.0 || one.1 == two.1;
                (other, if straight { 100.0 } else { 10.0 })
            });
            weighted.collect()
        });
        Graph::from_rows(rows)
    }

    #[test]
    fn a_stencil_falls_into_a_block_for_each_pair_of_signs_and_back() {
        for (extents, sizes) in [([6, 4], [6, 6, 6, 6]), ([5, 4], [6, 6, 4, 4])] {
            let graph = stencil(extents);
            let symmetry = Symmetry::of_grid(&graph, &Grid::find(&graph).unwrap());
            let mut found: Vec<usize> = symmetry.sizes().collect();
            found.sort_unstable_by(|a, b| b.cmp(a));
            assert_eq!(found, sizes);
            let order = graph.order();
            let matrix = DMatrix::from_fn(order, order, |a, b| graph.weight(a, b));
            let (blocks, outside) = symmetry.split(matrix.clone());
            assert!(outside < 1e-10, "{outside}");
            assert!((symmetry.join(&blocks) - &matrix).norm() < 1e-10);
            let mut values: Vec<f64> = matrix.symmetric_eigenvalues().iter().copied().collect();
            let mut parts: Vec<f64> = Vec::new();
            for block in blocks {
                parts.extend(block.symmetric_eigenvalues().iter());
            }
            values.sort_unstable_by(f64::total_cmp);
            parts.sort_unstable_by(f64::total_cmp);
            assert!(values.iter().zip(&parts).all(|(a, b)| (a - b).abs() < 1e-9));
        }
    }

    #[test]
    fn a_reflection_that_changes_an_affinity_is_none() {
        let graph = stencil([6, 4]);
        let grid = Grid::find(&graph).unwrap();
        let uneven = Graph::from_rows((0..24).map(|rank| {
            let more = |other: usize| if rank.min(other) == 0 { 1.0 } else { 0.0 };
            let row = graph.row(rank);
            row.map(|(other, weight)| (other as u32, weight + more(other)))
                .collect()
        }));
        assert_eq!(Symmetry::of_grid(&uneven, &grid).sizes().count(), 1);
    }
}
