//! Reason why there is no report.

use thiserror::Error;

use treepie_placement::PlacementError;

/// Reason why a question about containment has no answer.
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
    /// There are more groups than failure domains, or none.
    #[error(
        "{groups} groups were asked for, and the ranks are in {domains} failure domains, which are never cut: ask for 1 to {domains}, or name smaller domains"
    )]
    TooManyGroups {
        /// Requested number of groups.
        groups: usize,
        /// Number of domains with ranks.
        domains: usize,
    },
    /// A list has another number of ranks.
    #[error("{what} are given for {found} ranks, and there are {expected}: give one for each")]
    WrongCount {
        /// Name of the list.
        what: &'static str,
        /// Number of ranks in the list.
        found: usize,
        /// Number of ranks of the run.
        expected: usize,
    },
    /// A time is invalid.
    #[error("{what} of {value} seconds: expected a finite time {expected}")]
    BadTime {
        /// Name of the time.
        what: &'static str,
        /// The given value.
        value: f64,
        /// Valid values.
        expected: &'static str,
    },
    /// A redundancy set is too small or too large.
    #[error("sets of {size} members: expected {expected}")]
    BadSetSize {
        /// The given size.
        size: usize,
        /// Valid sizes.
        expected: String,
    },
    /// Hosts that a library refuses, or whose ranks cannot be exchanged.
    #[error("host {host} has {found} ranks and the first one has {expected}: {remedy}")]
    UnequalHosts {
        /// Number of the host, in the order of first ranks.
        host: usize,
        /// Its number of ranks.
        found: usize,
        /// Number of ranks of the first host.
        expected: usize,
        /// Remedy.
        remedy: &'static str,
    },
    /// Groups cannot be computed.
    #[error(transparent)]
    Placement(#[from] PlacementError),
}
