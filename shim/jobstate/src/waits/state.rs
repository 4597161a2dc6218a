//! State of each rank: the calls that its threads are in, and their partners.

use std::collections::BTreeMap;
use treepie_base::Rank;

use serde::{Deserialize, Serialize};

use super::key::Key;
use super::members::Members;

/// Possible senders of a message, or its receiver: a rank of the application's world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Partner {
    /// This rank.
    Rank(Rank),
    /// Any member of the communicator (`MPI_ANY_SOURCE`).
    Any,
    /// No process (`MPI_PROC_NULL`).
    Nobody,
    /// Unknown: a process of another world, or of a communicator without an entry in pages.
    Unknown,
}

/// Fields by which a message is matched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// The communicator, if it is known.
    pub communicator: Option<Key>,
    /// Partner of the message.
    pub partner: Partner,
    /// The tag; `None` for `MPI_ANY_TAG`.
    pub tag: Option<i32>,
    /// Number of elements of a message that is sent; 0 for others.
    pub elements: u64,
}

impl Envelope {
    /// True if this receive matches a message with this communicator and tag.
    pub fn takes(&self, sent: &Envelope) -> bool {
        let same = self.communicator == sent.communicator;
        same && (self.tag.is_none() || self.tag == sent.tag)
    }
}

/// One collective on a communicator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collective {
    /// The communicator, if it is known.
    pub communicator: Option<Key>,
    /// Number of earlier collectives on it, on this rank.
    pub number: u64,
    /// Operation, the same in all forms; the procedure's name if it is not a known collective.
    pub operation: String,
    /// Root, if the operation has one: a rank of the communicator.
    pub root: Option<i32>,
}

/// Operation that cannot complete without another rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// A receive, or a probe.
    Receive(Envelope),
    /// A send.
    Send(Envelope),
    /// A collective.
    Collective(Collective),
    /// An unknown operation.
    Unknown,
}

/// Request that was begun and not completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incomplete {
    /// Procedure that created it.
    pub procedure: String,
    /// Its operation.
    pub operation: Operation,
}

/// Condition that ends a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// The end of all of its operations.
    All,
    /// The end of one of them.
    Any,
}

/// Activity of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activity {
    /// It is not in MPI.
    Outside,
    /// It is in a call that waits for others.
    Waits {
        /// Operations that it waits for.
        operations: Vec<Operation>,
        /// Condition that ends it.
        until: Until,
        /// True if earlier calls began them (`MPI_Waitall`), so that some may be complete.
        begun: bool,
    },
    /// It is in `MPI_Finalize`, which waits for all others.
    Finalizes,
    /// It is in a call whose condition pages do not show.
    InCall,
}

/// Thread that calls MPI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// Index of its area in the page.
    pub area: usize,
    /// Number of the call; polls that find nothing have no number.
    pub number: u64,
    /// Number of polls so far.
    pub polls: u64,
    /// Procedure that it is in, or was in last; empty before the first.
    pub procedure: String,
    /// True if the procedure returns immediately, complete or not.
    pub is_poll: bool,
    /// True if it is in a call.
    pub inside: bool,
    /// Its activity; of polls their operations, also between two of them.
    pub activity: Activity,
    /// Time since which it is unchanged, in nanoseconds since 1970; 0 if unknown.
    pub since: u64,
    /// Last messages that it sent, the latest last.
    pub last_sends: Vec<Envelope>,
    /// Total number of messages that it sent.
    pub sends: u64,
}

/// State of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Life {
    /// It runs.
    Runs,
    /// It runs, and took no processor time between the readings.
    Sleeps,
    /// It runs without processor time, and one of its threads is in a read of standard input.
    ReadsInput,
    /// It is stopped (SIGSTOP, a debugger).
    Stopped,
    /// It has ended prematurely.
    Gone,
}

/// End without `MPI_Finalize` that a process announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// `MPI_Abort`.
    Aborts,
    /// `exit` or `_exit`.
    Exits,
    /// A signal.
    Signal(i32),
}

/// Messages between two ranks, as one of them counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// Number of messages sent to the other.
    pub sent: u64,
    /// Number of receives posted that name the other.
    pub posted: u64,
    /// Bytes sent to the other.
    pub sent_bytes: u64,
    /// Number of messages received from the other; counted only if ranks may be stopped at a cut.
    pub received: u64,
    /// Bytes received from the other.
    pub received_bytes: u64,
}

/// Messages that a rank sent and received, in calls that have returned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channels {
    /// Channels by partner.
    pub with: BTreeMap<Rank, Channel>,
    /// Number of receives posted from any source.
    pub posted_any: u64,
}

/// Communicator, as one of its members knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Communicator {
    /// Ranks of the world, if they are known; for an inter-communicator those of the remote group.
    pub members: Option<Members>,
    /// Number of ranks in it.
    pub size: usize,
    /// True if it is an inter-communicator.
    pub inter: bool,
    /// Number of collectives that have returned on it.
    pub done: u64,
    /// Last ones of them.
    pub last: Vec<Collective>,
}

/// State of a rank that may be stopped at a cut (see [`crate::cut`]).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// True if it waits before its next call, and begins it when it may.
    pub stopped: bool,
    /// Number of receives that were begun and are not complete.
    pub receives: u64,
    /// Number of collectives that were begun and are not complete.
    pub collectives: u64,
    /// Its action that a cut cannot include.
    pub refused: Option<String>,
    /// True if its counts are final: it is in `MPI_Finalize`.
    pub ended: bool,
}

/// Rank, as its page shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankState {
    /// Rank in the application's world.
    pub rank: Rank,
    /// Name of the host.
    pub host: String,
    /// Number of the process.
    pub process: u32,
    /// State of the process.
    pub life: Life,
    /// End that it announced.
    pub end: Option<End>,
    /// Last sign of life, in nanoseconds since 1970.
    pub tick: u64,
    /// Its threads that call MPI.
    pub threads: Vec<Thread>,
    /// Number of threads without an area in the page.
    pub more_threads: u64,
    /// Its communicators.
    pub communicators: BTreeMap<Key, Communicator>,
    /// Requests that it has begun and not completed, if it is in `MPI_Finalize`.
    pub incomplete: Vec<Incomplete>,
    /// Messages that it sent and received; `None` if they were not up to date.
    pub channels: Option<Channels>,
    /// State at a cut; `None` if it is never stopped.
    pub stop: Option<Stop>,
}

impl RankState {
    /// Returns the number of calls of all threads, without polls.
    pub fn calls(&self) -> u64 {
        self.threads.iter().map(|thread| thread.number).sum()
    }

    /// True if every thread is in the same call as in the other reading, or after the same one.
    pub fn is_in_the_calls_of(&self, other: &RankState) -> bool {
        let call = |thread: &Thread| (thread.area, thread.number, thread.inside);
        let own = self.threads.iter().map(call);
        own.eq(other.threads.iter().map(call))
    }
}
