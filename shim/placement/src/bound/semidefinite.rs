//! Least cut of a level, by a relaxation of the partition to a semidefinite program.
//!
//! A partition into groups is the matrix X with `x[i][j] = 1` if ranks i and j are together, and 0
//! otherwise. Every such X has ones on the diagonal, no negative entry, row sums of at most the
//! size s of the largest group, and eigenvalues between 0 and s; and if two ranks are both together
//! with a third, they are together. The largest affinity that any matrix of this kind keeps
//! together bounds what a partition can keep (Zhao, Karisch, Rendl and Wolkowicz, Journal of
//! Combinatorial Optimization 2, 1998; Sotirov, INFORMS Journal on Computing 26, 2014).
//!
//! The program starts with the bound by eigenvalues alone (Donath and Hoffman, IBM Journal of
//! Research and Development 17, 1973), and is solved approximately by the boundary point method
//! (Povh, Rendl and Wiegele, Computing 78, 2006). The bound is valid at any stage of the solution:
//! any prices of the constraints prove one, as the least value of the Lagrangian, which the
//! eigenvalues of one matrix give.

use nalgebra::{DMatrix, DVector, Dyn, SymmetricEigen};

use crate::bound::groups::Groups;
use crate::bound::symmetry::Symmetry;
use crate::bound::triangles::Triangles;
use crate::coarsen::graph::Graph;

/// Maximum work of all levels together: a round takes the cube of the order of each block for its
/// eigenvalues, and [`PASSES`] times the square of the whole order. About a second.
pub(super) const WORK: usize = 1_000_000_000;

/// Multiply-adds of a round for each entry of a matrix.
pub(super) const PASSES: usize = 32;

/// Limits of the number of rounds; with fewer than the least, the bound is not worth its time.
const ROUNDS: std::ops::RangeInclusive<usize> = 10..=400;

/// Rounds between two proofs, and half the rounds between two searches for triangle inequalities.
const PROVE_EVERY: usize = 10;

/// Maximum number of rounds without progress.
const PATIENCE: usize = 100;

/// Largest number of ranks for which triangle inequalities are searched.
pub(super) const TRIANGLES: usize = 128;

/// Initial rounds without triangle inequalities.
const ROUNDS_BEFORE_TRIANGLES: usize = 60;

/// Step of the price of a triangle inequality, as a fraction of its violation.
const TRIANGLE_RATE: f64 = 0.2;

/// Number of rounds that `work` allows; `None` if they are too few.
fn rounds(symmetry: &Symmetry, work: usize) -> Option<usize> {
    let ranks: usize = symmetry.sizes().sum();
    let cubes: usize = symmetry.sizes().map(|size| size.pow(3)).sum();
    let rounds = work / (cubes + PASSES * ranks.pow(2)).max(1);
    (ranks >= 4 && rounds >= *ROUNDS.start()).then(|| rounds.min(*ROUNDS.end()))
}

/// Least cut of the groups of a graph with this symmetry, found with at most `work` work. Stops
/// early if the cut is `enough`.
pub(super) fn cut(
    graph: &Graph,
    symmetry: &Symmetry,
    groups: &Groups,
    work: usize,
    enough: impl Fn(f64) -> bool,
) -> f64 {
    let Some(rounds) = rounds(symmetry, work) else {
        return 0.0;
    };
    let Some(mut relaxation) = Relaxation::new(graph, symmetry, groups) else {
        return 0.0;
    };
    if relaxation.begin().is_none() {
        return 0.0;
    }
    let mut best = relaxation.proof().max(0.0);
    if enough(best) {
        return best;
    }
    let mut progress = 0.0;
    for round in 1..=rounds {
        if relaxation.step().is_none() {
            break;
        }
        if round % PROVE_EVERY == 0 || round == rounds {
            best = best.max(relaxation.proof());
            relaxation.adapt();
        }
        let slow = round % PATIENCE == 0 && best < progress * 1.0005;
        if enough(best) || slow {
            break;
        }
        if round % PATIENCE == 0 {
            progress = best;
        }
        let triangles = graph.order() <= TRIANGLES && round >= ROUNDS_BEFORE_TRIANGLES;
        if triangles && round % (2 * PROVE_EVERY) == 0 {
            relaxation.triangles.exchange(&relaxation.x);
        }
    }
    best
}

