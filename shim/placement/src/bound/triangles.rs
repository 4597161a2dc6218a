//! Triangle inequalities: if two ranks are both together with a third, they are together.

use nalgebra::DMatrix;

/// Inequalities `x[a][b] + x[a][c] - x[b][c] <= 1`, each with its price.
#[derive(Debug, Default)]
pub(super) struct Triangles {
    corners: Vec<[usize; 3]>,
    prices: Vec<f64>,
}

/// Maximum number of inequalities added together.
const AT_A_TIME: usize = 2000;

/// Least violation of an inequality to be added.
const VIOLATED: f64 = 0.02;

impl Triangles {
    /// True if there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.corners.is_empty()
    }

    /// Sum of the prices.
    pub(super) fn price(&self) -> f64 {
        self.prices.iter().sum()
    }

    /// Adds the cost of each pair by the prices to the symmetric matrix `sum`.
    pub(super) fn add_to(&self, sum: &mut DMatrix<f64>) {
        for (&[a, b, c], price) in self.corners.iter().zip(&self.prices) {
            for (i, j, part) in [(a, b, 0.5), (a, c, 0.5), (b, c, -0.5)] {
                sum[(i, j)] += part * price;
                sum[(j, i)] += part * price;
            }
        }
    }

    /// Raises the price of each violated inequality by `rate` times its violation, and lowers the
    /// others.
    pub(super) fn reprice(&mut self, x: &DMatrix<f64>, rate: f64) {
        for (corners, price) in self.corners.iter().zip(&mut self.prices) {
            *price = (*price + rate * violation(x, *corners)).max(0.0);
        }
    }

    /// Drops inequalities without a price, and adds those with the largest violation.
    pub(super) fn exchange(&mut self, x: &DMatrix<f64>) {
        let order = x.nrows();
        let priced = self.corners.iter().zip(&self.prices);
        let priced: Vec<([usize; 3], f64)> = priced
            .filter(|&(_, &price)| price > 0.0)
            .map(|(&corners, &price)| (corners, price))
            .collect();
        let mut violated: Vec<([usize; 3], f64)> = Vec::new();
        for a in 0..order {
            for b in (0..order).filter(|&b| b != a) {
                for c in (b + 1..order).filter(|&c| c != a) {
                    let by = violation(x, [a, b, c]);
                    if by > VIOLATED {
                        violated.push(([a, b, c], by));
                    }
                }
            }
        }
        violated.sort_unstable_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        violated.truncate(AT_A_TIME);
        let mut all: Vec<([usize; 3], f64)> = violated.iter().map(|known| (known.0, 0.0)).collect();
        all.extend(priced);
        // Of two entries of the same corners, the one with the price is kept.
        all.sort_by(|one, other| one.0.cmp(&other.0).then(other.1.total_cmp(&one.1)));
        all.dedup_by_key(|known| known.0);
        (self.corners, self.prices) = all.into_iter().unzip();
    }
}

fn violation(x: &DMatrix<f64>, [a, b, c]: [usize; 3]) -> f64 {
    x[(a, b)] + x[(a, c)] - x[(b, c)] - 1.0
}
