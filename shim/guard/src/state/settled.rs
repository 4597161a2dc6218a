//! Cell that is left to the native MPI for good.

use crate::results::State;

/// Final state of a cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settled {
    /// State of the last candidate: dropped, proven, revoked or closed.
    pub reason: State,
}
