//! Page of this rank: a file in memory that holds its current call, partner and start time.
//! `treepie why` reads it, while the job runs or after it was killed, without the help of this
//! process.
//!
//! ```text
//! around a call    `calls`        a few plain stores, into lines that no other thread writes
//! occasionally     `places`       communicators and their members
//! twice a second   `tick`         a separate thread: start times, and messages by partner
//! before a call    `stop`         waits, if all ranks are to be at one cut
//! ```
//!
//! The hot path reads no clock: stalled threads are detected from outside.

mod calls;
mod channels;
mod memory;
mod note;
pub mod places;
pub mod procedures;
mod stop;
mod this_page;
mod tick;
mod words;

pub use calls::Area;
pub use memory::PageError;
pub use note::{Note, Procedure};
pub use places::CommunicatorEntry;
pub use stop::{refuse, say_open, stop_before, window_ended, window_made};
pub use this_page::{Run, aborts, begin, end, ends_by_signal, exits};
