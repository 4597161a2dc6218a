//! Recorded calls, and their results.

use std::fmt;

use strum::{Display, VariantArray};

/// Procedure whose result MPI leaves open. Those with large counts are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, VariantArray)]
pub enum CallKind {
    /// Receive that is complete when it returns.
    #[strum(serialize = "MPI_Recv")]
    Recv,
    /// Non-blocking receive.
    #[strum(serialize = "MPI_Irecv")]
    Irecv,
    /// Start of a persistent receive.
    #[strum(serialize = "MPI_Start")]
    Start,
    /// Combined send and receive.
    #[strum(serialize = "MPI_Sendrecv")]
    Sendrecv,
    /// Non-blocking combined send and receive.
    #[strum(serialize = "MPI_Isendrecv")]
    Isendrecv,
    /// Blocking probe with a wildcard.
    #[strum(serialize = "MPI_Probe")]
    Probe,
    /// Blocking probe with a wildcard, which takes the message.
    #[strum(serialize = "MPI_Mprobe")]
    Mprobe,
    /// Non-blocking probe.
    #[strum(serialize = "MPI_Iprobe")]
    Iprobe,
    /// Non-blocking probe, which takes the message.
    #[strum(serialize = "MPI_Improbe")]
    Improbe,
    /// Poll of a request.
    #[strum(serialize = "MPI_Test")]
    Test,
    /// Poll of all of several requests.
    #[strum(serialize = "MPI_Testall")]
    Testall,
    /// Query of a request.
    #[strum(serialize = "MPI_Request_get_status")]
    RequestGetStatus,
    /// Wait for any of several requests.
    #[strum(serialize = "MPI_Waitany")]
    Waitany,
    /// Poll of any of several requests.
    #[strum(serialize = "MPI_Testany")]
    Testany,
    /// Wait for some of several requests.
    #[strum(serialize = "MPI_Waitsome")]
    Waitsome,
    /// Poll of some of several requests.
    #[strum(serialize = "MPI_Testsome")]
    Testsome,
    /// Query of a partition of a message.
    #[strum(serialize = "MPI_Parrived")]
    Parrived,
    /// Poll for the end of an exposure epoch.
    #[strum(serialize = "MPI_Win_test")]
    WinTest,
}

impl CallKind {
    /// True if a call of this kind may have this result.
    pub(crate) fn may_find(self, outcome: &Outcome) -> bool {
        use CallKind::*;
        match outcome {
            Outcome::Nothing => matches!(
                self,
                Iprobe
                    | Improbe
                    | Test
                    | Testall
                    | RequestGetStatus
                    | Testany
                    | Testsome
                    | Parrived
                    | WinTest
            ),
            Outcome::Done => matches!(self, Test | Testall | RequestGetStatus | Parrived | WinTest),
            Outcome::Index(_) => matches!(self, Waitany | Testany),
            Outcome::Indices(_) => matches!(self, Waitsome | Testsome),
            Outcome::Inactive => matches!(self, Waitany | Testany | Waitsome | Testsome),
            Outcome::Probed { .. } => matches!(self, Probe | Mprobe | Iprobe | Improbe),
        }
    }
}

/// Properties of a call that are the same in each run of a program that takes the same path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// The procedure.
    pub kind: CallKind,
    /// Number of the communicator, in the order in which this rank first used them for such calls.
    pub communicator: Option<u32>,
    /// Number of elements of a receive, or of requests.
    pub count: u64,
}

impl fmt::Display for Call {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, count) = (self.kind, self.count);
        match self.communicator {
            Some(number) if count > 0 => {
                write!(out, "{kind} of {count} elements on communicator {number}")
            }
            Some(number) => write!(out, "{kind} on communicator {number}"),
            None if count == 0 => write!(out, "{kind}"),
            None if count == 1 => write!(out, "{kind} of 1 request"),
            None => write!(out, "{kind} of {count} requests"),
        }
    }
}

/// Result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing yet.
    Nothing,
    /// The polled operation is complete.
    Done,
    /// This request is complete.
    Index(u32),
    /// These requests are complete, in the order that was returned.
    Indices(Vec<u32>),
    /// No request is active.
    Inactive,
    /// A message; its tag if any tag matches.
    Probed {
        /// Its source in the communicator.
        source: i32,
        /// Its tag.
        tag: Option<i32>,
    },
}

/// Returns a message in words: `tag 7 from 3`.
pub(super) fn message(source: i32, tag: Option<i32>) -> String {
    match tag {
        Some(tag) => format!("a message with tag {tag} from rank {source}"),
        None => format!("a message from rank {source}"),
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Nothing => out.write_str("nothing yet"),
            Outcome::Done => out.write_str("done"),
            Outcome::Index(index) => write!(out, "the request at {index}"),
            Outcome::Indices(indices) => {
                let indices: Vec<String> = indices.iter().map(u32::to_string).collect();
                write!(out, "the requests at {}", indices.join(", "))
            }
            Outcome::Inactive => out.write_str("no active request"),
            Outcome::Probed { source, tag } => out.write_str(&message(*source, *tag)),
        }
    }
}
