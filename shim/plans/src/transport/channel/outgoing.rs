//! The sender's side of a way.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use super::wire::{FRAGMENT, HEAD, Head, OFFER, Offer, PUBLISHED, copy_short, refused, taken};
use crate::transport::message::Message;
use crate::transport::ring::Writer;
use crate::transport::segment::{ANSWERS, Way};

/// Way of a message that is long enough to be offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Long {
    /// Its receiver copies it, where the system permits it.
    Offered,
    /// Sender and receiver copy it, at the same time.
    InBlocks,
}

/// A message that waits for blocks.
#[derive(Debug)]
struct Waiting {
    message: Message,
    done: usize,
    is_offered: bool,
}

/// The messages from this process to another.
#[derive(Debug)]
pub struct Outgoing {
    way: Way,
    writer: Writer,
    call: u32,
    waiting: VecDeque<Waiting>,
    offered: Vec<(u64, Message)>,
    offers: u64,
    /// Messages from this length on are offered.
    offers_from: usize,
}

impl Outgoing {
    /// On this way, with offers of messages from this length on.
    pub fn new(way: Way, offers_from: usize) -> Self {
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

    /// Begins a call. What is left of others is given up.
    pub fn begin(&mut self, call: u32) {
        self.call = call;
        self.waiting.clear();
        self.offered.clear();
    }

    /// Whether nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.offered.is_empty()
    }

    /// Sends a message, a long one as `long` says; `complete` is told its step when its memory may
    /// be used again.
    ///
    /// # Safety
    /// The message stays where it is until then.
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
            // SAFETY: the block is the writer's, and has room; the message is the sender's.
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

    /// Whether a message can go now.
    pub fn is_free(&mut self) -> bool {
        self.waiting.is_empty() && self.writer.free_block(&self.way).is_some()
    }

    /// Tells the receiver of a message that stands in a slot of this process's board, where
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
        // SAFETY: the block is the writer's, and has room for a number.
        unsafe { self.fill(block, head, (&raw const slot).cast()) };
    }

    /// Goes on with what is under way; whether that was possible.
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
            // SAFETY: the block is the writer's, and has room for this; the data are the offer, or
            // the sender's memory, which stays.
            unsafe { self.fill(block, head, data) };
            if !is_offered && done + length == message.bytes {
                complete(message.step);
            }
        }
        went_on
    }

    /// Fills a block that is free, and hands it to the receiver.
    ///
    /// # Safety
    /// There are as many bytes of data as the head says, which the block has room for.
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
