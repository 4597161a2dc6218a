//! Inputs of a heuristic: gaps, latencies and the times inside clusters.

use thiserror::Error;
use treepie_base::square::Square;
use treepie_base::{Cluster, List};

/// Reason why numbers are not costs.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CostsError {
    /// A table is of another number of clusters.
    #[error("{what} is of {found} clusters, and there are {clusters}; one is needed for each pair")]
    Clusters {
        /// Name of the table.
        what: &'static str,
        /// Its number of clusters.
        found: usize,
        /// Number of clusters.
        clusters: usize,
    },
    /// No cluster at all.
    #[error("there are no clusters; at least one was expected")]
    Empty,
    /// A negative or infinite number.
    #[error("{what} has {value}; numbers from 0 were expected")]
    Number {
        /// Name of the table or list.
        what: &'static str,
        /// The number.
        value: f64,
    },
}

/// Costs of one message between the leaders of `clusters`, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Costs {
    gap: Square<Cluster, f64>,
    latency: Square<Cluster, f64>,
    inside: List<Cluster, f64>,
}

impl Costs {
    /// `gap` and `latency` from sender to receiver (the diagonal is ignored); `inside` is `T_k`,
    /// the time of each cluster's inner phase.
    ///
    /// # Errors
    /// Numbers of clusters differ, costs are negative or infinite, or there are no clusters.
    pub fn new(
        gap: Square<Cluster, f64>,
        latency: Square<Cluster, f64>,
        inside: List<Cluster, f64>,
    ) -> Result<Self, CostsError> {
        let clusters = inside.len();
        if clusters == 0 {
            return Err(CostsError::Empty);
        }
        for (what, table) in [("gap", &gap), ("latency", &latency)] {
            let found = table.order();
            if found != clusters {
                return Err(CostsError::Clusters {
                    what,
                    found,
                    clusters,
                });
            }
        }
        for (what, list) in [
            ("gap", gap.values()),
            ("latency", latency.values()),
            ("inside", &inside.raw),
        ] {
            let is_cost = |value: &f64| value.is_finite() && *value >= 0.0;
            if let Some(&value) = list.iter().find(|value| !is_cost(value)) {
                return Err(CostsError::Number { what, value });
            }
        }
        Ok(Costs {
            gap,
            latency,
            inside,
        })
    }

    /// Number of clusters.
    pub fn clusters(&self) -> usize {
        self.inside.len()
    }

    /// `g(i,j)`: time for which the sender is busy.
    pub fn gap(&self, from: Cluster, to: Cluster) -> f64 {
        self.gap[(from, to)]
    }

    /// `L(i,j)`.
    pub fn latency(&self, from: Cluster, to: Cluster) -> f64 {
        self.latency[(from, to)]
    }

    /// `g(i,j) + L(i,j)`: time of one message.
    pub fn transfer(&self, from: Cluster, to: Cluster) -> f64 {
        self.gap(from, to) + self.latency(from, to)
    }

    /// Sum of the transfers from one cluster to each other one.
    pub(super) fn all_transfers(&self, from: Cluster) -> f64 {
        let others = self.inside.keys().filter(|&to| to != from);
        others.map(|to| self.transfer(from, to)).sum()
    }

    /// `T_k`: time of a cluster's inner phase.
    pub fn inside(&self, cluster: Cluster) -> f64 {
        self.inside[cluster]
    }
}