/// The program, its present point, and the prices of its constraints.
struct Relaxation<'a> {
    symmetry: &'a Symmetry,
    /// Affinities, divided by `scale`, with the sign of costs.
    costs: DMatrix<f64>,
    scale: f64,
    /// Affinity of all pairs.
    total: f64,
    size: f64,
    /// True if all row sums equal `size`; otherwise they are at most `size`.
    exact: bool,
    /// The present point.
    x: DMatrix<f64>,
    /// Prices of the constraints that the point is positive semidefinite and without negative
    /// entries.
    semidefinite: DMatrix<f64>,
    entries: DMatrix<f64>,
    /// Prices of the ones on the diagonal, and of the row sums.
    diagonal: DVector<f64>,
    rows: DVector<f64>,
    triangles: Triangles,
    /// The weight of violations.
    penalty: f64,
    /// Violation of the diagonal and the rows, and of the equation of the prices.
    residuals: (f64, f64),
}

impl<'a> Relaxation<'a> {
    fn new(graph: &Graph, symmetry: &'a Symmetry, groups: &Groups) -> Option<Self> {
        let (order, size) = (graph.order(), groups.largest() as f64);
        let mut costs = DMatrix::zeros(order, order);
        for vertex in 0..order {
            for (other, weight) in graph.row(vertex) {
                costs[(vertex, other)] = -weight;
            }
        }
        let total = -costs.sum() / 2.0;
        let scale = 2.0 * total / order as f64;
        if !scale.is_normal() {
            return None;
        }
        costs /= scale;
        Some(Relaxation {
            symmetry,
            costs,
            scale,
            total,
            size,
            exact: groups.equal_and_full(),
            x: DMatrix::zeros(order, order),
            semidefinite: DMatrix::zeros(order, order),
            entries: DMatrix::zeros(order, order),
            diagonal: DVector::zeros(order),
            rows: DVector::zeros(order),
            triangles: Triangles::default(),
            penalty: size,
            residuals: (0.0, 0.0),
        })
    }

    /// Sets the point and the prices that are optimal if only the eigenvalues of a partition are
    /// constrained: the groups are as near as possible to the lowest eigenvectors of the graph's
    /// Laplacian.
    fn begin(&mut self) -> Option<()> {
        let order = self.x.nrows();
        let degrees = -self.costs.column_sum();
        let laplacian = &self.costs + DMatrix::from_diagonal(&degrees);
        let blocks = self.symmetry.split(laplacian).0;
        let blocks: Vec<_> = blocks.into_iter().map(eigen).collect::<Option<_>>()?;
        let values = blocks.iter().flat_map(|block| block.eigenvalues.iter());
        let mut ascending: Vec<f64> = values.copied().collect();
        ascending.sort_unstable_by(f64::total_cmp);
        let groups = (order as f64 / self.size).ceil() as usize;
        let last = ascending[groups.min(order) - 1];
        self.diagonal = degrees.map(|degree| last - degree);
        let of = |value: &dyn Fn(f64) -> f64| {
            let part = |block: &Eigen| {
                let vectors = &block.eigenvectors;
                vectors
                    * DMatrix::from_diagonal(&block.eigenvalues.map(value))
                    * vectors.transpose()
            };
            let parts: Vec<_> = blocks.iter().map(part).collect();
            self.symmetry.join(&parts)
        };
        // Equal eigenvalues are taken together, so that the point has the pattern's symmetry.
        let low = |value: f64| value <= last + 1e-9;
        let count = ascending.iter().filter(|&&value| low(value)).count();
        let share = order as f64 / count as f64;
        let lowest = of(&|value| if low(value) { share } else { 0.0 });
        self.semidefinite = of(&|value| (value - last).max(0.0));
        self.x = lowest;
        Some(())
    }

    /// The costs including the prices of the triangle inequalities.
    fn priced_costs(&self) -> DMatrix<f64> {
        let mut costs = self.costs.clone();
        self.triangles.add_to(&mut costs);
        costs
    }

    /// One round: updates each kind of prices, then the point. `None` if the eigenvalues cannot be
    /// found.
    fn step(&mut self) -> Option<()> {
        let costs = self.priced_costs();
        let left = &costs - &self.semidefinite - &self.entries;
        let of_rows = |m: &DMatrix<f64>| m.column_sum();
        self.price_diagonal_and_rows(
            left.diagonal() + self.x.diagonal().map(|x| (1.0 - x) / self.penalty),
            of_rows(&left) + of_rows(&self.x).map(|sum| (self.size - sum) / self.penalty),
        );
        let left = &costs - self.of_diagonal_and_rows(&self.rows) - &self.x / self.penalty;
        self.semidefinite = self.positive_part(&left - &self.entries)?;
        self.entries = (&left - &self.semidefinite).map(|entry| entry.max(0.0));
        // The remainder after the prices, as a step of the point.
        let step = (&self.semidefinite + &self.entries - left) * self.penalty - &self.x;
        let next = &self.x + &step;
        if self.triangles.is_empty() {
            self.x = next;
        } else {
            self.triangles.reprice(&next, TRIANGLE_RATE / self.penalty);
            let change = self.priced_costs() - costs;
            self.x = next - change * self.penalty;
        }
        let order = self.x.nrows() as f64;
        let rows = of_rows(&self.x).map(|sum| sum - self.size);
        let diagonal = self.x.diagonal().map(|x| x - 1.0);
        let violated = (rows.norm_squared() + diagonal.norm_squared()).sqrt();
        self.residuals = (
            violated / self.size / order.sqrt(),
            step.norm() / self.penalty / (1.0 + self.costs.norm()),
        );
        Some(())
    }

