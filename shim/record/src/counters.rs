//! Messages and bytes to each partner: a table for each thread, written by that thread alone
//! without locked instructions, and read by any collector.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use treepie_mpi::system::AtomicLink;
use treepie_mpi::{Handle, Request, Word};
pub use treepie_profile::partial_profiles::MessageKind;
use treepie_traffic::Traffic;
use treepie_traffic::times::{CallClass, CallTime};
use treepie_traffic::windows::{Access, WindowCall};

use super::access_key::{WindowIndex, unpack};
use super::growing::{Counted, Growing};
use super::sums::increase;

/// The partner of receives from any source.
pub const ANY_SOURCE: u32 = u32::MAX;

/// Packs a kind and a partner into one number, which is never 0.
#[inline(always)]
fn key(kind: MessageKind, partner: u32) -> u64 {
    (u64::from(partner) << 2 | kind as u64) + 1
}

/// Number of non-blocking sends of a thread that are remembered, in case one of them is cancelled.
const REMEMBERED: usize = 256;

/// Non-blocking send.
#[derive(Default)]
struct Sent {
    request: AtomicUsize,
    partner: AtomicU32,
    bytes: AtomicU64,
}

/// Calls of one class, and the nanoseconds in them.
#[derive(Default)]
struct Time {
    calls: AtomicU64,
    nanoseconds: AtomicU64,
}

/// Counters of one thread at a time. They and their tables last as long as the process: the
/// outgrown tables are together smaller than those in use.
#[repr(align(128))]
pub struct Counters {
    messages: Growing,
    accesses: Growing,
    /// Receives by source, if this rank has a page.
    posted: Growing,
    /// Messages received by source, if this rank may be stopped at a cut.
    received: Growing,
    taken: AtomicBool,
    /// Most recent non-blocking sends, in a ring.
    sent: [Sent; REMEMBERED],
    next_sent: AtomicUsize,
    times: [Time; CallClass::ALL.len()],
    /// Next element of the list of counters.
    others: AtomicLink<Counters>,
}

/// All counters, a list that only grows: it can be read at any moment, even from a signal handler.
/// Those of threads that have ended are reused by new ones.
static ALL: AtomicLink<Counters> = AtomicLink::none();

/// Returns all counters.
fn all() -> impl Iterator<Item = &'static Counters> {
    std::iter::successors(ALL.load(), |counters| counters.others.load())
}

/// Returns counters for a new thread.
pub fn claim() -> &'static Counters {
    if let Some(free) = all().find(|counters| !counters.taken.swap(true, Ordering::Acquire)) {
        return free;
    }
    let counters: &'static Counters = Box::leak(Box::new(Counters::new()));
    let mut first = ALL.load();
    loop {
        counters.others.store(first);
        match ALL.replace(first, counters) {
            Ok(()) => return counters,
            Err(newer) => first = newer,
        }
    }
}

/// Reads the counts of all threads: each kind and partner once for each thread.
pub fn read_all(mut each: impl FnMut(MessageKind, u32, Traffic)) {
    for counters in all() {
        counters.read(&mut each);
    }
}

/// Reads the number of receives that all threads posted from each partner: each partner once for
/// each thread.
pub fn read_posted(mut each: impl FnMut(u32, u64)) {
    for counters in all() {
        counters
            .posted
            .read(|key, traffic| each((key - 1) as u32, traffic.messages));
    }
}

/// Reads the messages that all threads received from each partner: each partner once for each
/// thread.
pub fn read_received(mut each: impl FnMut(u32, Traffic)) {
    for counters in all() {
        let read = |key, traffic| each((key - 1) as u32, traffic);
        counters.received.read(read);
    }
}

/// Reads the calls of all threads on windows: each key once for each thread. The number is that of
/// intervals between synchronisations with such calls.
pub fn read_accesses(mut each: impl FnMut(WindowIndex, Access, Traffic, u32)) {
    for counters in all() {
        counters.read_accesses(&mut each);
    }
}

/// Reads the time of all threads in calls of each class.
pub fn read_times(mut each: impl FnMut(CallClass, CallTime)) {
    for counters in all() {
        for (class, time) in CallClass::ALL.iter().copied().zip(&counters.times) {
            let calls = time.calls.load(Ordering::Relaxed);
            let nanoseconds = time.nanoseconds.load(Ordering::Relaxed);
            if calls > 0 {
                each(class, CallTime { calls, nanoseconds });
            }
        }
    }
}

