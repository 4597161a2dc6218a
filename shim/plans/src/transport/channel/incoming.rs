//! Receiver's side of a channel.

use super::wire::{
    FRAGMENT, HEAD, Head, OFFER, Offer, PUBLISHED, answer, copy_short, refused, taken,
};
use crate::transport::arrivals::Arrivals;
use crate::transport::board::Reads;
use crate::transport::copy::read_from;
use crate::transport::message::{Message, Truncated};
use crate::transport::ring::Reader;
use crate::transport::segment::{RingMemory, SLOT_BYTES, Slot};
use crate::transport::stream;

/// Bytes that are copied from another process before other work gets a turn.
const AT_ONCE: usize = 4 << 20;

/// Length from which messages are combined as they arrive, if blocks have this length, too: a copy
/// of a shorter one stays in the first-level cache, and each block costs a call.
const COMBINED_FROM: usize = 4 << 10;

/// Message that arrived before its receive.
#[derive(Debug)]
enum Held {
    Data(Vec<u8>),
    Offer(Offer),
}

/// Message whose first fragments have arrived.
#[derive(Debug)]
struct Coming {
    tag: u32,
    total: usize,
    done: usize,
    /// Receive for the message; `None` if it is held.
    receive: Option<Message>,
    is_combined: bool,
    held: Vec<u8>,
}

/// Offer that is being copied.
#[derive(Debug)]
struct Fetching {
    receive: Message,
    offer: Offer,
    total: usize,
    done: usize,
}

/// Completes a receive.
fn end(arrivals: &mut impl Arrivals, step: u32, is_combined: bool) {
    match is_combined {
        true => arrivals.combined(step),
        false => arrivals.arrived(step),
    }
}

/// Messages from another process to this one.
#[derive(Debug)]
pub struct Incoming {
    way: RingMemory,
    reader: Reader,
    /// Slots of the sender's board.
    slots: Box<[Slot]>,
    /// Process number of the sender.
    process: u32,
    call: u32,
    receives: Vec<Message>,
    coming: Option<Coming>,
    fetching: Vec<Fetching>,
    held: Vec<(u32, usize, Held)>,
}

impl Incoming {
    /// Creates the receiver's side of this channel, from this process with this board.
    pub fn new(way: RingMemory, slots: Box<[Slot]>, process: u32) -> Self {
        Incoming {
            way,
            reader: Reader::default(),
            slots,
            process,
            call: 0,
            receives: Vec::new(),
            coming: None,
            fetching: Vec::new(),
            held: Vec::new(),
        }
    }

    /// True if the data of a receive is combined.
    fn combines(&self, arrivals: &impl Arrivals, receive: &Message, total: usize) -> bool {
        COMBINED_FROM <= total.min(self.way.block_bytes())
            && total == receive.bytes
            && arrivals.combines(receive.step)
    }

    /// Begins a call, unless it has begun.
    #[inline]
    pub fn begin_if_new(&mut self, call: u32) {
        if self.call != call {
            self.begin(call);
        }
    }

    /// Begins a call. Pending messages of other calls are dropped, so that nobody waits for them.
    pub fn begin(&mut self, call: u32) {
        self.call = call;
        self.receives.clear();
        self.coming = None;
        for fetching in self.fetching.drain(..) {
            answer(&self.way, fetching.offer.number, taken);
        }
        for (_, _, held) in self.held.drain(..) {
            if let Held::Offer(offer) = held {
                answer(&self.way, offer.number, taken);
            }
        }
    }

    /// True if no message is pending that somebody waits for.
    pub fn is_idle(&self) -> bool {
        self.receives.is_empty() && self.fetching.is_empty() && !self.is_coming()
    }

    fn is_coming(&self) -> bool {
        self.coming
            .as_ref()
            .is_some_and(|coming| coming.receive.is_some())
    }

    /// Receives a message of up to `bytes` bytes.
    ///
    /// # Errors
    /// A message that is longer.
    ///
    /// # Safety
    /// The memory stays valid, and nobody else uses it, until the receive is complete.
    pub unsafe fn receive(
        &mut self,
        message: Message,
        arrivals: &mut impl Arrivals,
    ) -> Result<(), Truncated> {
        if self.receives.is_empty() && self.takes_at_once(&message, arrivals) {
            arrivals.arrived(message.step);
            return Ok(());
        }
        let held = self.held.iter().position(|(tag, _, _)| *tag == message.tag);
        match held.map(|place| self.held.swap_remove(place)) {
            Some((_, total, held)) => self.take(message, total, held, arrivals),
            None => {
                self.receives.push(message);
                self.go_on(arrivals).map(|_| ())
            }
        }
    }

