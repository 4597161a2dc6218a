//! Messages of plans through memory that the processes of a host share, instead of the MPI's.
//!
//! ```text
//! join      ranks that share memory, which one process of a host makes and all agree on
//! arrivals  handling of received messages: stored, or combined with local data
//! memory    channels of a communicator, as the executor uses them
//! channel   messages in a channel: fragments, offers and published ones, matched by tag
//! board     messages that are written once and read by several ranks
//! copy      one copy from another process's memory
//! stream    copies past the caches
//! ring      rules for access to blocks
//! segment   the memory itself
//! ```
//!
//! The executor tests for each message whether its partner is reached through memory
//! ([`Memory::reaches`]); both sides get the same result: all ranks of a host that are in a
//! communicator share a segment, or none. Data in a device's memory never comes here: a plan runs
//! on memory that the processor can read.

mod arrivals;
mod board;
mod channel;
mod copy;
mod join;
mod memory;
mod message;
mod ring;
mod segment;
mod stream;
#[cfg(test)]
mod tests;

pub use arrivals::{Arrivals, FRAGMENT_UNIT};
pub use join::{Located, join, located};
pub use memory::Memory;
pub use message::Message;
