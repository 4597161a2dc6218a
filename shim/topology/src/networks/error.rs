//! Errors of descriptions of networks.

use thiserror::Error;
use treepie_base::printable::one_line;

use super::fabric::POSITION_LIMIT;

/// Reason why a network could not be made.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum NetworkError {
    /// No dimension, no switch, or no host.
    #[error("the network is empty: give at least one {what}")]
    Empty {
        /// What is missing.
        what: &'static str,
    },
    /// A number that is too small or too large.
    #[error("{what} is {found}: expected {expected}")]
    OutOfRange {
        /// The parameter.
        what: String,
        /// Its value.
        found: String,
        /// What it can be.
        expected: String,
    },
    /// More positions than this program handles.
    #[error("the network has more than {POSITION_LIMIT} positions: check its parameters")]
    TooLarge,
    /// A list has another length than what it describes.
    #[error("{found} {what} for {expected}: give one for each")]
    WrongCount {
        /// The listed items, in the plural.
        what: &'static str,
        /// The number given.
        found: usize,
        /// What they describe.
        expected: String,
    },
    /// Text that describes no network.
    #[error("\"{text}\" describes no network: {problem}")]
    NoNetwork {
        /// The text.
        text: String,
        /// What is wrong and what was expected.
        problem: String,
    },
    /// Parts that no link joins.
    #[error("no way leads from {from} to {to}: the network falls apart, add the missing links")]
    Unconnected {
        /// A position.
        from: String,
        /// One that cannot be reached from there.
        to: String,
    },
    /// A host that is at two positions.
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
        /// Hosts that are.
        known: String,
    },
    /// More machines than the network has room for.
    #[error("{machines} machines for the {nodes} nodes of the network: use a larger network")]
    TooFewNodes {
        /// Machines to place.
        machines: usize,
        /// Nodes there are.
        nodes: usize,
    },
}

/// A parameter out of its range.
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

/// Refuses a name that does not stay on its line where it is shown.
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