    /// Takes a message in one block for the only receive, if no other message is pending; true on
    /// success.
    #[inline]
    fn takes_at_once(&mut self, message: &Message, arrivals: &impl Arrivals) -> bool {
        let is_alone = self.coming.is_none() && self.held.is_empty() && self.fetching.is_empty();
        let Some(block) = self.reader.full_block(&self.way).filter(|_| is_alone) else {
            return false;
        };
        // SAFETY: the block belongs to this reader, and its writer has filled it.
        let head: Head = unsafe { self.way.block(block).add(size_of::<u64>()).cast().read() };
        let is_whole = u64::from(head.length) == head.total && head.kind == FRAGMENT;
        let is_for_it = (head.call, head.tag) == (self.call, message.tag);
        let is_kept = !self.combines(arrivals, message, head.total as usize);
        if !(is_whole && is_for_it && head.total <= message.bytes as u64 && is_kept) {
            return false;
        }
        // SAFETY: the block has this length, and the receive buffer is large enough.
        unsafe {
            let data = self.way.block(block).add(HEAD).as_ptr();
            copy_short(data, message.address as *mut u8, head.length as usize);
        }
        self.reader.empty(&self.way);
        true
    }

    /// Advances pending messages; true on any progress.
    ///
    /// # Errors
    /// A message that is longer than its receive.
    pub fn go_on(&mut self, arrivals: &mut impl Arrivals) -> Result<bool, Truncated> {
        if let [message] = self.receives[..]
            && self.takes_at_once(&message, arrivals)
        {
            self.receives.clear();
            arrivals.arrived(message.step);
            return Ok(true);
        }
        let mut went_on = !self.fetching.is_empty();
        if went_on {
            self.fetch(arrivals);
        }
        // Messages without a receive stay in their blocks.
        while !self.receives.is_empty() || self.is_coming() {
            let Some(block) = self.reader.full_block(&self.way) else {
                break;
            };
            // SAFETY: the block belongs to this reader, and its writer has filled it.
            let head: Head = unsafe { self.way.block(block).add(size_of::<u64>()).cast().read() };
            let age = self.call.wrapping_sub(head.call) as i32;
            if age < 0 {
                break; // of a later call, which this process has not reached
            }
            went_on = true;
            match (age, head.kind) {
                (0, OFFER) => self.read_offer(block, head)?,
                (0, _) => self.read_fragment(block, head, arrivals)?,
                (_, kind) => {
                    if kind == OFFER {
                        answer(&self.way, self.offer_in(block).number, taken);
                    }
                    self.drop_block(block, &head);
                }
            }
        }
        Ok(went_on)
    }

    /// Returns the receive of a message that begins to arrive, if there is one yet.
    fn receive_of(&mut self, head: &Head) -> Result<Option<Message>, Truncated> {
        let place = self
            .receives
            .iter()
            .position(|receive| receive.tag == head.tag);
        let receive = place.map(|place| self.receives.swap_remove(place));
        match receive {
            Some(receive) if head.total > receive.bytes as u64 => Err(Truncated),
            receive => Ok(receive),
        }
    }

    fn read_fragment(
        &mut self,
        block: u64,
        head: Head,
        arrivals: &mut impl Arrivals,
    ) -> Result<(), Truncated> {
        let mut coming = match self.coming.take() {
            Some(coming) if coming.tag == head.tag => coming,
            _ => {
                let receive = self.receive_of(&head)?;
                let total = head.total as usize;
                let held = match receive {
                    Some(_) => Vec::new(),
                    None => vec![0; total],
                };
                let combined = |receive: &Message| self.combines(arrivals, receive, total);
                Coming {
                    tag: head.tag,
                    total,
                    done: 0,
                    is_combined: receive.as_ref().is_some_and(combined),
                    receive,
                    held,
                }
            }
        };
        let (data, most) = self.data_of(block, &head);
        let length = most.min(coming.total - coming.done);
        let into = match coming.receive {
            Some(receive) => receive.address as *mut u8,
            None => coming.held.as_mut_ptr(),
        };
        // SAFETY: the data have this length; the destination is large enough for the whole message,
        // which was checked when it began to arrive.
        unsafe {
            match coming.receive.filter(|_| coming.is_combined) {
                Some(receive) => arrivals.combine(receive.step, coming.done, data, length),
                None => stream::copy(data, into.add(coming.done), length, coming.total),
            }
        }
        self.drop_block(block, &head);
        coming.done += length;
        if coming.done < coming.total {
            self.coming = Some(coming);
            return Ok(());
        }
        match coming.receive {
            Some(receive) => end(arrivals, receive.step, coming.is_combined),
            None => {
                let head = Head {
                    total: coming.total as u64,
                    ..head
                };
                let held = Held::Data(coming.held);
                match self.receive_of(&head)? {
                    Some(receive) => self.take(receive, coming.total, held, arrivals)?,
                    None => self.held.push((coming.tag, coming.total, held)),
                }
            }
        }
        Ok(())
    }

