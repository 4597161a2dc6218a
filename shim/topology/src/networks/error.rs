//! Errors of descriptions of networks.

use thiserror::Error;
use treepie_base::printable::one_line;

use super::fabric::POSITION_LIMIT;

/// Reason why a network could not be built.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum NetworkError {
    /// There is no dimension, no switch, or no host.
    #[error("the network is empty: give at least one {what}")]
    Empty {
        /// The missing item.
        what: &'static str,
    },
    /// A number is too small or too large.
    #[error("{what} is {found}: expected {expected}")]
    OutOfRange {
        /// The parameter.
        what: String,
        /// Its value.
        found: String,
        /// Its valid values.
        expected: String,
    },
    /// More positions than supported.
    #[error("the network has more than {POSITION_LIMIT} positions: check its parameters")]
    TooLarge,
    /// A list has another length than the number of items that it describes.
    #[error("{found} {what} for {expected}: give one for each")]
    WrongCount {
        /// The listed items, in the plural.
        what: &'static str,
        /// Actual length of the list.
        found: usize,
        /// The described items.
        expected: String,
    },
    /// The text does not describe a network.
    #[error("\"{text}\" describes no network: {problem}")]
    NoNetwork {
        /// The text.
        text: String,
        /// The error and the expected content.
        problem: String,
    },
    /// No path of links joins two parts.
    #[error(
        "no path leads from {from} to {to}: the network is not connected; add the missing links"
    )]
    Unconnected {
        /// A position.
        from: String,
        /// A position that cannot be reached from there.
        to: String,
    },
    /// A host is at two positions.
    #[error("host {host} is in the network twice: keep one of the two")]
    HostTwice {
        /// The host.
        host: String,
    },
    /// A host of the job that is not in the network.
    #[error(
        "host {host} is not in the network, which has {known}: add it there or leave the network out"
    )]
    NotInNetwork {
        /// The host.
        host: String,
        /// Hosts of the network.
        known: String,
    },
    /// More machines than the network has nodes.
    #[error("{machines} machines for the {nodes} nodes of the network: use a larger network")]
    TooFewNodes {
        /// Machines to place.
        machines: usize,
        /// Existing nodes.
        nodes: usize,
    },
}

/// Builds the error of a parameter out of its range.
pub(super) fn out_of_range(
    what: impl Into<String>,
    found: impl ToString,
    expected: impl Into<String>,
) -> NetworkError {
    NetworkError::OutOfRange {
        what: what.into(),
        found: found.to_string(),
        expected: expected.into(),
    }
}

/// Refuses a name that would not fit on one line.
pub(super) fn require_name(of: &str, name: &str) -> Result<(), NetworkError> {
    let shown = one_line(name);
    match shown == name {
        true => Ok(()),
        false => {
            let what = format!("name of a {of}");
            Err(out_of_range(what, shown, "no control characters in it"))
        }
    }
}
