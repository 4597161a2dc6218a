//! Messages of a plan from one process to another, in the blocks of a ring: cut into fragments,
//! offered where they lie, or published on a board.
//!
//! ```text
//! block: | filled | call, tag | bytes of the message | bytes in this block, kind | data ... |
//! ```
//!
//! *Fragments* of a message stand one behind the other, and messages in the order in which their
//! steps start. A receiver takes them by tag, as an MPI does: what comes before its receive was
//! started while another is waited for is held. So a plan that ends where each send waits for its
//! receive ends here.
//!
//! An *offer* says where a message lies; the receiver copies it from there, and answers. Where it
//! can't, it says so, and the message follows in fragments. What is combined with what the receiver
//! has is combined straight from fragments.
//!
//! A *published* message stands whole in a slot of its sender's board, for others too.
//!
//! Blocks say of which call they are. What a call that failed has left is dropped by the next one.

mod incoming;
mod outgoing;
#[cfg(test)]
mod tests;
mod wire;

pub use incoming::Incoming;
pub use outgoing::{Long, Outgoing};
