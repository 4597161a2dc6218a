//! Layout of a block, and the words by which the two sides of a channel answer each other.

use std::sync::atomic::Ordering;

use treepie_mpi::Word;

use crate::transport::board::Reads;
use crate::transport::ring::Ring;
use crate::transport::segment::{RingMemory, Slot};

/// Bytes in a block before the data.
pub(super) const HEAD: usize = 32;

impl Ring for RingMemory {
    fn blocks(&self) -> u64 {
        RingMemory::blocks(self)
    }

    fn filled(&self, block: u64) -> u64 {
        RingMemory::filled(self, block).load(Ordering::Acquire)
    }

    fn set_filled(&self, block: u64, count: u64) {
        RingMemory::filled(self, block).store(count, Ordering::Release);
    }

    fn emptied(&self) -> u64 {
        RingMemory::emptied(self).load(Ordering::Acquire)
    }

    fn set_emptied(&self, count: u64) {
        RingMemory::emptied(self).store(count, Ordering::Release);
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

/// Header that follows a block's first word.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Head {
    pub(super) call: u32,
    pub(super) tag: u32,
    pub(super) total: u64,
    pub(super) length: u32,
    pub(super) kind: u32,
}

/// Kind: the data are in the block.
pub(super) const FRAGMENT: u32 = 0;
/// Kind: the data are at the address of an [`Offer`].
pub(super) const OFFER: u32 = 1;

/// Kind: the data are in the slot of the sender's board whose number is in the block.
pub(super) const PUBLISHED: u32 = 2;

/// Address of a message in its sender, and its number among the sender's offers.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Offer {
    pub(super) address: Word,
    pub(super) number: u64,
}

/// Copies bytes; a single word, which many messages have, without a call.
///
/// # Safety
/// Those of `copy_nonoverlapping`, except that for 0 bytes both addresses are arbitrary.
#[inline(always)]
pub(super) unsafe fn copy_short(from: *const u8, into: *mut u8, length: usize) {
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

/// Returns the answer to an offer that was taken, or that is no longer wanted.
pub(super) fn taken(number: u64) -> u64 {
    2 * number + 1
}

/// Returns the answer to an offer that could not be taken.
pub(super) fn refused(number: u64) -> u64 {
    2 * number + 2
}

/// Answers an offer, after all reads of its data.
pub(super) fn answer(way: &RingMemory, number: u64, answer: fn(u64) -> u64) {
    way.answer(number).store(answer(number), Ordering::Release);
}
