//! Messages of plans through memory that the processes of a host share, instead of the MPI's.
//!
//! ```text
//! join      who shares memory: made by one process of a host, agreed by all of it
//! arrivals  what an execution does with what has come: kept, or combined with what is there
//! memory    the ways of a communicator, as the executor uses them
//! channel   messages on a way: fragments, offers and what is published, matched by tag
//! board     messages that several ranks read where they were written once
//! copy      one copy from another process's memory
//! stream    copies past the caches
//! ring      who may touch which block, and when
//! segment   the memory itself
//! ```
//!
//! The executor asks for each message whether its partner is reached this way
//! ([`Memory::reaches`]), which both know alike: all ranks of a host that are in a communicator
//! share a segment, or none. What lies in a device's memory never comes here: a plan runs on memory
//! that the processor reads.

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
