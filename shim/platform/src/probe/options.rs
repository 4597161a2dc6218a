//! Options of a probe, and its result.

use crate::clustering::DEFAULT_TOLERANCE;

/// Subjects and limits of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Tolerance of the clustering.
    pub tolerance: f64,
    /// Seconds for all of it.
    pub budget: f64,
    /// Largest message in bytes.
    pub largest: u64,
    /// Most pairs at a time; 0 for as many as are disjoint.
    pub at_a_time: usize,
    /// Whether to measure several pairs of two clusters, of two hosts and of a host at once.
    pub together: bool,
    /// Whether to measure how each cluster responds to a total exchange.
    pub exchange: bool,
    /// Whether to measure the ways in which pieces go over each link.
    pub ways: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            tolerance: DEFAULT_TOLERANCE,
            budget: 60.0,
            largest: 1 << 20,
            at_a_time: 0,
            together: false,
            exchange: false,
            ways: false,
        }
    }
}

/// Result of a probe, on rank 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The platform.
    pub platform: crate::description::Platform,
}
