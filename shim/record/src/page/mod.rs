//! The page of this rank: a file in memory that says in which call it is, with whom, and since
//! when. `treepie why` reads it, while the job runs or when it was killed; nobody has to ask this
//! process.
//!
//! ```text
//! around a call    `calls`        a few plain stores, into lines that no other thread writes
//! now and then     `places`       communicators and their members
//! twice a second   `tick`         a thread of its own: since when, and messages by partner
//! before a call    `stop`         waits, where all ranks are to be at one cut
//! ```
//!
//! The hot path has no clock: who stands still is seen from outside.

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
