//! Analysis of a hanging job: the wait-for graph, from the activity of each rank.
//!
//! Two readings of all ranks, of which the second begins when the first has ended, are a consistent
//! cut without stopping any rank (a double collect): a rank whose calls are the same in both was in
//! that call, and its counters had these values, at the moment between the readings. A rank that
//! made a call meanwhile is not stuck, and no conclusion is drawn from its activity. A wave of
//! markers (Chandy and Lamport 1985) would also record moving ranks; no verdict needs that, and at
//! the level of calls no marker can follow a message.
//!
//! ```text
//! state      the activity of each rank
//! members    ranks of a communicator
//! key        names of communicators, the same on all of their members
//! job        all ranks, and their motion between two readings
//! messages   messages that were sent and not received, by counts and by the last sends
//! needs      the ranks that a thread waits for: all of some ranks, or any of some ranks
//! verdict    the ranks that can never continue, and the reason
//! ```
//!
//! A rank waits for *all* of some ranks (`MPI_Recv` from a rank, `MPI_Waitall`, collectives) or for
//! *any* of some (`MPI_ANY_SOURCE`, `MPI_Waitany`): the wait-for graph has both, as MUST's has
//! (Hilbrich et al., SC 2013). If pages do not show whether a wait is over, it is assumed to be
//! over: every reported deadlock is a real one.

mod job;
mod key;
mod members;
mod messages;
mod needs;
mod state;
mod verdict;

#[cfg(test)]
pub(crate) mod model;
#[cfg(test)]
mod tests;

pub use job::{Job, Motion, ObservedRank};
pub use key::{Key, communicator_key};
pub use members::Members;
pub use messages::Unreceived;
pub(crate) use state::Channels;
pub use state::{
    Activity, Channel, Collective, Communicator, End, Envelope, Incomplete, Life, Operation,
    Partner, RankState, Stop, Thread, Until,
};
pub use verdict::{Mismatch, Side, Verdict, VerdictKind, Wait, verdict};
