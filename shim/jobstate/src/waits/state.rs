//! What is known of each rank: in which calls its threads are, and with whom.

use std::collections::BTreeMap;
use treepie_base::Rank;

use serde::{Deserialize, Serialize};

use super::members::Members;

/// A communicator as all of its members call it.
pub type Key = u64;

/// Who may have sent a message, or who is to get it: a rank of the application's world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Partner {
    /// This rank.
    Rank(Rank),
    /// Any member of the communicator (`MPI_ANY_SOURCE`).
    Any,
    /// Nobody (`MPI_PROC_NULL`).
    Nobody,
    /// Somebody who is not known: a process of another world, or a communicator that pages have no
    /// place for.
    Unknown,
}

/// What a message is matched by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// The communicator, if it is known.
    pub communicator: Option<Key>,
    /// The other side.
    pub partner: Partner,
    /// The tag; `None` for `MPI_ANY_TAG`.
    pub tag: Option<i32>,
    /// Elements of a message that is sent; 0 of others.
    pub elements: u64,
}

impl Envelope {
    /// Whether a message with this communicator and tag is one that this receive takes.
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
    /// How many were on it before, on this rank.
    pub number: u64,
    /// The operation, alike in all forms; the procedure's name where it is none of MPI's
    /// operations.
    pub operation: String,
    /// The root, where the operation has one: a rank of the communicator.
    pub root: Option<i32>,
}

/// What is under way until somebody else does something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// A receive, or a probe.
    Receive(Envelope),
    /// A send.
    Send(Envelope),
    /// A collective.
    Collective(Collective),
    /// Something of which nobody says what.
    Unknown,
}

/// A request that was begun and not completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incomplete {
    /// The procedure that made it.
    pub procedure: String,
    /// Its operation.
    pub operation: Operation,
}

/// What ends a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// The end of all of its operations.
    All,
    /// The end of one of them.
    Any,
}

/// What a thread is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activity {
    /// It is not in MPI.
    Outside,
    /// A call that waits for others.
    Waits {
        /// What for.
        operations: Vec<Operation>,
        /// Until when.
        until: Until,
        /// Whether earlier calls began them (`MPI_Waitall`), so that some may be done.
        begun: bool,
    },
    /// `MPI_Finalize`, which waits for all others to get there.
    Finalizes,
    /// A call of which pages do not know what it waits for.
    InCall,
}

/// A thread that calls MPI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// Its area of the page.
    pub area: usize,
    /// Number of the call; polls that find nothing have none of their own.
    pub number: u64,
    /// Polls so far.
    pub polls: u64,
    /// The procedure that it is in, or was in last; empty before the first.
    pub procedure: String,
    /// Whether the procedure comes back at once, done or not.
    pub is_poll: bool,
    /// Whether it is in a call.
    pub inside: bool,
    /// What it does; of polls what they ask for, also between them.
    pub activity: Activity,
    /// Since when, in nanoseconds since 1970; 0 where that is not known.
    pub since: u64,
    /// The last messages that it sent, the latest last.
    pub last_sends: Vec<Envelope>,
    /// Messages that it sent in all.
    pub sends: u64,
}

/// How a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Life {
    /// It runs.
    Runs,
    /// It runs, and took no processor time between the looks.
    Sleeps,
    /// The same; one of its threads is in a read of standard input.
    ReadsInput,
    /// It is stopped (SIGSTOP, a debugger).
    Stopped,
    /// It is no more, and had not come to its end.
    Gone,
}

/// How a process said that it ends without `MPI_Finalize`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// `MPI_Abort`.
    Aborts,
    /// `exit` or `_exit`.
    Exits,
    /// This signal.
    Signal(i32),
}

/// Messages between two ranks, as one of them counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// Messages sent to the other.
    pub sent: u64,
    /// Receives posted that name the other.
    pub posted: u64,
    /// Bytes sent to the other.
    pub sent_bytes: u64,
    /// Messages received from the other; counted only where ranks may be stopped at a cut.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
}

/// What a rank sent and received, in calls that have returned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channels {
    /// By partner.
    pub with: BTreeMap<Rank, Channel>,
    /// Receives posted from any source.
    pub posted_any: u64,
}

/// A communicator, as one of its members knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Communicator {
    /// Ranks of the world, where they are known; of an inter-communicator those of the other side.
    pub members: Option<Members>,
    /// Ranks in it.
    pub size: usize,
    /// Whether it is an inter-communicator.
    pub inter: bool,
    /// Collectives that have returned on it.
    pub done: u64,
    /// The last of them.
    pub last: Vec<Collective>,
}

/// What a rank says that may be stopped at a cut (see [`crate::cut`]).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// It stands before its next call, and begins it when it may.
    pub stopped: bool,
    /// Receives that were begun and are not complete.
    pub receives: u64,
    /// Collectives that were begun and are not complete.
    pub collectives: u64,
    /// What it does that a cut can't include.
    pub refused: Option<String>,
    /// Its counts are final: it is in `MPI_Finalize`.
    pub ended: bool,
}

/// A rank, as its page says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankState {
    /// Its number in the application's world.
    pub rank: Rank,
    /// The host.
    pub host: String,
    /// The process.
    pub process: u32,
    /// How the process is.
    pub life: Life,
    /// How it said that it ends.
    pub end: Option<End>,
    /// The last sign of life, in nanoseconds since 1970.
    pub tick: u64,
    /// Its threads that call MPI.
    pub threads: Vec<Thread>,
    /// Threads of which the page says nothing.
    pub more_threads: u64,
    /// Its communicators.
    pub communicators: BTreeMap<Key, Communicator>,
    /// Requests that it has begun and not completed, of a rank in `MPI_Finalize`.
    pub incomplete: Vec<Incomplete>,
    /// What it sent and received; `None` where that was not counted at the time.
    pub channels: Option<Channels>,
    /// Whether and where it is stopped; `None` where it never is.
    pub stop: Option<Stop>,
}

impl RankState {
    /// The calls of all threads; polls are none.
    pub fn calls(&self) -> u64 {
        self.threads.iter().map(|thread| thread.number).sum()
    }

    /// Whether every thread is in the call, or behind the one, in which the other look found it.
    pub fn is_in_the_calls_of(&self, other: &RankState) -> bool {
        let call = |thread: &Thread| (thread.area, thread.number, thread.inside);
        let own = self.threads.iter().map(call);
        own.eq(other.threads.iter().map(call))
    }
}
