//! Holds back the small puts and accumulates of an epoch, and sends them to their target together.
//!
//! A put is complete when its epoch or a flush ends, and until then no process may read its target
//! (MPI-4.1, 12.5 and 12.7); puts are not ordered with respect to other puts and gets. So small
//! puts can be copied and held back until then, and sent to the target as one put. Calls that
//! cannot wait, or could observe the difference, go to the MPI immediately, after the pending
//! updates that overlap them:
//!
//! | call | action |
//! |---|---|
//! | put, accumulate of one predefined operation | held back, if small, contiguous and legal |
//! | get, fetch, `MPI_Rput` and the like, other calls to a target | after updates that overlap it |
//! | flush, unlock of a target | after all updates for it |
//! | fence, complete, unlock and flush of all, sync, free | after all updates in the window |
//!
//! Accumulates of one origin to one location keep their order: overlapping updates are never
//! joined, and one batch has one operation and one datatype. The MPI still reports its errors at
//! the call: outside of an epoch, or with a wrong rank, count, type or displacement, a call goes to
//! the MPI.
//!
//! The only lock held over a call of the MPI is that of one target, over the puts and accumulates
//! to it: a thread that waits for it waits for the same event as the other thread's call to this
//! target.

mod access;
mod exchange;
mod gathering;
mod judged;
mod reached;
mod synchronisation;
mod target;
mod window;

pub use access::{accumulate, pass, put};
pub use exchange::Shape;
pub use gathering::{Gathering, begin, end, end_guards, guard_results};
pub use reached::Reached;
pub use synchronisation::{
    complete, fence, flush, flush_all, free, lock, lock_all, made, start, sync, unlock, unlock_all,
};
