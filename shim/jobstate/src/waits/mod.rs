//! Why a job hangs: who waits for whom, of what each rank is doing.
//!
//! Two looks at all ranks, of which the second begins when the first has ended, are a consistent
//! cut without stopping anybody (a double collect): a rank whose calls are the same in both was in
//! that call, and its counters were what they are, at the moment between the looks. A rank that
//! made a call meanwhile is not stuck, and nothing is concluded from what it does. A wave of
//! markers (Chandy and Lamport 1985) would record what moves, too; no verdict needs that, and a
//! marker can't be put behind a message at the level of calls.
//!
//! ```text
//! state      what each rank is doing
//! members    the ranks of a communicator
//! job        all ranks, and who moved between two looks
//! messages   which messages were sent and not received, by counts and by the last sends
//! needs      what a thread waits for: all of some ranks, or any of some ranks
//! verdict    who can't go on whatever happens, and why
//! ```
//!
//! A rank waits for *all* of some ranks (`MPI_Recv` from a rank, `MPI_Waitall`, collectives) or for
//! *any* of some (`MPI_ANY_SOURCE`, `MPI_Waitany`): the wait-for graph has both, as MUST's has
//! (Hilbrich et al., SC 2013). Where pages can't tell whether a wait is over, it is taken for over:
//! a deadlock that is reported is one.

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

/// What all members call a communicator: made of its members in their order, and of which one with
/// these members it is, from 1 on.
pub fn communicator_key(members: &[u32], which: u64) -> Key {
    // FNV-1a: alike on all machines.
    let hash = members.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &member| {
        let bytes = member.to_le_bytes();
        bytes.iter().fold(hash, |hash: u64, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    });
    hash.wrapping_add(which.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
