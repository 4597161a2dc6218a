//! Counts traffic between ranks as the calls pass.
//!
//! Entry points call the functions of this file around the native MPI's. Each thread counts
//! separately (`thread`), in tables that grow with its partners (`counters`); rarely used data are
//! shared under locks (`registry`, `communicators`, `prepared`, `collectives`). Only successful
//! calls count, and only the application's: calls that a procedure makes internally, through public
//! names, are nested calls of the thread and are not counted.
#![forbid(unsafe_code)]

mod access_key;
mod around;
mod calls;
mod cancelled;
pub mod clock;
pub mod collect;
mod collectives;
mod communicators;
mod completion;
mod counters;
mod delays;
mod growing;
mod identity;
mod message;
mod neighbours;
mod objects;
mod one_sided;
pub mod page;
mod patience;
pub mod phases;
mod prepared;
mod prepared_request;
mod reading;
mod received;
mod registry;
mod shared_memory;
pub mod stream;
mod sums;
mod thread;
mod windows;

pub use around::{call, quietly};
pub use calls::{
    apart, begin, begin_delays, begin_send, begin_timing, cancel, collective, collective_init,
    complete, complete_watched, end, end_epoch, fetch, finalize, neighbourhood, neighbourhood_init,
    number_of, open_epoch, receive, receive_init, receive_watched, replaceable, send, send_init,
    send_receive, send_receive_watched, start, transfer, within_epoch,
};
pub use collectives::{Plan, plan};
pub use completion::Completion;
pub use message::Message;
pub use objects::{
    allocate_shared, communicator_end, communicator_start, request_end, window_end, window_start,
};
pub use one_sided::Transfer;
pub use page::{Note, Procedure, procedures};
pub use patience::{Limited, Unlimited};
pub use prepared::runs;
pub use received::Taken;
pub use registry::Registry;