    /// Solves the least-squares equations for the prices of the diagonal and the rows, whose
    /// right-hand sides are given.
    fn price_diagonal_and_rows(&mut self, diagonal: DVector<f64>, rows: DVector<f64>) {
        let order = diagonal.len() as f64;
        let difference = rows - &diagonal;
        let sum = difference.sum() / (order - 1.0);
        self.rows = difference.map(|entry| (entry - sum / 2.0) / (order / 2.0 - 1.0));
        self.diagonal = diagonal - &self.rows;
    }

    /// Cost of each pair by the prices of the diagonal and of the rows.
    fn of_diagonal_and_rows(&self, rows: &DVector<f64>) -> DMatrix<f64> {
        let order = rows.len();
        let mut sum = DMatrix::from_fn(order, order, |i, j| (rows[i] + rows[j]) / 2.0);
        for i in 0..order {
            sum[(i, i)] += self.diagonal[i];
        }
        sum
    }

    /// The nearest positive semidefinite matrix.
    fn positive_part(&self, matrix: DMatrix<f64>) -> Option<DMatrix<f64>> {
        let blocks = self.symmetry.split(matrix).0.into_iter();
        let positive = blocks.map(positive_part).collect::<Option<Vec<_>>>()?;
        Some(self.symmetry.join(&positive))
    }

    /// The bound that the present prices prove. For any partition X, the costs are the prices times
    /// the constraint values, plus at least the negative eigenvalues of the remainder times those
    /// of X, which are at most `size` and add up to the order.
    fn proof(&self) -> f64 {
        // If rows may add up to less, a positive price proves nothing.
        let rows = match self.exact {
            true => self.rows.clone(),
            false => self.rows.map(|price| price.min(0.0)),
        };
        let rest = self.priced_costs() - self.of_diagonal_and_rows(&rows) - &self.entries;
        let (order, norm) = (rest.nrows() as f64, rest.norm());
        let (blocks, outside) = self.symmetry.split(rest);
        let rounding = (1e-10 * norm + outside) * order;
        let mut eigenvalues: Vec<f64> = Vec::new();
        for block in blocks {
            eigenvalues.extend(block.symmetric_eigenvalues().iter());
        }
        eigenvalues.sort_unstable_by(f64::total_cmp);
        let mut left = eigenvalues.len() as f64;
        let mut least = self.diagonal.sum() + self.size * rows.sum() - self.triangles.price();
        for eigenvalue in eigenvalues.into_iter().take_while(|&value| value < 0.0) {
            let most = self.size.min(left);
            least += most * eigenvalue;
            left -= most;
        }
        self.total + (least - rounding) * self.scale / 2.0
    }

    /// Balances the two kinds of violation.
    fn adapt(&mut self) {
        let (point, prices) = self.residuals;
        if point > 3.0 * prices {
            self.penalty *= 0.75;
        } else if prices > 3.0 * point {
            self.penalty *= 1.35;
        }
    }
}

type Eigen = SymmetricEigen<f64, Dyn>;

/// Eigenvalues and eigenvectors of a symmetric matrix, if they are found.
fn eigen(matrix: DMatrix<f64>) -> Option<Eigen> {
    let order = matrix.nrows();
    SymmetricEigen::try_new(matrix, f64::EPSILON, 100 * order)
}

/// The nearest positive semidefinite matrix.
fn positive_part(matrix: DMatrix<f64>) -> Option<DMatrix<f64>> {
    let order = matrix.nrows();
    let eigen = eigen(matrix)?;
    let positive = (0..order).filter(|&i| eigen.eigenvalues[i] > 0.0);
    let roots: Vec<DVector<f64>> = positive
        .map(|i| eigen.eigenvectors.column(i) * eigen.eigenvalues[i].sqrt())
        .collect();
    if roots.is_empty() {
        return Some(DMatrix::zeros(order, order));
    }
    let roots = DMatrix::from_columns(&roots);
    Some(&roots * roots.transpose())
}
