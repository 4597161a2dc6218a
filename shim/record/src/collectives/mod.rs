//! Collectives, one counter a call: how often each was called on a communicator, with which root
//! and which size, and which plan ran it in place of the native collective. The traffic that they
//! cause is expanded when the profile is read.
//!
//! If all ranks of a communicator know the same of a call, one of them reports it: rank 0, or the
//! root if only the root knows. If each rank knows only what itself sends (`MPI_Alltoallv`,
//! `MPI_Alltoallw`), each does.

mod count;
mod observe;
mod tallies;

pub use count::{Plan, is_reported, plan};
pub use observe::{Amount, CallTraffic, Reader, observe, observe_block};
pub use tallies::{Recent, Tallies};
