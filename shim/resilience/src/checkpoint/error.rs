//! Reasons why an experiment fails.

use thiserror::Error;
use treepie_collective::read::simulate::SimulationError;

/// Reason why an experiment has no result.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ExperimentError {
    /// A server is on a host that does not exist.
    #[error(
        "there is no host {0} on this platform: name hosts that it has, or give a number above 0"
    )]
    UnknownHost(String),
    /// There is no server.
    #[error("there is no checkpoint server: give a number above 0, or hosts")]
    NoServer,
    /// There is no event logger.
    #[error("there is no event logger: give a number above 0")]
    NoLogger,
    /// The platform has no ranks.
    #[error("the platform has no ranks: probe it again")]
    NoRanks,
    /// There are more markers than can be simulated.
    #[error(
        "markers among {ranks} ranks are too many messages to simulate: take at most {most} ranks, or \
         a protocol without markers"
    )]
    TooManyMarkers {
        /// Number of ranks.
        ranks: usize,
        /// Largest number of ranks for which they are simulated.
        most: usize,
    },
    /// A number is invalid.
    #[error("{what} is {value}; a number above 0 was expected")]
    BadNumber {
        /// Name of the number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// The plans cannot be simulated.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}
