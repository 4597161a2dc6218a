//! Reason why there is no report.

use thiserror::Error;

use treepie_placement::PlacementError;

/// A question about containment that has no answer.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ContainmentError {
    /// Nothing was sent between ranks.
    #[error(
        "no byte was sent from one rank to another, so that any groups log nothing: profile a run that communicates"
    )]
    NoTraffic,
    /// There is nothing to divide.
    #[error("{ranks} rank cannot be divided into groups: profile a run with at least 2")]
    TooFewRanks {
        /// Number of ranks.
        ranks: usize,
    },
    /// More groups than failure domains, or none.
    #[error(
        "{groups} groups were asked for, and the ranks are in {domains} failure domains, which are never cut: ask for 1 to {domains}, or name smaller domains"
    )]
    TooManyGroups {
        /// Groups that were asked for.
        groups: usize,
        /// Domains with ranks.
        domains: usize,
    },
    /// A list with another number of ranks.
    #[error("{what} are given for {found} ranks, and there are {expected}: give one for each")]
    WrongCount {
        /// What is given.
        what: &'static str,
        /// Ranks in the list.
        found: usize,
        /// Ranks of the run.
        expected: usize,
    },
    /// A time that is none.
    #[error("{what} of {value} seconds: expected a finite time {expected}")]
    BadTime {
        /// Name of the time.
        what: &'static str,
        /// The given value.
        value: f64,
        /// Expectation.
        expected: &'static str,
    },
    /// A redundancy set that is too small or too large to make.
    #[error("sets of {size} members: expected {expected}")]
    BadSetSize {
        /// The given size.
        size: usize,
        /// Possible numbers.
        expected: String,
    },
    /// Hosts that a library refuses, or whose ranks cannot change places.
    #[error("host {host} has {found} ranks and the first one has {expected}: {remedy}")]
    UnequalHosts {
        /// Number of the host, in the order of first ranks.
        host: usize,
        /// Its ranks.
        found: usize,
        /// Ranks of the first host.
        expected: usize,
        /// Remedy.
        remedy: &'static str,
    },
    /// Groups cannot be computed.
    #[error(transparent)]
    Placement(#[from] PlacementError),
}
