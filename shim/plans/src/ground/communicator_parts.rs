//! Parts of a private communicator that outlast their owner.

use std::sync::atomic::AtomicU32;

use treepie_mpi::native::OwnComm;

use crate::started_calls::StartedCalls;

/// Parts that a private communicator takes over from one whose owner was freed: the MPI's
/// communicator, and the numbers of its calls, so that no tag is in use twice.
pub struct CommunicatorParts {
    pub(super) private: OwnComm,
    pub(super) calls: AtomicU32,
    pub(super) started: StartedCalls,
    pub(super) number: u64,
}

impl CommunicatorParts {
    /// Creates the parts from a new MPI communicator, which has no number yet.
    pub fn new(private: OwnComm) -> Self {
        CommunicatorParts {
            private,
            calls: AtomicU32::new(0),
            started: StartedCalls::default(),
            number: 0,
        }
    }
}
