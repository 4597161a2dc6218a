//! Options and results of a simulation.

use crate::read::simulate::timeline::Bar;
use thiserror::Error;

/// Time that a message occupies its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sending {
    /// Overhead of the sender, `os(m)`. The message then passes the links on its way, which others
    /// share.
    #[default]
    Overlapping,
    /// `g(m)` of the link to the receiver, one message at a time, and nothing is shared: the
    /// one-port model of the thesis (item 19), in which its formulas and its heuristics count.
    OnePort,
}

/// Options of a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Time that a message occupies its sender.
    pub sending: Sending,
    /// Whether [`Outcome::bars`] are kept.
    pub timeline: bool,
}

/// Result of a simulation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// Seconds until the last rank has ended.
    pub seconds: f64,
    /// When each rank has ended.
    pub ends: Vec<f64>,
    /// Activities of each rank, if these were asked for; by start.
    pub bars: Vec<Bar>,
    /// Number of messages.
    pub messages: usize,
    /// Bytes between clusters.
    pub bytes_between: u64,
}

/// Why plans cannot be simulated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SimulationError {
    /// There is not a plan for every rank of the network.
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
        /// The first rank that does not end.
        rank: usize,
        /// Its first step that is not done.
        step: usize,
    },
}
