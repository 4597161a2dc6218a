//! Counts calls on one communicator that are alike: one addition a call.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use treepie_core::affinity::Traffic;
use treepie_core::affinity::collective::{Operation, size_class};
use treepie_core::files::parts::{Encoder, Sink};

use super::observe::{Amount, Seen};

/// Calls that were alike, together.
#[derive(Default)]
struct Tally {
    calls: u64,
    bytes: u64,
    parts: Vec<u64>,
    sent: HashMap<(u32, u32), Traffic>,
}

/// What makes calls alike: operation, root, size class.
type Key = (Operation, Option<u32>, u8);

/// The calls on one communicator.
#[derive(Default)]
pub struct Tallies {
    all: HashMap<Key, Tally, BuildHasherDefault<KeyHasher>>,
    /// What [`Latest`] counts at the moment.
    latest: Option<Key>,
}

/// The kind of call that a communicator saw last, counted without a lock:
/// applications repeat themselves. MPI allows one collective at a time on a
/// communicator, so that a load and a store do for an addition.
#[derive(Default)]
pub struct Latest {
    /// A packed [`Key`] + 1; 0 while there is none.
    key: AtomicU64,
    calls: AtomicU64,
    bytes: AtomicU64,
}

impl Latest {
    /// Counts a call if it is like the last one.
    #[inline]
    pub fn add(&self, operation: Operation, seen: &Seen) -> bool {
        let Amount::Block(bytes) = seen.amount else {
            return false;
        };
        if self.key.load(Ordering::Relaxed) != pack(operation, seen.root, size_class(bytes)) {
            return false;
        }
        let add = |counter: &AtomicU64, more: u64| {
            let sum = counter.load(Ordering::Relaxed).saturating_add(more);
            counter.store(sum, Ordering::Relaxed);
        };
        add(&self.calls, 1);
        add(&self.bytes, bytes);
        true
    }

    /// Moves what was counted to the tallies, and gets ready for calls like this
    /// one.
    pub fn turn_to(&self, tallies: &mut Tallies, operation: Operation, seen: &Seen) {
        self.settle(tallies);
        if let Amount::Block(bytes) = seen.amount {
            let key = (operation, seen.root, size_class(bytes));
            tallies.latest = Some(key);
            let packed = pack(key.0, key.1, key.2);
            self.key.store(packed, Ordering::Relaxed);
        }
    }

    /// Moves what was counted to the tallies.
    pub fn settle(&self, tallies: &mut Tallies) {
        self.key.store(0, Ordering::Relaxed);
        let calls = self.calls.swap(0, Ordering::Relaxed);
        let bytes = self.bytes.swap(0, Ordering::Relaxed);
        if let Some(key) = tallies.latest.take() {
            let tally = tallies.all.entry(key).or_default();
            tally.calls = tally.calls.saturating_add(calls);
            tally.bytes = tally.bytes.saturating_add(bytes);
        }
    }
}

/// A key as one number that is not 0.
fn pack(operation: Operation, root: Option<u32>, size_class: u8) -> u64 {
    let root = root.map_or(0, |root| u64::from(root) + 1);
    (root << 16 | u64::from(size_class) << 8 | operation as u64) + 1
}

impl Tallies {
    /// Counts one call.
    pub fn add(&mut self, operation: Operation, seen: &Seen) {
        let class = match &seen.amount {
            Amount::Block(bytes) => size_class(*bytes),
            Amount::Parts(parts) => {
                let total = parts
                    .iter()
                    .fold(0u64, |sum, part| sum.saturating_add(*part));
                size_class(total / (parts.len() as u64).max(1))
            }
            // Ranks send differently much in one call: the class is found when
            // their reports are together.
            Amount::Sent(..) => 0,
        };
        let tally = self.all.entry((operation, seen.root, class)).or_default();
        // Of what all ranks report, rank 0's report is the call.
        tally.calls += u64::from(!matches!(seen.amount, Amount::Sent(1.., _)));
        match &seen.amount {
            Amount::Block(bytes) => tally.bytes = tally.bytes.saturating_add(*bytes),
            Amount::Parts(parts) => tally.add_parts(parts),
            Amount::Sent(from, parts) => tally.add_sent(*from, parts),
        }
    }
}

impl Tally {
    fn add_parts(&mut self, parts: &[u64]) {
        self.parts.resize(parts.len(), 0);
        for (total, part) in self.parts.iter_mut().zip(parts) {
            *total = total.saturating_add(*part);
        }
    }

    fn add_sent(&mut self, from: u32, parts: &[u64]) {
        for (to, &bytes) in (0u32..).zip(parts) {
            if bytes > 0 && to != from {
                let traffic = self.sent.entry((from, to)).or_default();
                traffic.messages = traffic.messages.saturating_add(1);
                traffic.bytes = traffic.bytes.saturating_add(bytes);
            }
        }
    }
}

impl Tallies {
    /// Writes records of what was counted, for a communicator whose ranks are
    /// `group` in the world. Nothing is allocated.
    pub fn encode<S: Sink>(&self, latest: &Latest, group: &[u32], encoder: &mut Encoder<'_, S>) {
        use Operation::*;
        for (&of, tally) in &self.all {
            match of.0 {
                Alltoallv | Alltoallw => {
                    let pairs = tally
                        .sent
                        .iter()
                        .map(|(&(from, to), traffic)| (from, to, traffic.bytes, traffic.messages));
                    encoder.pairs(of, tally.calls, group, pairs);
                }
                Gatherv | Scatterv | Allgatherv | ReduceScatter => {
                    encoder.per_rank(of, tally.calls, group, &tally.parts);
                }
                _ => encoder.uniform(of, tally.calls, group, tally.bytes),
            }
        }
        if let Some(of) = self.latest {
            let calls = latest.calls.load(Ordering::Relaxed);
            if calls > 0 {
                encoder.uniform(of, calls, group, latest.bytes.load(Ordering::Relaxed));
            }
        }
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && self.latest.is_none()
    }
}

/// Hashes the small keys of tallies: a multiplication for each part.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }
}
