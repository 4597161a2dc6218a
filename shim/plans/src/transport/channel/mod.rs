//! Messages of a plan from one process to another, in the blocks of a ring: cut into fragments,
//! offered in the sender's memory, or published on a board.
//!
//! ```text
//! block: | filled | call, tag | bytes of the message | bytes in this block, kind | data ... |
//! ```
//!
//! *Fragments* of a message are consecutive, and messages are in the order in which their steps
//! start. A receiver matches them by tag, as an MPI does: a message that arrives before its receive
//! was started, while another is awaited, is held. So a plan that terminates with synchronous sends
//! terminates here.
//!
//! An *offer* contains the address of a message; the receiver copies it from there, and answers. If
//! it cannot, it refuses, and the message follows in fragments. Messages that are combined with the
//! receiver's data are combined directly from fragments.
//!
//! A *published* message is in one slot of its sender's board, for other receivers, too.
//!
//! Blocks contain the number of their call. Blocks that a failed call has left are dropped by the
//! next one.

mod incoming;
mod outgoing;
#[cfg(test)]
mod tests;
mod wire;

pub use incoming::Incoming;
pub use outgoing::{Long, Outgoing};
