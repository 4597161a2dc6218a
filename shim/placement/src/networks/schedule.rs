//! How long and how hot ranks are annealed, by their number.

use super::field::Field;
use crate::Effort;

/// Length and temperatures of an annealing, these in mean weights of an edge.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    /// Swaps that are tried for each vertex.
    pub sweeps: f64,
    /// First temperature.
    pub hot: f64,
    /// Last temperature.
    pub cold: f64,
}

impl Schedule {
    /// From a start without structure.
    pub fn hot(field: &Field, effort: Effort) -> Self {
        Schedule {
            sweeps: sweeps(field, effort),
            hot: 4.0,
            cold: 0.5,
        }
    }

    /// From a start whose structure is to stay.
    pub(crate) fn cool(field: &Field, effort: Effort) -> Self {
        Schedule {
            sweeps: sweeps(field, effort) / 3.0,
            hot: 0.5,
            cold: 0.05,
        }
    }
}

/// Swaps that are tried for each vertex, such that what is spent grows slowly with the ranks.
fn sweeps(field: &Field, effort: Effort) -> f64 {
    let ranks = field.ranks.max(1) as f64;
    let degree = field.graph.entries() as f64 / ranks;
    let for_few = match effort {
        Effort::Fast => 250.0,
        Effort::Normal => 2200.0,
        Effort::Strong => 40_000.0,
    };
    // More ranks no longer fit into caches, and have to be done in seconds all the same.
    let fewer = libm::pow(512.0 / ranks.max(512.0), 0.4);
    let many = libm::pow(4096.0 / ranks.max(4096.0), 0.6);
    for_few * fewer * many * 10.0 / (2.0 + degree.max(2.0))
}
