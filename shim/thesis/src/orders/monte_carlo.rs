//! The thesis's study of the heuristics on random grids (7.1.4, table 7.2): mean makespan, and how
//! often each is the best of those compared.

use crate::orders::exhaustive::{MOST_CLUSTERS, optimum};
use treepie_base::square::Square;
use treepie_base::{Cluster, SplitMix64};
use treepie_platform::orders::{Accounting, Costs, Order};

/// Limits of the uniform draws, in seconds, for a message of 1 MB (table 7.2).
pub const LATENCY: (f64, f64) = (0.001, 0.015);
/// See [`LATENCY`].
pub const GAP: (f64, f64) = (0.10, 0.60);
/// See [`LATENCY`].
pub const INSIDE: (f64, f64) = (0.02, 3.0);

/// Parameters of the study.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Study {
    /// Number of clusters.
    pub clusters: usize,
    /// Number of random grids.
    pub iterations: usize,
    /// Start of the inner phases.
    pub accounting: Accounting,
    /// Seed of the grids.
    pub seed: u64,
    /// True to search for the optimal order, too, if there are few enough clusters.
    pub exhaustive: bool,
}

/// Results of one heuristic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// Mean makespan in seconds.
    pub mean: f64,
    /// Share of the grids on which no other was better, from 0 to 1.
    pub hits: f64,
}

/// The results of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// Results of each requested heuristic, in that order.
    pub outcomes: Vec<Outcome>,
    /// Mean makespan of the best order, if it was searched.
    pub optimum: Option<f64>,
}

impl Study {
    /// Runs `orders` on the same random grids.
    pub fn run(&self, orders: &[Order]) -> Results {
        let mut random = Uniform(SplitMix64::new(self.seed));
        let mut sums = vec![0.0; orders.len()];
        let mut hits = vec![0_usize; orders.len()];
        let mut best_sum = 0.0;
        let exhaustive = self.exhaustive && self.clusters <= MOST_CLUSTERS;
        for _ in 0..self.iterations {
            let costs = random.grid(self.clusters);
            let spans: Vec<f64> = orders
                .iter()
                .map(|order| {
                    order
                        .schedule(&costs, Cluster(0))
                        .makespan(&costs, self.accounting)
                })
                .collect();
            let best = spans.iter().copied().fold(f64::INFINITY, f64::min);
            for (at, span) in spans.iter().enumerate() {
                sums[at] += span;
                hits[at] += usize::from(*span <= best + 1e-9);
            }
            if exhaustive && let Some(schedule) = optimum(&costs, Cluster(0), self.accounting) {
                best_sum += schedule.makespan(&costs, self.accounting);
            }
        }
        let part = |sum: f64| sum / self.iterations.max(1) as f64;
        let outcomes = sums.iter().zip(&hits);
        Results {
            outcomes: outcomes
                .map(|(&sum, &hits)| Outcome {
                    mean: part(sum),
                    hits: part(hits as f64),
                })
                .collect(),
            optimum: exhaustive.then(|| part(best_sum)),
        }
    }
}

/// Uniform numbers.
struct Uniform(SplitMix64);

impl Uniform {
    fn between(&mut self, (low, high): (f64, f64)) -> f64 {
        low + (high - low) * self.0.fraction()
    }

    /// A grid whose links are equal in both directions.
    fn grid(&mut self, clusters: usize) -> Costs {
        let mut gap = Square::filled(clusters, 0.0);
        let mut latency = gap.clone();
        let inside = (0..clusters).map(|_| self.between(INSIDE)).collect();
        for i in 0..clusters {
            for j in i + 1..clusters {
                let (g, l) = (self.between(GAP), self.between(LATENCY));
                for (from, to) in [(i, j), (j, i)] {
                    let pair = (Cluster(from), Cluster(to));
                    gap[pair] = g;
                    latency[pair] = l;
                }
            }
        }
        Costs::new(gap, latency, inside).expect("draws lie between positive bounds")
    }
}
