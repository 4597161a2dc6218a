//! Parts of a communicator of ours that outlast their owner.

use std::sync::atomic::AtomicU32;

use treepie_mpi::native::OwnComm;

use crate::started_calls::StartedCalls;

/// Parts that a communicator of ours takes over from one that was left: the MPI's communicator, and
/// the numbers of its calls, so that no tag is met again.
pub struct Kept {
    pub(super) private: OwnComm,
    pub(super) calls: AtomicU32,
    pub(super) started: StartedCalls,
    pub(super) number: u64,
}

impl Kept {
    /// A new communicator of the MPI's, which has no number yet.
    pub fn new(private: OwnComm) -> Self {
        Kept {
            private,
            calls: AtomicU32::new(0),
            started: StartedCalls::default(),
            number: 0,
        }
    }
}
