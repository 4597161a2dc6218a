//! Options of a probe, and its result.

use crate::clustering::DEFAULT_TOLERANCE;

/// Subjects and limits of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Tolerance of the clustering.
    pub tolerance: f64,
    /// Time limit in seconds.
    pub budget: f64,
    /// Largest message in bytes.
    pub largest: u64,
    /// Maximum number of simultaneous pairs; 0 for all disjoint pairs.
    pub at_a_time: usize,
    /// True to measure several simultaneous pairs of two clusters, of two hosts and of a host.
    pub together: bool,
    /// True to measure the response of each cluster to a total exchange.
    pub exchange: bool,
    /// True to measure methods of transfer on each link.
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
