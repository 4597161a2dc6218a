//! Messages and bytes to each partner: a table for each thread, written by that
//! thread alone without a locked instruction, read by whoever collects.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use parking_lot::Mutex;
use treepie_core::affinity::Traffic;

/// What a message is counted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Point-to-point, to the partner.
    PointToPoint,
    /// A neighbourhood collective's, to the partner.
    Neighbourhood,
    /// One-sided, to the partner.
    Put,
    /// One-sided, from the partner.
    Got,
}

impl Kind {
    const ALL: [Kind; 4] = [
        Kind::PointToPoint,
        Kind::Neighbourhood,
        Kind::Put,
        Kind::Got,
    ];

    /// The kind with this number.
    pub fn from_number(number: u64) -> Option<Kind> {
        Kind::ALL.into_iter().find(|&kind| kind as u64 == number)
    }
}

/// A partner and a kind as one number, which is never 0. Ranks below 2^30.
#[inline(always)]
fn key(kind: Kind, partner: u32) -> u32 {
    (partner << 2 | kind as u32) + 1
}

/// One kind of message to one partner. Only the owner writes, so that a load and
/// a store do for an addition.
#[derive(Default)]
struct Slot {
    /// A [`key`]; 0 in a slot that is free.
    key: AtomicU32,
    messages: AtomicU64,
    bytes: AtomicU64,
}

/// An open-addressing table, a power of two long, never more than three quarters
/// full.
struct Table {
    slots: Box<[Slot]>,
}

impl Table {
    fn new(length: usize) -> Self {
        Table {
            slots: (0..length).map(|_| Slot::default()).collect(),
        }
    }

    /// The key's slot, or the free one where it would be.
    #[inline(always)]
    fn slot(&self, key: u32) -> &Slot {
        let mask = self.slots.len() - 1;
        // Fibonacci hashing: neighbouring ranks, and ranks a power of two
        // apart, land in different slots.
        let hash = u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let mut at = hash as usize & mask;
        loop {
            let slot = &self.slots[at];
            let there = slot.key.load(Ordering::Relaxed);
            if there == key || there == 0 {
                return slot;
            }
            at = (at + 1) & mask;
        }
    }
}

/// The counters of one thread at a time. They last as long as the process, and
/// so do their tables: those that were outgrown are left as they are, in case
/// somebody reads, and are together smaller than the one in use.
pub struct Counters {
    table: AtomicPtr<Table>,
    used: AtomicU32,
    taken: AtomicBool,
}

/// All counters there are; those of threads that ended are taken over by new ones.
static ALL: Mutex<Vec<Arc<Counters>>> = Mutex::new(Vec::new());

/// Counters for a new thread.
pub fn claim() -> Arc<Counters> {
    let mut all = ALL.lock();
    let free = all
        .iter()
        .find(|counters| !counters.taken.swap(true, Ordering::Acquire));
    if let Some(counters) = free {
        return Arc::clone(counters);
    }
    let counters = Arc::new(Counters::new());
    all.push(Arc::clone(&counters));
    counters
}

/// What all threads counted, by kind and partner.
pub fn totals() -> Vec<(Kind, u32, Traffic)> {
    let mut totals = std::collections::BTreeMap::<(Kind, u32), Traffic>::new();
    for counters in ALL.lock().iter() {
        counters.read(|kind, partner, traffic| {
            let total = totals.entry((kind, partner)).or_default();
            total.messages = total.messages.saturating_add(traffic.messages);
            total.bytes = total.bytes.saturating_add(traffic.bytes);
        });
    }
    totals
        .into_iter()
        .map(|((kind, partner), traffic)| (kind, partner, traffic))
        .collect()
}

impl Counters {
    fn new() -> Self {
        Counters {
            table: AtomicPtr::new(Box::leak(Box::new(Table::new(16)))),
            used: AtomicU32::new(0),
            taken: AtomicBool::new(true),
        }
    }

    #[inline(always)]
    fn current(&self) -> &Table {
        // SAFETY: `table` only ever holds addresses of leaked tables.
        unsafe { &*self.table.load(Ordering::Acquire) }
    }