/// Returns the receiver and the bytes of the latest remembered non-blocking send with this request;
/// `own` are searched first.
pub fn find_sent(own: &'static Counters, request: Request) -> Option<(u32, u64)> {
    let others = all().filter(|counters| !ptr::eq(*counters, own));
    std::iter::once(own)
        .chain(others)
        .find_map(|counters| counters.sent_with(request.word()))
}

impl Counters {
    fn new() -> Self {
        Counters {
            messages: Growing::new(4),
            accesses: Growing::new(1),
            posted: Growing::new(1),
            received: Growing::new(1),
            taken: AtomicBool::new(true),
            sent: std::array::from_fn(|_| Sent::default()),
            next_sent: AtomicUsize::new(0),
            times: Default::default(),
            others: AtomicLink::none(),
        }
    }

    /// Adds a message to one partner's counts. Only the owning thread may call
    /// this.
    #[inline(always)]
    pub fn add(&self, kind: MessageKind, partner: u32, bytes: u64) {
        self.messages.add(key(kind, partner), bytes);
    }

    /// Adds a call on a window, in this interval between synchronisations, to the counts of its key
    /// (`access_key`). Only the owning thread may call this.
    #[inline(always)]
    pub fn add_access(&self, key: u64, bytes: u64, interval: u32) {
        let slot = self.accesses.added_in_a_row(key, bytes);
        slot.note_interval(interval);
    }

    /// Adds a receive from a partner. Only the owning thread may call this.
    #[inline(always)]
    pub fn add_posted(&self, partner: u32) {
        self.posted.add(u64::from(partner) + 1, 0);
    }

    /// Adds a receive like `add_posted`; returns a shortcut for further ones.
    pub fn posted(&self, partner: u32) -> Counted {
        self.posted.counted(u64::from(partner) + 1, 0)
    }

    /// Adds a receive by such a shortcut; false if it is no longer valid. Only the owning thread
    /// may call this.
    #[inline(always)]
    pub fn add_to_posted(&self, counted: &Counted) -> bool {
        self.posted.add_to(counted, 0)
    }

    /// Adds a message that was received from a partner. Only the owning thread may call this.
    pub fn add_received(&self, partner: u32, bytes: u64) {
        self.received.add(u64::from(partner) + 1, bytes);
    }

    /// Remembers a non-blocking send. Only the owning thread may call this.
    #[inline(always)]
    pub fn remember(&self, request: Word, partner: u32, bytes: u64) {
        let at = self.next_sent.load(Ordering::Relaxed);
        let sent = &self.sent[at % REMEMBERED];
        sent.request.store(request, Ordering::Relaxed);
        sent.partner.store(partner, Ordering::Relaxed);
        sent.bytes.store(bytes, Ordering::Relaxed);
        self.next_sent.store(at.wrapping_add(1), Ordering::Relaxed);
    }

    fn sent_with(&self, request: Word) -> Option<(u32, u64)> {
        let next = self.next_sent.load(Ordering::Relaxed);
        let latest_first = (1..=REMEMBERED).map(|back| next.wrapping_sub(back) % REMEMBERED);
        let mut latest_first = latest_first.map(|at| &self.sent[at]);
        let sent = latest_first.find(|sent| sent.request.load(Ordering::Relaxed) == request)?;
        let partner = sent.partner.load(Ordering::Relaxed);
        Some((partner, sent.bytes.load(Ordering::Relaxed)))
    }

    /// Adds a call and the time in it. Only the owning thread may call this.
    pub fn add_time(&self, class: CallClass, nanoseconds: u64) {
        let time = &self.times[class as usize];
        increase(&time.calls, 1);
        increase(&time.nanoseconds, nanoseconds);
    }