    /// Returns the address and length of the data of a fragment, or of a published message.
    fn data_of(&self, block: u64, head: &Head) -> (*const u8, usize) {
        match self.slot_in(block, head) {
            Some(slot) => (slot.data().as_ptr(), SLOT_BYTES.min(head.total as usize)),
            None => {
                let most = self.way.block_bytes() - HEAD;
                // SAFETY: inside the block.
                let data = unsafe { self.way.block(block).add(HEAD) };
                (data.as_ptr(), most.min(head.length as usize))
            }
        }
    }

    /// Returns the slot that a block refers to.
    fn slot_in(&self, block: u64, head: &Head) -> Option<&Slot> {
        if head.kind != PUBLISHED {
            return None;
        }
        // SAFETY: the block belongs to this reader, and contains a number.
        let number: usize = unsafe { self.way.block(block).add(HEAD).cast().read() };
        self.slots.get(number)
    }

    /// Drops a block and the slot that it refers to; neither is read any more.
    fn drop_block(&mut self, block: u64, head: &Head) {
        if let Some(slot) = self.slot_in(block, head) {
            slot.end();
        }
        self.reader.empty(&self.way);
    }

    fn offer_in(&self, block: u64) -> Offer {
        // SAFETY: the block belongs to this reader, and contains an offer.
        unsafe { self.way.block(block).add(HEAD).cast().read() }
    }

    fn read_offer(&mut self, block: u64, head: Head) -> Result<(), Truncated> {
        let offer = self.offer_in(block);
        let receive = self.receive_of(&head)?;
        self.reader.empty(&self.way);
        let total = head.total as usize;
        match receive {
            Some(receive) => self.fetching.push(Fetching {
                receive,
                offer,
                total,
                done: 0,
            }),
            None => self.held.push((head.tag, total, Held::Offer(offer))),
        }
        Ok(())
    }

    /// Passes a held message to its receive.
    fn take(
        &mut self,
        receive: Message,
        total: usize,
        held: Held,
        arrivals: &mut impl Arrivals,
    ) -> Result<(), Truncated> {
        if total > receive.bytes {
            return Err(Truncated);
        }
        match held {
            Held::Data(data) => {
                let is_combined = self.combines(arrivals, &receive, total);
                // SAFETY: the receive buffer is large enough for the message.
                unsafe {
                    match is_combined {
                        true => arrivals.combine(receive.step, 0, data.as_ptr(), total),
                        false => {
                            let into = receive.address as *mut u8;
                            stream::copy(data.as_ptr(), into, total, total);
                        }
                    }
                }
                end(arrivals, receive.step, is_combined);
            }
            Held::Offer(offer) => {
                self.fetching.push(Fetching {
                    receive,
                    offer,
                    total,
                    done: 0,
                });
                self.fetch(arrivals);
            }
        }
        Ok(())
    }

    /// Copies parts of offered messages.
    fn fetch(&mut self, arrivals: &mut impl Arrivals) {
        let (way, process, receives) = (&self.way, self.process, &mut self.receives);
        self.fetching.retain_mut(|fetching| {
            let Fetching {
                receive,
                offer,
                total,
                done,
            } = fetching;
            let part = AT_ONCE.min(*total - *done);
            let (from, into) = (offer.address + *done, receive.address + *done);
            // SAFETY: the receive buffer is large enough for the message.
            let read = unsafe { read_from(process, from, into, part) };
            if read.ok() != Some(part) {
                answer(way, offer.number, refused);
                receives.push(*receive);
                return false;
            }
            *done += part;
            if *done < *total {
                return true;
            }
            answer(way, offer.number, taken);
            arrivals.arrived(receive.step);
            false
        });
    }
}
