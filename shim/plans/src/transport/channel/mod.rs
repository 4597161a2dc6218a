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
//! can't, it says so, and the message follows in fragments.
//!
//! A *published* message stands whole in a slot of its sender's board, for others too.
//!
//! Blocks say of which call they are. What a call that failed has left is dropped by the next one.

mod incoming;
mod outgoing;
#[cfg(test)]
mod tests;

use std::sync::atomic::Ordering;

use thiserror::Error;
use treepie_mpi::Word;

use super::board::Reads;
use super::ring::Ring;
use super::segment::{Slot, Way};
pub use incoming::Incoming;
pub use outgoing::Outgoing;

/// Bytes that stand in a block before the data.
const HEAD: usize = 32;

impl Ring for Way {
    fn blocks(&self) -> u64 {
        Way::blocks(self)
    }

    fn filled(&self, block: u64) -> u64 {
        Way::filled(self, block).load(Ordering::Acquire)
    }

    fn set_filled(&self, block: u64, count: u64) {
        Way::filled(self, block).store(count, Ordering::Release);
    }

    fn emptied(&self) -> u64 {
        Way::emptied(self).load(Ordering::Acquire)
    }

    fn set_emptied(&self, count: u64) {
        Way::emptied(self).store(count, Ordering::Release);
    }
}

impl Reads for Slot {
    fn ended(&self) -> u64 {
        self.reads().load(Ordering::Acquire)
    }

    fn end(&self) {
        self.reads().fetch_add(1, Ordering::Release);
    }
}

/// A message that came is longer than what was to be received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a message is longer than what is to be received")]
pub struct Truncated;

/// A message as a step has it.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    /// The step.
    pub step: u32,
    /// Which of the messages between the two processes it is.
    pub tag: u32,
    /// Where it is.
    pub address: Word,
    /// How long.
    pub bytes: usize,
}

/// What stands behind a block's first word.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Head {
    call: u32,
    tag: u32,
    total: u64,
    length: u32,
    kind: u32,
}

/// Data are in the block.
const FRAGMENT: u32 = 0;
/// Data are where an [`Offer`] says.
const OFFER: u32 = 1;

/// Data are in the slot of the sender's board whose number the block has.
const PUBLISHED: u32 = 2;

/// Where a message lies in its sender, and which of its offers it is.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Offer {
    address: Word,
    number: u64,
}

/// Copies bytes; one word, which many messages have, without a call.
///
/// # Safety
/// As `copy_nonoverlapping`, but for no bytes, which may be anywhere.
#[inline(always)]
unsafe fn copy_short(from: *const u8, into: *mut u8, length: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match length {
            0 => (),
            8 => into
                .cast::<u64>()
                .write_unaligned(from.cast::<u64>().read_unaligned()),
            _ => std::ptr::copy_nonoverlapping(from, into, length),
        }
    }
}

/// The answer to an offer that was taken, or that nobody wants any more.
fn taken(number: u64) -> u64 {
    2 * number + 1
}

/// The answer to an offer that could not be taken.
fn refused(number: u64) -> u64 {
    2 * number + 2
}

/// Answers an offer, after all that was read of it.
fn answer(way: Way, number: u64, answer: fn(u64) -> u64) {
    way.answer(number).store(answer(number), Ordering::Release);
}
