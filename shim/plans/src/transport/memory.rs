//! Channels between a process and others of its host, as the executor uses them.

use super::arrivals::Arrivals;
use super::board::Board;
use super::channel::{Incoming, Long, Outgoing};
use super::message::{Message, Truncated};
use super::segment::SLOT_BYTES;

/// Length in bytes from which messages are copied once, from the sender's memory to the receiver's,
/// if the system permits it: the system call and its page lookups cost about a microsecond; a
/// second copy of this length costs more.
pub(super) const OFFERS_FROM: usize = 32 << 10;

/// Length in bytes from which blocks, of ranks on separate cores, are filled and emptied
/// concurrently, and stay in the caches: both copies of 512 KiB took 54 us, each beside one in the
/// other direction, and one by the system 57 us (Xeon of 2023). An allreduce of 64 KiB took 0.74 of
/// Open MPI's time with the latter, and 0.51 with the former.
const FLOWS_FROM: usize = 4 << 10;

/// Lengths in bytes of messages that are published if several ranks receive them: a copy of a
/// shorter one costs no more than a reader's second memory access.
const PUBLISHED_BYTES: std::ops::RangeInclusive<usize> = 4096..=SLOT_BYTES;

/// Number of idle turns before the process yields to others: on separate cores, and on shared ones.
const PATIENCE: [u32; 2] = [2_000, 16];

/// Channels to and from another rank of this host.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) out: Outgoing,
    pub(super) back: Incoming,
    /// True if it is in the list of ranks with pending messages.
    pub(super) is_busy: bool,
}

/// Channels between this process and others of its host in a communicator.
#[derive(Debug)]
pub struct Memory {
    /// By rank in the communicator; `None` for this process itself, and for ranks on other hosts.
    pub(super) peers: Vec<Option<Peer>>,
    /// Ranks with pending messages.
    pub(super) busy: Vec<usize>,
    pub(super) board: Board,
    pub(super) call: u32,
    /// True if there are fewer cores than ranks.
    pub(super) shares_cores: bool,
    /// Transfer of long messages to one receiver: the sender copies no data more than once.
    pub(super) long: Long,
}

/// Returns the transfer of long messages to one receiver, through blocks of `block_bytes` bytes.
pub(super) fn long(block_bytes: usize, shares_cores: bool) -> Long {
    match block_bytes >= FLOWS_FROM && !shares_cores {
        true => Long::InBlocks,
        false => Long::Offered,
    }
}

impl Memory {
    /// Begins a call. Pending messages of a failed one are dropped.
    pub fn begin(&mut self, call: u32) {
        self.call = call;
        self.board.begin();
        for rank in self.busy.drain(..) {
            if let Some(peer) = &mut self.peers[rank] {
                peer.is_busy = false;
                peer.out.begin(call);
                peer.back.begin(call);
            }
        }
    }

    /// True if messages to and from this rank go through shared memory.
    pub fn reaches(&self, rank: usize) -> bool {
        self.peers[rank].is_some()
    }

    /// True if those to and from all others do: all ranks of the communicator are on this host; the
    /// same on all of them.
    pub fn reaches_all(&self) -> bool {
        self.peers.iter().flatten().count() + 1 == self.peers.len()
    }

    /// Sends a message to a rank that is reached; it has arrived when its memory may be used again.
    /// `one_to_many`: its group among the call's sends of the same data.
    ///
    /// # Safety
    /// The message stays valid until then.
    pub unsafe fn send(
        &mut self,
        to: usize,
        message: Message,
        one_to_many: Option<u32>,
        arrivals: &mut impl Arrivals,
    ) {
        let mut complete = |step| arrivals.arrived(step);
        let call = self.call;
        let Some(peer) = &mut self.peers[to] else {
            return;
        };
        peer.out.begin_if_new(call);
        if let Some(sends) = one_to_many.filter(|_| PUBLISHED_BYTES.contains(&message.bytes))
            && peer.out.is_free()
            // SAFETY: the caller's promise, and it fits a slot.
            && let Some(slot) = unsafe { self.board.publish(sends, &message) }
        {
            self.board.announce(slot);
            peer.out.publish(&message, slot);
            complete(message.step);
            return;
        }
        let long = match one_to_many {
            Some(_) => Long::Offered,
            None => self.long,
        };
        // SAFETY: the caller's promise.
        unsafe { peer.out.send(message, long, &mut complete) };
        if !peer.is_busy && !peer.out.is_idle() {
            peer.is_busy = true;
            self.busy.push(to);
        }
    }

    /// Receives a message of up to `bytes` bytes from a rank that is reached.
    ///
    /// # Errors
    /// A message that is longer.
    ///
    /// # Safety
    /// The memory stays valid, and nobody else uses it, until the receive is complete.
    pub unsafe fn receive(
        &mut self,
        from: usize,
        message: Message,
        arrivals: &mut impl Arrivals,
    ) -> Result<(), Truncated> {
        let call = self.call;
        let Some(peer) = &mut self.peers[from] else {
            return Ok(());
        };
        peer.back.begin_if_new(call);
        // SAFETY: the caller's promise.
        let received = unsafe { peer.back.receive(message, arrivals) };
        // Also after an error: the next call cleans up.
        if !peer.is_busy && (received.is_err() || !peer.back.is_idle()) {
            peer.is_busy = true;
            self.busy.push(from);
        }
        received
    }

    /// True if no message is pending.
    pub fn is_idle(&self) -> bool {
        self.busy.is_empty()
    }

    /// Advances pending messages; true on any progress.
    ///
    /// # Errors
    /// A message that is longer than its receive.
    pub fn go_on(&mut self, arrivals: &mut impl Arrivals) -> Result<bool, Truncated> {
        let (mut went_on, mut place) = (false, 0);
        while let Some(&rank) = self.busy.get(place) {
            let Some(peer) = &mut self.peers[rank] else {
                self.busy.swap_remove(place);
                continue;
            };
            went_on |= !peer.out.is_idle() && peer.out.go_on(&mut |step| arrivals.arrived(step));
            went_on |= !peer.back.is_idle() && peer.back.go_on(arrivals)?;
            peer.is_busy = !(peer.out.is_idle() && peer.back.is_idle());
            match peer.is_busy {
                true => place += 1,
                false => _ = self.busy.swap_remove(place),
            }
        }
        Ok(went_on)
    }

    /// Returns the number of idle turns before the process yields to others.
    pub fn patience(&self) -> u32 {
        PATIENCE[usize::from(self.shares_cores)]
    }
}
