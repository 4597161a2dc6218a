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
pub use members::Members;
pub use messages::Unreceived;
pub(crate) use state::Channels;
pub use state::{
    Activity, Channel, Collective, Communicator, End, Envelope, Incomplete, Key, Life, Operation,
    Partner, RankState, Stop, Thread, Until,
};
pub use verdict::{Mismatch, Side, Verdict, VerdictKind, Wait, verdict};

/// Returns the name that all members give a communicator: derived from its members in their order,
/// and from its index among those with these members, from 1.
pub fn communicator_key(members: &[u32], which: u64) -> Key {
    // FNV-1a: the same on all machines.
    let hash = members.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &member| {
        let bytes = member.to_le_bytes();
        bytes.iter().fold(hash, |hash: u64, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    });
    hash.wrapping_add(which.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
