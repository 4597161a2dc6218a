//! The order of receives: recorded into a log, and replayed from one.
//!
//! Entry points call the functions of this file around the native MPI's, within `record`. They are
//! told what MPI leaves open of a call, and call the native procedure with what they choose:
//!
//! ```text
//! calls        a call as entry points tell it
//! recording    what a call gave goes into the log
//! replaying    a call gives what the log says
//! requests     what is known of requests under way
//! journal      the log of this process, in files that outlive it
//! watchdog     ends a replay that waits for what does not come
//! collect      logs of all ranks, to one file at the end and from one at the start
//! ```
//!
//! All calls of a process are in one order, which holds while one thread receives. What a second
//! thread does ends a recording, and a replay.

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
