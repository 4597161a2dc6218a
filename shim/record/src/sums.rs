//! Counts that one thread at a time adds to and any thread may read.

use std::sync::atomic::{AtomicU64, Ordering};

use treepie_traffic::Traffic;

/// Number of messages (or calls) and their bytes. One thread at a time adds, so that a load and a
/// store suffice for an addition; any thread may read.
#[derive(Default)]
pub struct Sums {
    messages: AtomicU64,
    bytes: AtomicU64,
}

#[inline(always)]
pub fn increase(counter: &AtomicU64, more: u64) {
    let sum = counter.load(Ordering::Relaxed).saturating_add(more);
    counter.store(sum, Ordering::Relaxed);
}

impl Sums {
    /// Adds one message.
    #[inline(always)]
    pub fn add(&self, bytes: u64) {
        increase(&self.messages, 1);
        if bytes > 0 {
            increase(&self.bytes, bytes);
        }
    }

    /// Returns the counts.
    pub fn read(&self) -> Traffic {
        Traffic {
            messages: self.messages.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }

    /// Sets the counts.
    pub fn set(&self, traffic: Traffic) {
        self.messages.store(traffic.messages, Ordering::Relaxed);
        self.bytes.store(traffic.bytes, Ordering::Relaxed);
    }
}
