//! Messages and bytes to each partner: a table for each thread, written by that
//! thread alone without a locked instruction, read by whoever collects.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use parking_lot::Mutex;
use treepie_core::affinity::Traffic;

/// One partner. Only the owner writes, so that a load and a store do for an
/// addition.
#[derive(Default)]
struct Slot {
    /// The partner's rank + 1; 0 in a slot that is free.
    partner: AtomicU32,
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

    /// The partner's slot, or the free one where it would be.
    #[inline(always)]
    fn slot(&self, partner: u32) -> &Slot {
        let mask = self.slots.len() - 1;
        // Fibonacci hashing: neighbouring ranks, and ranks a power of two
        // apart, land in different slots.
        let hash = u64::from(partner).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let mut at = hash as usize & mask;
        loop {
            let slot = &self.slots[at];
            let there = slot.partner.load(Ordering::Relaxed);
            if there == partner + 1 || there == 0 {
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
    partners: AtomicU32,
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

/// What all threads counted, partner by partner.
pub fn totals() -> Vec<(u32, Traffic)> {
    let mut totals = std::collections::BTreeMap::<u32, Traffic>::new();
    for counters in ALL.lock().iter() {
        counters.read(|partner, traffic| {
            let total = totals.entry(partner).or_default();
            total.messages = total.messages.saturating_add(traffic.messages);
            total.bytes = total.bytes.saturating_add(traffic.bytes);
        });
    }
    totals.into_iter().collect()
}

impl Counters {
    fn new() -> Self {
        Counters {
            table: AtomicPtr::new(Box::leak(Box::new(Table::new(16)))),
            partners: AtomicU32::new(0),
            taken: AtomicBool::new(true),
        }
    }

    #[inline(always)]
    fn current(&self) -> &Table {
        // SAFETY: `table` only ever holds addresses of leaked tables.
        unsafe { &*self.table.load(Ordering::Acquire) }
    }

    /// Adds to one partner's counts. Only the owning thread may call this.
    #[inline(always)]
    pub fn add(&self, partner: u32, messages: u64, bytes: u64) {
        let slot = self.current().slot(partner);
        if slot.partner.load(Ordering::Relaxed) == 0 {
            return self.add_partner(partner, messages, bytes);
        }
        let add = |counter: &AtomicU64, more: u64| {
            let sum = counter.load(Ordering::Relaxed).saturating_add(more);
            counter.store(sum, Ordering::Relaxed);
        };
        add(&slot.messages, messages);
        add(&slot.bytes, bytes);
    }

    #[cold]
    #[inline(never)]
    fn add_partner(&self, partner: u32, messages: u64, bytes: u64) {
        let partners = self.partners.load(Ordering::Relaxed) + 1;
        self.partners.store(partners, Ordering::Relaxed);
        if partners as usize * 4 > self.current().slots.len() * 3 {
            self.grow();
        }
        let slot = self.current().slot(partner);
        slot.messages.store(messages, Ordering::Relaxed);
        slot.bytes.store(bytes, Ordering::Relaxed);
        slot.partner.store(partner + 1, Ordering::Release);
    }

    fn grow(&self) {
        let larger = Box::leak(Box::new(Table::new(self.current().slots.len() * 2)));
        self.read(|partner, traffic| {
            let slot = larger.slot(partner);
            slot.partner.store(partner + 1, Ordering::Relaxed);
            slot.messages.store(traffic.messages, Ordering::Relaxed);
            slot.bytes.store(traffic.bytes, Ordering::Relaxed);
        });
        self.table.store(larger, Ordering::Release);
    }

    fn read(&self, mut each: impl FnMut(u32, Traffic)) {
        for slot in &self.current().slots {
            if let Some(partner) = slot.partner.load(Ordering::Acquire).checked_sub(1) {
                let traffic = Traffic {
                    messages: slot.messages.load(Ordering::Relaxed),
                    bytes: slot.bytes.load(Ordering::Relaxed),
                };
                each(partner, traffic);
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
                counters.add(partner, 1, u64::from(partner) * round);
            }
        }
        let mut read = Vec::new();
        counters.read(|partner, traffic| read.push((partner, traffic)));
        assert_eq!(read.len(), 5_000);
        for (partner, traffic) in read {
            assert_eq!(traffic.messages, 3);
            assert_eq!(traffic.bytes, u64::from(partner) * 6);
        }
    }

    #[test]
    fn counters_saturate_instead_of_wrapping() {
        let counters = Counters::new();
        counters.add(3, 1, u64::MAX - 1);
        counters.add(3, 1, 5);
        counters.read(|_, traffic| assert_eq!(traffic.bytes, u64::MAX));
    }

    #[test]
    fn threads_that_end_leave_their_counts_and_their_counters() {
        let before = ALL.lock().len();
        for _ in 0..4 {
            let counters = claim();
            counters.add(999_999, 1, 10);
            counters.release();
        }
        let total = totals()
            .into_iter()
            .find(|(partner, _)| *partner == 999_999);
        let (_, traffic) = total.expect("the partner was counted");
        assert_eq!((traffic.messages, traffic.bytes), (4, 40));
        assert!(ALL.lock().len() <= before + 1);
    }
}
