//! Reasons why an experiment has no outcome.

use thiserror::Error;
use treepie_collective::read::simulate::SimulationError;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ExperimentError {
    /// A server on a host that is not there.
    #[error(
        "there is no host {0} on this platform: name hosts that it has, or give a number above 0"
    )]
    UnknownHost(String),
    /// No server.
    #[error("there is no checkpoint server: give a number above 0, or hosts")]
    NoServer,
    /// No event logger.
    #[error("there is no event logger: give a number above 0")]
    NoLogger,
    /// A platform without ranks.
    #[error("the platform has no ranks: probe it again")]
    NoRanks,
    /// More markers than can be simulated.
    #[error(
        "markers among {ranks} ranks are too many messages to simulate: take at most {most} ranks, or \
         a protocol without markers"
    )]
    TooManyMarkers {
        /// Number of ranks.
        ranks: usize,
        /// The largest number for which they are simulated.
        most: usize,
    },
    /// A number that can't be.
    #[error("{what} is {value}; a number above 0 was expected")]
    BadNumber {
        /// Of what.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// Plans that cannot be simulated.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}
