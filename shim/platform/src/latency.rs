//! Latencies between pairs of nodes.

use thiserror::Error;

/// Reason why numbers are not latencies.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum LatencyError {
    /// A node that does not exist.
    #[error("node {node} does not exist: the {order} nodes count from 0")]
    NoSuchNode {
        /// The given node.
        node: usize,
        /// Number of nodes.
        order: usize,
    },
    /// A value that cannot be the latency of a link.
    #[error(
        "the latency between nodes {a} and {b} is {value}; a latency is a number above 0 \
         (0 stands for no link)"
    )]
    NotALatency {
        /// One node.
        a: usize,
        /// The other.
        b: usize,
        /// The given value, in seconds.
        value: f64,
    },
    /// A link in one direction only.
    #[error(
        "there is a latency from node {from} to node {to} and none back; measure both \
         directions, or write 0 for both"
    )]
    OneWay {
        /// First end of the link.
        from: usize,
        /// Second end.
        to: usize,
    },
}

/// Latencies between some of the pairs of `order` nodes. A pair that is not listed has no local
/// link: it separates clusters (thesis 3.2).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LatencyMatrix {
    order: usize,
    /// `(seconds, a, b)` with `a < b`, each pair once.
    links: Vec<(f64, usize, usize)>,
}

impl LatencyMatrix {
    /// Builds the matrix from `links`, `(a, b, seconds)`, each pair once and in any order. Links of
    /// a node to itself are left out.
    ///
    /// # Errors
    /// A node does not exist, or a number is not a latency.
    pub fn from_pairs(
        order: usize,
        links: impl IntoIterator<Item = (usize, usize, f64)>,
    ) -> Result<Self, LatencyError> {
        let mut kept = Vec::new();
        for (a, b, value) in links {
            let node = a.max(b);
            if node >= order {
                return Err(LatencyError::NoSuchNode { node, order });
            }
            if !(value.is_finite() && value > 0.0) {
                return Err(LatencyError::NotALatency { a, b, value });
            }
            if a != b {
                kept.push((value, a.min(b), a.max(b)));
            }
        }
        Ok(LatencyMatrix { order, links: kept })
    }

    /// Builds the matrix from a square table with `order` rows, in seconds, with 0 for no link. Two
    /// directions that differ are replaced by their mean, as measured by a round trip.
    ///
    /// # Errors
    /// A number is negative or infinite, or a link exists in one direction only.
    ///
    /// # Panics
    /// Panics if `table` does not have `order` x `order` numbers; the caller has to check that.
    pub fn from_table(order: usize, table: &[f64]) -> Result<Self, LatencyError> {
        assert_eq!(table.len(), order * order, "the table is square");
        let at = |a: usize, b: usize| -> Result<f64, LatencyError> {
            let value = table[a * order + b];
            if value.is_finite() && value >= 0.0 {
                Ok(value)
            } else {
                Err(LatencyError::NotALatency { a, b, value })
            }
        };
        let mut links = Vec::new();
        for a in 0..order {
            at(a, a)?;
            for b in a + 1..order {
                match (at(a, b)?, at(b, a)?) {
                    (there, back) if there > 0.0 && back > 0.0 => {
                        links.push(((there + back) / 2.0, a, b));
                    }
                    (there, _) if there > 0.0 => {
                        return Err(LatencyError::OneWay { from: a, to: b });
                    }
                    (_, back) if back > 0.0 => {
                        return Err(LatencyError::OneWay { from: b, to: a });
                    }
                    _ => {}
                }
            }
        }
        Ok(LatencyMatrix { order, links })
    }

    /// Number of nodes.
    pub fn order(&self) -> usize {
        self.order
    }

    /// The links, as `(a, b, seconds)` with `a < b`.
    pub fn links(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        self.links.iter().map(|&(value, a, b)| (a, b, value))
    }

    /// The links in the order used by clustering: shorter ones first, of equal ones those of lower
    /// nodes.
    pub(super) fn sorted_links(&self) -> Vec<(f64, usize, usize)> {
        let mut links = self.links.clone();
        links.sort_unstable_by(|one, other| {
            one.0
                .total_cmp(&other.0)
                .then((one.1, one.2).cmp(&(other.1, other.2)))
        });
        links
    }
}
