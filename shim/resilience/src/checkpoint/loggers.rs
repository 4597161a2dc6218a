//! Event loggers of causal message logging: conditions under which they delay a job.
//!
//! Each receive creates a determinant that its rank sends to a logger, and adds to all its messages
//! until the logger has acknowledged it (Bouteiller et al., IPDPS 2005; Coti 2006, figures 22 to
//! 24).

use serde::Serialize;

/// Event loggers and the ranks that use them, evenly distributed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Loggers {
    /// Number of ranks.
    pub clients: usize,
    /// Determinants per second of one rank.
    pub rate: f64,
    /// Seconds in which a logger processes a determinant.
    pub service: f64,
    /// Number of loggers.
    pub loggers: usize,
}

impl Loggers {
    /// Share of its time that a logger needs for its load; above 1, it is overloaded.
    pub fn utilization(&self) -> f64 {
        self.knee() / self.loggers as f64
    }

    /// Ratio of the run time with these loggers to that with enough of them: ranks wait for
    /// overloaded loggers.
    pub fn run_time_factor(&self) -> f64 {
        self.utilization().max(1.0)
    }

    /// Number of loggers above which more of them gain nothing.
    pub fn knee(&self) -> f64 {
        self.clients as f64 * self.rate * self.service
    }

    /// Mean number of determinants that a message carries, for a logger whose acknowledgement takes
    /// `round_trip` seconds.
    pub fn carried(&self, round_trip: f64) -> f64 {
        self.rate * round_trip
    }
}
