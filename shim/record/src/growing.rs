//! Growing tables of counts: one thread counts by keys, and any thread may read.

use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use treepie_mpi::system::{AtomicLink, AtomicRef};
use treepie_traffic::Traffic;

use super::sums::Sums;

/// Counts of one key. Only the owner writes.
#[derive(Default)]
#[repr(align(32))]
pub struct Slot {
    /// Key; 0 only in a free slot.
    key: AtomicU64,
    sums: Sums,
    /// For calls on windows: the latest interval between synchronisations in the upper half, the
    /// number of intervals in the lower one.
    intervals: AtomicU64,
}

impl Slot {
    /// Returns the number of intervals with calls.
    pub fn intervals(&self) -> u32 {
        self.intervals.load(Ordering::Relaxed) as u32
    }

    /// Notes a call in this interval.
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

/// Slots in two cache lines, which processors fetch together: tables begin and end between such
/// pairs, so that writes of one thread never interfere with another.
const SLOTS: usize = LINES / size_of::<Slot>();

/// Bytes of two cache lines.
const LINES: usize = 128;

/// Open-addressing table with a power of two of slots, at most three quarters full. It lasts as
/// long as the process.
struct Table {
    slots: &'static [Slot],
}

impl Table {
    fn new(lines: usize) -> Self {
        let length = lines * SLOTS;
        let slots: Box<[Slot]> = (0..length + SLOTS).map(|_| Slot::default()).collect();
        let slots = Box::leak(slots);
        let before = slots.as_ptr().addr() % LINES / size_of::<Slot>();
        let first = (SLOTS - before) % SLOTS;
        Table {
            slots: &slots[first..first + length],
        }
    }

    /// Returns the key's slot, or the free one where it would be.
    #[inline(always)]
    fn slot(&self, key: u64) -> &Slot {
        let mask = self.slots.len() - 1;
        // Fibonacci hashing: neighbouring ranks, and ranks a power of two apart, use different
        // slots.
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

/// Slot in which a key was counted.
#[derive(Clone, Copy)]
pub struct Counted {
    slot: &'static Slot,
    table: &'static Table,
}

/// Table that grows: a larger one replaces it, and the old one stays as it is, in case it is being
/// read.
pub struct Growing {
    table: AtomicRef<Table>,
    used: AtomicU32,
    /// Slot of the last call, in the current table, if such calls are consecutive.
    last: AtomicLink<Slot>,
}

impl Growing {
    /// Creates an empty one of `lines` lines.
    pub fn new(lines: usize) -> Self {
        Growing {
            table: AtomicRef::new(Box::leak(Box::new(Table::new(lines)))),
            used: AtomicU32::new(0),
            last: AtomicLink::none(),
        }
    }

    #[inline(always)]
    fn current(&self) -> &'static Table {
        self.table.load()
    }

    /// Adds a message to the counts of this key. Only the owning thread may call this.
    #[inline(always)]
    pub fn add(&self, key: u64, bytes: u64) {
        self.added(key, bytes);
    }

    /// Adds a message like `add`; returns the slot.
    #[inline(always)]
    fn added(&self, key: u64, bytes: u64) -> &'static Slot {
        let slot = self.current().slot(key);
        if slot.key.load(Ordering::Relaxed) == 0 {
            return self.add_first(key, bytes);
        }
        slot.sums.add(bytes);
        slot
    }

    /// Adds a message like `add`; returns a shortcut for further ones, valid as long as the table
    /// is not outgrown.
    pub fn counted(&self, key: u64, bytes: u64) -> Counted {
        let slot = self.added(key, bytes);
        let table = self.current();
        Counted { slot, table }
    }

    /// Adds a message by such a shortcut; false if it is no longer valid.
    #[inline(always)]
    pub fn add_to(&self, counted: &Counted, bytes: u64) -> bool {
        let holds = ptr::eq(counted.table, self.current());
        if holds {
            counted.slot.sums.add(bytes);
        }
        holds
    }

    /// Adds a message like `added`, for calls that mostly have the key of the previous one: these
    /// need no lookup.
    #[inline(always)]
    pub fn added_in_a_row(&self, key: u64, bytes: u64) -> &'static Slot {
        let last = self.last.load();
        if let Some(slot) = last.filter(|slot| slot.key.load(Ordering::Relaxed) == key) {
            slot.sums.add(bytes);
            return slot;
        }
        let slot = self.added(key, bytes);
        self.last.store(Some(slot));
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
        self.last.store(None);
        self.table.store(larger);
    }

    /// Reads the counts of each key.
    pub fn read(&self, mut each: impl FnMut(u64, Traffic)) {
        self.read_slots(|key, traffic, _| each(key, traffic));
    }

    /// Reads the counts of each key, with its slot.
    pub fn read_slots(&self, mut each: impl FnMut(u64, Traffic, &Slot)) {
        for slot in self.current().slots {
            let key = slot.key.load(Ordering::Acquire);
            if key != 0 {
                each(key, slot.sums.read(), slot);
            }
        }
    }
}
