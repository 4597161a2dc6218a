//! A cell that is left to the native MPI for good.

use crate::results::State;

/// The end of a cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settled {
    /// State of the last candidate: dropped, proven, taken back or closed.
    pub reason: State,
}