    /// Reads the counts; traffic of windows is included in both of its forms.
    pub fn read(&self, mut each: impl FnMut(MessageKind, u32, Traffic)) {
        self.messages.read(|key, traffic| {
            if let Some(kind) = MessageKind::from_number((key - 1) & 3) {
                each(kind, ((key - 1) >> 2) as u32, traffic);
            }
        });
        self.accesses.read(|key, traffic| {
            let Some((_, access)) = unpack(key) else {
                return;
            };
            match access.call {
                WindowCall::Put | WindowCall::Accumulate => {
                    each(MessageKind::Put, access.target, traffic)
                }
                WindowCall::Get | WindowCall::Fetch => {
                    each(MessageKind::Got, access.target, traffic)
                }
                WindowCall::Open | WindowCall::Flush | WindowCall::Post => (),
            }
        });
    }

    fn read_accesses(&self, mut each: impl FnMut(WindowIndex, Access, Traffic, u32)) {
        self.accesses.read_slots(|key, traffic, slot| {
            if let Some((window, access)) = unpack(key) {
                each(window, access, traffic, slot.intervals());
            }
        });
    }

    /// Leaves the counters, with their contents, to the next thread that starts.
    pub fn release(&self) {
        self.taken.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_partner_keeps_its_counts_while_the_table_grows() {
        let counters = Counters::new();
        for round in 1..=3u64 {
            for partner in (0..5_000).map(|i| i * 64) {
                counters.add(
                    MessageKind::PointToPoint,
                    partner,
                    u64::from(partner) * round,
                );
            }
        }
        let mut read = Vec::new();
        counters.read(|kind, partner, traffic| read.push((kind, partner, traffic)));
        assert_eq!(read.len(), 5_000);
        for (kind, partner, traffic) in read {
            assert_eq!(kind, MessageKind::PointToPoint);
            assert_eq!(traffic.messages, 3);
            assert_eq!(traffic.bytes, u64::from(partner) * 6);
        }
    }

    #[test]
    fn kinds_of_one_partner_are_counted_apart() {
        let counters = Counters::new();
        for (kind, bytes) in MessageKind::ALL.into_iter().zip(1..) {
            counters.add(kind, 7, bytes);
        }
        let mut read = Vec::new();
        counters.read(|kind, partner, traffic| read.push((kind, partner, traffic.bytes)));
        read.sort_unstable();
        let expected: Vec<_> = MessageKind::ALL
            .into_iter()
            .zip(1..)
            .map(|(k, b)| (k, 7, b))
            .collect();
        assert_eq!(read, expected);
    }

    #[test]
    fn counters_saturate_instead_of_wrapping() {
        let counters = Counters::new();
        counters.add(MessageKind::PointToPoint, 3, u64::MAX - 1);
        counters.add(MessageKind::PointToPoint, 3, 5);
        counters.read(|_, _, traffic| assert_eq!(traffic.bytes, u64::MAX));
    }

    #[test]
    fn intervals_with_calls_are_counted_while_the_table_grows() {
        let counters = Counters::new();
        let place =
            |target: u32| super::super::access_key::of_call(1, WindowCall::Put, true, 4, target);
        for interval in [0, 0, 1, 5, 5] {
            // Some are consecutive.
            for target in (0..100).flat_map(|target| [target, target]) {
                counters.add_access(place(target), 8, interval);
            }
        }
        let mut read = Vec::new();
        counters.read_accesses(|_, _, traffic, intervals| read.push((traffic.messages, intervals)));
        assert_eq!(read, [(10, 3); 100]);
    }

    #[test]
    fn threads_that_end_leave_their_counts_and_their_counters() {
        let before = all().count();
        for _ in 0..4 {
            let counters = claim();
            counters.add(MessageKind::Got, 999_999, 10);
            counters.release();
        }
        let mut found = Vec::new();
        read_all(|_, partner, traffic| found.extend((partner == 999_999).then_some(traffic)));
        let total: Traffic = found.into_iter().sum();
        assert_eq!(total, Traffic::new(4, 40));
        assert!(all().count() <= before + 1);
    }

    #[test]
    fn the_latest_send_with_a_request_is_the_one_that_is_found() {
        let counters = Counters::new();
        counters.remember(7, 1, 10);
        counters.remember(8, 2, 20);
        counters.remember(7, 3, 30);
        assert_eq!(counters.sent_with(7), Some((3, 30)));
        assert_eq!(counters.sent_with(9), None);
        for other in 0..REMEMBERED {
            counters.remember(1_000 + other, 0, 0);
        }
        assert_eq!(counters.sent_with(7), None);
    }
}
