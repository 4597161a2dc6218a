//! The order of receives: recorded into a log, and replayed from one.
//!
//! Entry points call the functions of this file around the native MPI's, within `record`. These
//! functions get the parts of a call that MPI leaves open, choose values for them, and call the
//! native procedure:
//!
//! ```text
//! calls        a call as entry points pass it on
//! recording    writes the results of calls to the log
//! replaying    makes calls return the results in the log
//! requests     state of active requests
//! journal      the log of this process, in files that outlive it
//! watchdog     ends a replay that waits in vain
//! collect      logs of all ranks, to one file at the end and from one at the start
//! ```
//!
//! All calls of a process are in one order, which is defined as long as one thread receives. A
//! receive of a second thread ends a recording, and a replay.

mod calls;
mod calls_in_order;
mod collect;
mod end_job;
mod journal;
mod recorded;
mod recording;
mod replayed;
mod replaying;
mod requests;
mod watchdog;
mod work;

pub use calls::{CallKind, Receive};
pub use calls_in_order::{
    cancel, complete, free, look, poll, prepare, receive, replay, start, window,
};
pub use collect::{clear, distribute, end, record, write};
pub use replaying::Manner;