    /// Adds a message to one partner's counts. Only the owning thread may call
    /// this.
    #[inline(always)]
    pub fn add(&self, kind: Kind, partner: u32, bytes: u64) {
        let key = key(kind, partner);
        let slot = self.current().slot(key);
        if slot.key.load(Ordering::Relaxed) == 0 {
            return self.add_first(key, bytes);
        }
        let add = |counter: &AtomicU64, more: u64| {
            let sum = counter.load(Ordering::Relaxed).saturating_add(more);
            counter.store(sum, Ordering::Relaxed);
        };
        add(&slot.messages, 1);
        add(&slot.bytes, bytes);
    }

    #[cold]
    #[inline(never)]
    fn add_first(&self, key: u32, bytes: u64) {
        let used = self.used.load(Ordering::Relaxed) + 1;
        self.used.store(used, Ordering::Relaxed);
        if used as usize * 4 > self.current().slots.len() * 3 {
            self.grow();
        }
        let slot = self.current().slot(key);
        slot.messages.store(1, Ordering::Relaxed);
        slot.bytes.store(bytes, Ordering::Relaxed);
        slot.key.store(key, Ordering::Release);
    }

    fn grow(&self) {
        let larger = Box::leak(Box::new(Table::new(self.current().slots.len() * 2)));
        self.read(|kind, partner, traffic| {
            let key = key(kind, partner);
            let slot = larger.slot(key);
            slot.key.store(key, Ordering::Relaxed);
            slot.messages.store(traffic.messages, Ordering::Relaxed);
            slot.bytes.store(traffic.bytes, Ordering::Relaxed);
        });
        self.table.store(larger, Ordering::Release);
    }

    fn read(&self, mut each: impl FnMut(Kind, u32, Traffic)) {
        for slot in &self.current().slots {
            if let Some(packed) = slot.key.load(Ordering::Acquire).checked_sub(1)
                && let Some(kind) = Kind::from_number(u64::from(packed & 3))
            {
                let traffic = Traffic {
                    messages: slot.messages.load(Ordering::Relaxed),
                    bytes: slot.bytes.load(Ordering::Relaxed),
                };
                each(kind, packed >> 2, traffic);
            }
        }
    }

    /// Gives the counters, with what they hold, to the next thread that starts.
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
                counters.add(Kind::PointToPoint, partner, u64::from(partner) * round);
            }
        }
        let mut read = Vec::new();
        counters.read(|kind, partner, traffic| read.push((kind, partner, traffic)));
        assert_eq!(read.len(), 5_000);
        for (kind, partner, traffic) in read {
            assert_eq!(kind, Kind::PointToPoint);
            assert_eq!(traffic.messages, 3);
            assert_eq!(traffic.bytes, u64::from(partner) * 6);
        }
    }

    #[test]
    fn kinds_of_one_partner_are_counted_apart() {
        let counters = Counters::new();
        for (kind, bytes) in Kind::ALL.into_iter().zip(1..) {
            counters.add(kind, 7, bytes);
        }
        let mut read = Vec::new();
        counters.read(|kind, partner, traffic| read.push((kind, partner, traffic.bytes)));
        read.sort_unstable();
        let expected: Vec<_> = Kind::ALL
            .into_iter()
            .zip(1..)
            .map(|(k, b)| (k, 7, b))
            .collect();
        assert_eq!(read, expected);
    }

    #[test]
    fn counters_saturate_instead_of_wrapping() {
        let counters = Counters::new();
        counters.add(Kind::Put, 3, u64::MAX - 1);
        counters.add(Kind::Put, 3, 5);
        counters.read(|_, _, traffic| assert_eq!(traffic.bytes, u64::MAX));
    }

    #[test]
    fn threads_that_end_leave_their_counts_and_their_counters() {
        let before = ALL.lock().len();
        for _ in 0..4 {
            let counters = claim();
            counters.add(Kind::Got, 999_999, 10);
            counters.release();
        }
        let total = totals()
            .into_iter()
            .find(|(_, partner, _)| *partner == 999_999);
        let (_, _, traffic) = total.expect("the partner was counted");
        assert_eq!((traffic.messages, traffic.bytes), (4, 40));
        assert!(ALL.lock().len() <= before + 1);
    }
}
