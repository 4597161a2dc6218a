//! Event loggers of causal message logging: when they hold a job up.
//!
//! Each receive makes a determinant that its rank sends to a logger, and that it adds to all its
//! messages until the logger has acknowledged it (Bouteiller et al., IPDPS 2005; Coti 2006, figures
//! 22 to 24).

use serde::Serialize;

/// Event loggers and the ranks that use them, evenly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Loggers {
    /// Number of ranks.
    pub clients: usize,
    /// Determinants a second of one rank.
    pub rate: f64,
    /// Seconds in which a logger serves a determinant.
    pub service: f64,
    /// Number of loggers.
    pub loggers: usize,
}

impl Loggers {
    /// Share of its time that a logger would need to keep up; above 1, it can't.
    pub fn utilization(&self) -> f64 {
        self.knee() / self.loggers as f64
    }

    /// Run time with these loggers over that with enough of them: ranks wait for loggers that can't
    /// keep up.
    pub fn run_time_factor(&self) -> f64 {
        self.utilization().max(1.0)
    }

    /// The number of loggers beyond which more of them gain nothing.
    pub fn knee(&self) -> f64 {
        self.clients as f64 * self.rate * self.service
    }

    /// Determinants that a message carries, on average, for a logger whose acknowledgement takes
    /// `round_trip` seconds.
    pub fn carried(&self, round_trip: f64) -> f64 {
        self.rate * round_trip
    }
}
