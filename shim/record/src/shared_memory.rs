//! Processes that share memory: `MPI_Win_allocate_shared` only works within a node, so that a
//! placement must keep them together.

use std::collections::BTreeSet;

use once_cell::sync::Lazy;
use parking_lot::Mutex;
use treepie_mpi::Comm;
use treepie_profile::partial_profiles::{Encoder, Sink};

use super::communicators;
use super::patience::Patience;

/// World ranks of the communicators on which shared memory was allocated, if this process is the
/// first of them.
static GROUPS: Lazy<Mutex<BTreeSet<Vec<u32>>>> = Lazy::new(Mutex::default);

/// Notes that a window of shared memory was allocated on `comm`.
pub fn allocated(comm: Comm) {
    if let Some(communicator) = communicators::find(comm)
        && let Some(group) = communicator.group_if_first()
    {
        GROUPS.lock().insert(group.to_vec());
    }
}

/// Writes the groups. Nothing is allocated.
pub fn encode<S: Sink>(patience: impl Patience, encoder: &mut Encoder<'_, S>) {
    if let Some(groups) = patience.acquire(|| GROUPS.try_lock()) {
        for group in groups.iter() {
            encoder.shared_memory(group);
        }
    }
}
