//! Options and results of a simulation.

use crate::read::simulate::timeline::Bar;
use thiserror::Error;

/// Time that a message occupies its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sending {
    /// Overhead of the sender, `os(m)`. The message then passes the links of its path, which others
    /// share.
    #[default]
    Overlapping,
    /// `g(m)` of the link to the receiver, one message at a time, without shared links: the
    /// one-port model of the thesis (item 19), on which its formulas and its heuristics are based.
    OnePort,
}

/// Options of a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Time that a message occupies its sender.
    pub sending: Sending,
    /// True if [`Outcome::bars`] are kept.
    pub timeline: bool,
}

/// Result of a simulation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// Seconds until the last rank has finished.
    pub seconds: f64,
    /// Time in seconds at which each rank has finished.
    pub ends: Vec<f64>,
    /// Activities of each rank, if requested; by start.
    pub bars: Vec<Bar>,
    /// Number of messages.
    pub messages: usize,
    /// Bytes sent between clusters.
    pub bytes_between: u64,
}

/// Reason why plans cannot be simulated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SimulationError {
    /// The number of plans differs from the network's number of ranks.
    #[error("{plans} plans for {ranks} ranks; give one plan for each rank")]
    Plans {
        /// Number of plans.
        plans: usize,
        /// Number of ranks.
        ranks: usize,
    },
    /// Some steps never start.
    #[error("deadlock: rank {rank} never completes step {step}; the plans do not match")]
    Deadlock {
        /// First rank that does not end.
        rank: usize,
        /// Its first incomplete step.
        step: usize,
    },
}
