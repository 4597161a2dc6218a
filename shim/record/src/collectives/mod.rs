//! Collectives, with one counter for each distinct call: the number of calls on a communicator,
//! with their root and size, and the plan that replaced the native collective. Their traffic is
//! expanded when the profile is read.
//!
//! If all ranks of a communicator know the same of a call, one of them reports it: rank 0, or the
//! root if only the root knows. If each rank knows only the amounts that it sends itself
//! (`MPI_Alltoallv`, `MPI_Alltoallw`), each does.

mod count;
mod observe;
mod tallies;

pub use count::{Plan, is_reported, plan};
pub use observe::{Amount, CallTraffic, Reader, observe, observe_block};
pub use tallies::{Recent, Tallies};
