//! The calls that are recorded, and what they find.

use std::fmt;

use strum::{Display, VariantArray};

/// A procedure whose result MPI leaves open. Those with large counts are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, VariantArray)]
pub enum CallKind {
    /// A receive that is complete when it returns.
    #[strum(serialize = "MPI_Recv")]
    Recv,
    /// A receive that goes on.
    #[strum(serialize = "MPI_Irecv")]
    Irecv,
    /// The start of a persistent receive.
    #[strum(serialize = "MPI_Start")]
    Start,
    /// A send and a receive in one.
    #[strum(serialize = "MPI_Sendrecv")]
    Sendrecv,
    /// The same, that goes on.
    #[strum(serialize = "MPI_Isendrecv")]
    Isendrecv,
    /// A probe with a wildcard, that waits.
    #[strum(serialize = "MPI_Probe")]
    Probe,
    /// The same, which takes the message.
    #[strum(serialize = "MPI_Mprobe")]
    Mprobe,
    /// A probe that does not wait.
    #[strum(serialize = "MPI_Iprobe")]
    Iprobe,
    /// The same, which takes the message.
    #[strum(serialize = "MPI_Improbe")]
    Improbe,
    /// A poll of a request.
    #[strum(serialize = "MPI_Test")]
    Test,
    /// A poll of all of several requests.
    #[strum(serialize = "MPI_Testall")]
    Testall,
    /// A look at a request.
    #[strum(serialize = "MPI_Request_get_status")]
    RequestGetStatus,
    /// A wait for any of several requests.
    #[strum(serialize = "MPI_Waitany")]
    Waitany,
    /// A poll of any of several requests.
    #[strum(serialize = "MPI_Testany")]
    Testany,
    /// A wait for some of several requests.
    #[strum(serialize = "MPI_Waitsome")]
    Waitsome,
    /// A poll of some of several requests.
    #[strum(serialize = "MPI_Testsome")]
    Testsome,
    /// A look at a partition of a message.
    #[strum(serialize = "MPI_Parrived")]
    Parrived,
    /// A poll for the end of an exposure epoch.
    #[strum(serialize = "MPI_Win_test")]
    WinTest,
}

impl CallKind {
    /// Whether a call of this kind may find this.
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

/// A call, as far as it is the same in each run of a program that takes the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// The procedure.
    pub kind: CallKind,
    /// The communicator, by its number in the order in which this rank first used them so.
    pub communicator: Option<u32>,
    /// Elements of a receive, or requests.
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

/// What a call found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing yet.
    Nothing,
    /// What it polls for is done.
    Done,
    /// This request is complete.
    Index(u32),
    /// These requests are complete, in the order that was returned.
    Indices(Vec<u32>),
    /// No request is active.
    Inactive,
    /// A message; its tag where any would do.
    Probed {
        /// Its source in the communicator.
        source: i32,
        /// Its tag.
        tag: Option<i32>,
    },
}

/// A message in words: `tag 7 from 3`.
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
