//! Tables of counts that grow: what one thread counts by keys, and any may read.

use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use treepie_traffic::Traffic;

use super::sums::Sums;

/// What is alike, as one number. Only the owner writes.
#[derive(Default)]
#[repr(align(32))]
pub struct Slot {
    /// Never 0 but in a slot that is free.
    key: AtomicU64,
    sums: Sums,
    /// Of calls on windows: the latest interval between synchronisations in its upper half, the
    /// number of intervals in its lower one.
    intervals: AtomicU64,
}

impl Slot {
    /// The number of intervals in which there were calls.
    pub fn intervals(&self) -> u32 {
        self.intervals.load(Ordering::Relaxed) as u32
    }

    /// A call was made in this interval.
    #[inline(always)]
    pub fn note_interval(&self, interval: u32) {
        let known = self.intervals.load(Ordering::Relaxed);
        if (known >> 32) as u32 != interval || known == 0 {
            let count = (known as u32).saturating_add(1);
            let new = u64::from(interval) << 32 | u64::from(count);
            self.intervals.store(new, Ordering::Relaxed);
        }
    }
}

/// Slots in two lines of the cache, which processors fetch together: what one thread
/// writes is never in the way of another.
#[derive(Default)]
#[repr(C, align(128))]
struct Lines([Slot; SLOTS]);

const SLOTS: usize = 4;

/// An open-addressing table, a power of two of slots long, never more than three
/// quarters full. It is there as long as the process.
struct Table {
    slots: &'static [Slot],
}

impl Table {
    fn new(lines: usize) -> Self {
        let lines: Box<[Lines]> = (0..lines).map(|_| Lines::default()).collect();
        let lines = Box::leak(lines);
        // SAFETY: lines are nothing but slots, one behind the other.
        let slots = unsafe { slice::from_raw_parts(lines.as_ptr().cast(), lines.len() * SLOTS) };
        Table { slots }
    }

    /// The key's slot, or the free one where it would be.
    #[inline(always)]
    fn slot(&self, key: u64) -> &Slot {
        let mask = self.slots.len() - 1;
        // Fibonacci hashing: neighbouring ranks, and ranks a power of two
        // apart, land in different slots.
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
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

/// Where a key was counted.
#[derive(Clone, Copy)]
pub struct Counted {
    slot: &'static Slot,
    table: *const Table,
}

/// A table that is outgrown now and then: a larger one takes its place, and it is left as it is, in
/// case somebody reads.
pub struct Growing {
    table: AtomicPtr<Table>,
    used: AtomicU32,
    /// The slot of the last call, in the current table, where such calls come in a row.
    last: AtomicPtr<Slot>,
}

impl Growing {
    /// An empty one of so many lines.
    pub fn new(lines: usize) -> Self {
        Growing {
            table: AtomicPtr::new(Box::leak(Box::new(Table::new(lines)))),
            used: AtomicU32::new(0),
            last: AtomicPtr::default(),
        }
    }

    #[inline(always)]
    fn current(&self) -> &'static Table {
        // SAFETY: `table` only ever holds addresses of leaked tables.
        unsafe { &*self.table.load(Ordering::Acquire) }
    }

    /// Adds a message to what is counted by this key. Only the owning thread may call this.
    #[inline(always)]
    pub fn add(&self, key: u64, bytes: u64) {
        self.added(key, bytes);
    }

    /// As `add`; returns the slot.
    #[inline(always)]
    fn added(&self, key: u64, bytes: u64) -> &'static Slot {
        let slot = self.current().slot(key);
        if slot.key.load(Ordering::Relaxed) == 0 {
            return self.add_first(key, bytes);
        }
        slot.sums.add(bytes);
        slot
    }

    /// As `add`; returns what counts further ones at once, as long as the table is not outgrown.
    pub fn counted(&self, key: u64, bytes: u64) -> Counted {
        let slot = self.added(key, bytes);
        let table = self.table.load(Ordering::Relaxed);
        Counted { slot, table }
    }

    /// Adds a message to what was counted before; whether that is still so.
    #[inline(always)]
    pub fn add_to(&self, counted: &Counted, bytes: u64) -> bool {
        let holds = ptr::eq(counted.table, self.table.load(Ordering::Relaxed));
        if holds {
            counted.slot.sums.add(bytes);
        }
        holds
    }

    /// As `added`, where most calls have the key of the one before: that takes no look-up.
    #[inline(always)]
    pub fn added_in_a_row(&self, key: u64, bytes: u64) -> &'static Slot {
        // SAFETY: it only ever holds addresses in leaked tables.
        let last = unsafe { self.last.load(Ordering::Relaxed).as_ref() };
        if let Some(slot) = last.filter(|slot| slot.key.load(Ordering::Relaxed) == key) {
            slot.sums.add(bytes);
            return slot;
        }
        let slot = self.added(key, bytes);
        self.last
            .store(ptr::from_ref(slot).cast_mut(), Ordering::Relaxed);
        slot
    }

    #[cold]
    #[inline(never)]
    fn add_first(&self, key: u64, bytes: u64) -> &'static Slot {
        let used = self.used.load(Ordering::Relaxed) + 1;
        self.used.store(used, Ordering::Relaxed);
        if used as usize * 4 > self.current().slots.len() * 3 {
            self.grow();
        }
        let slot = self.current().slot(key);
        slot.sums.set(Traffic::new(1, bytes));
        slot.key.store(key, Ordering::Release);
        slot
    }

    fn grow(&self) {
        let larger = Box::leak(Box::new(Table::new(self.current().slots.len() / SLOTS * 2)));
        self.read_slots(|key, traffic, old| {
            let slot = larger.slot(key);
            slot.key.store(key, Ordering::Relaxed);
            slot.sums.set(traffic);
            let intervals = old.intervals.load(Ordering::Relaxed);
            slot.intervals.store(intervals, Ordering::Relaxed);
        });
        self.last.store(ptr::null_mut(), Ordering::Relaxed);
        self.table.store(larger, Ordering::Release);
    }

    /// Reads what was counted by each key.
    pub fn read(&self, mut each: impl FnMut(u64, Traffic)) {
        self.read_slots(|key, traffic, _| each(key, traffic));
    }

    /// The same, with the slots.
    pub fn read_slots(&self, mut each: impl FnMut(u64, Traffic, &Slot)) {
        for slot in self.current().slots {
            let key = slot.key.load(Ordering::Acquire);
            if key != 0 {
                each(key, slot.sums.read(), slot);
            }
        }
    }
}
