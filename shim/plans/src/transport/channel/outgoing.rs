//! Sender's side of a channel.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use super::wire::{FRAGMENT, HEAD, Head, OFFER, Offer, PUBLISHED, copy_short, refused, taken};
use crate::transport::message::Message;
use crate::transport::ring::Writer;
use crate::transport::segment::{ANSWERS, RingMemory};

/// Transfer of a message that is long enough to be offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Long {
    /// The receiver copies it, if the system permits it.
    Offered,
    /// Sender and receiver copy it concurrently, through blocks.
    InBlocks,
}

/// Message that waits for blocks.
#[derive(Debug)]
struct Waiting {
    message: Message,
    done: usize,
    is_offered: bool,
}

/// Messages from this process to another.
#[derive(Debug)]
pub struct Outgoing {
    way: RingMemory,
    writer: Writer,
    call: u32,
    waiting: VecDeque<Waiting>,
    offered: Vec<(u64, Message)>,
    offers: u64,
    /// Length in bytes from which messages are offered.
    offers_from: usize,
}

impl Outgoing {
    /// Creates the sender's side of this channel, with offers of messages from this length on.
    pub fn new(way: RingMemory, offers_from: usize) -> Self {
        Outgoing {
            way,
            writer: Writer::default(),
            call: 0,
            waiting: VecDeque::new(),
            offered: Vec::new(),
            offers: 0,
            offers_from,
        }
    }

    /// Begins a call, unless it has begun.
    #[inline]
    pub fn begin_if_new(&mut self, call: u32) {
        if self.call != call {
            self.begin(call);
        }
    }

    /// Begins a call. Pending messages of other calls are dropped.
    pub fn begin(&mut self, call: u32) {
        self.call = call;
        self.waiting.clear();
        self.offered.clear();
    }

    /// True if no message is pending.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.offered.is_empty()
    }

    /// Sends a message, a long one by `long`; calls `complete` with its step when its memory may be
    /// used again.
    ///
    /// # Safety
    /// The message stays valid until then.
    #[inline]
    pub unsafe fn send(&mut self, message: Message, long: Long, complete: &mut impl FnMut(u32)) {
        let is_offered = long == Long::Offered && message.bytes >= self.offers_from;
        if message.bytes <= self.way.block_bytes() - HEAD
            && !is_offered
            && self.waiting.is_empty()
            && let Some(block) = self.writer.free_block(&self.way)
        {
            let head = Head {
                call: self.call,
                tag: message.tag,
                total: message.bytes as u64,
                length: message.bytes as u32,
                kind: FRAGMENT,
            };
            // SAFETY: the block is the writer's, and is large enough; the message is the sender's.
            unsafe { self.fill(block, head, message.address as *const u8) };
            complete(message.step);
            return;
        }
        self.waiting.push_back(Waiting {
            message,
            done: 0,
            is_offered,
        });
        self.write(complete);
    }

    /// True if a message can be sent now.
    pub fn is_free(&mut self) -> bool {
        self.waiting.is_empty() && self.writer.free_block(&self.way).is_some()
    }

    /// Notifies the receiver of a message in a slot of this process's board, if
    /// [`Outgoing::is_free`].
    pub fn publish(&mut self, message: &Message, slot: usize) {
        let Some(block) = self.writer.free_block(&self.way) else {
            debug_assert!(false, "asked before");
            return;
        };
        let head = Head {
            call: self.call,
            tag: message.tag,
            total: message.bytes as u64,
            length: size_of::<usize>() as u32,
            kind: PUBLISHED,
        };
        // SAFETY: the block is the writer's, and is large enough for a number.
        unsafe { self.fill(block, head, (&raw const slot).cast()) };
    }

    /// Advances pending messages; true on any progress.
    pub fn go_on(&mut self, complete: &mut impl FnMut(u32)) -> bool {
        let answered = !self.offered.is_empty() && self.read_answers(complete);
        self.write(complete) || answered
    }

    fn read_answers(&mut self, complete: &mut impl FnMut(u32)) -> bool {
        let before = self.offered.len();
        let (way, waiting) = (&self.way, &mut self.waiting);
        self.offered.retain(|&(number, message)| {
            // The receiver has read the message before it answers.
            let answer = way.answer(number).load(Ordering::Acquire);
            if answer == taken(number) {
                complete(message.step);
            } else if answer == refused(number) {
                waiting.push_back(Waiting {
                    message,
                    done: 0,
                    is_offered: false,
                });
            } else {
                return true;
            }
            false
        });
        self.offered.len() < before
    }

    fn write(&mut self, complete: &mut impl FnMut(u32)) -> bool {
        let mut went_on = false;
        while let Some(waiting) = self.waiting.front_mut() {
            let Some(block) = self.writer.free_block(&self.way) else {
                break;
            };
            went_on = true;
            let Waiting { message, done, .. } = *waiting;
            let mut head = Head {
                call: self.call,
                tag: message.tag,
                total: message.bytes as u64,
                length: size_of::<Offer>() as u32,
                kind: OFFER,
            };
            let slot = |number: u64| number % ANSWERS as u64;
            let is_free = |(number, _): &(u64, Message)| slot(*number) != slot(self.offers);
            let offer = Offer {
                address: message.address,
                number: self.offers,
            };
            let is_offered = waiting.is_offered && done == 0 && self.offered.iter().all(is_free);
            let data = match is_offered {
                true => (&raw const offer).cast(),
                false => {
                    let most = self.way.block_bytes() - HEAD;
                    head.length = most.min(message.bytes - done) as u32;
                    head.kind = FRAGMENT;
                    (message.address + done) as *const u8
                }
            };
            let length = head.length as usize;
            if is_offered {
                self.waiting.pop_front();
                self.offered.push((self.offers, message));
                self.offers += 1;
            } else {
                waiting.done += length;
                if waiting.done == message.bytes {
                    self.waiting.pop_front();
                }
            }
            // SAFETY: the block is the writer's, and is large enough; the data are the offer, or
            // the sender's memory, which stays valid.
            unsafe { self.fill(block, head, data) };
            if !is_offered && done + length == message.bytes {
                complete(message.step);
            }
        }
        went_on
    }

    /// Fills a free block, and hands it to the receiver.
    ///
    /// # Safety
    /// `data` has the number of bytes in the header, which fit the block.
    #[inline(always)]
    unsafe fn fill(&mut self, block: u64, head: Head, data: *const u8) {
        // SAFETY: the block is the writer's, and the caller's promise.
        unsafe {
            let base = self.way.block(block);
            base.add(size_of::<u64>()).cast().write(head);
            copy_short(data, base.add(HEAD).as_ptr(), head.length as usize);
        }
        self.writer.fill(&self.way);
    }
}
