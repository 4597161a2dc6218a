//! Counters of equal calls on one communicator: one addition for each call.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use treepie_collective::{Operation, PlanRun, size_class};
use treepie_profile::partial_profiles::{Encoder, RecordKey, Sink};
use treepie_traffic::Traffic;

use super::super::sums::Sums;
use super::count::Plan;
use super::observe::{Amount, CallTraffic};

/// Totals of equal calls.
#[derive(Default)]
struct Tally {
    calls: u64,
    bytes: u64,
    blocks: Vec<u64>,
    sent: HashMap<(u32, u32), Traffic, BuildHasherDefault<KeyHasher>>,
}

/// Key that equal calls share.
type Key = RecordKey<Plan>;

/// Counts of calls on one communicator.
#[derive(Default)]
pub struct Tallies {
    all: HashMap<Key, Tally, BuildHasherDefault<KeyHasher>>,
    /// Keys of the cells of [`Recent`] at the moment.
    recent: [Option<Key>; CELLS],
}

/// Number of kinds of calls that a communicator counts without a lock.
const CELLS: usize = 8;

/// Recent kinds of calls on a communicator, counted without a lock: applications repeat themselves.
/// MPI allows one collective at a time on a communicator.
#[derive(Default)]
pub struct Recent {
    cells: [Cell; CELLS],
}

/// Counter of one kind of call.
#[derive(Default)]
struct Cell {
    /// [`pack`]ed [`Key`] without its plan; 0 while there is none.
    key: AtomicU64,
    /// Plan that ran them; null for the native collective.
    plan: AtomicPtr<PlanRun>,
    sums: Sums,
}

impl Recent {
    /// Counts a call if its kind has a cell; `false` if not.
    #[inline(always)]
    pub fn add(
        &self,
        operation: Operation,
        root: Option<u32>,
        bytes: u64,
        plan: Option<Plan>,
    ) -> bool {
        let key = pack(operation, root, size_class(bytes));
        let cell = &self.cells[cell_of(key)];
        let is_counted = cell.key.load(Ordering::Relaxed) == key
            && cell.plan.load(Ordering::Relaxed) == address(plan);
        if is_counted {
            cell.sums.add(bytes);
        }
        is_counted
    }

    /// Assigns a cell to this kind of call; the cell's previous counts go to the tallies.
    pub fn turn_to(
        &self,
        tallies: &mut Tallies,
        operation: Operation,
        root: Option<u32>,
        bytes: u64,
        plan: Option<Plan>,
    ) {
        let size_class = size_class(bytes);
        let packed = pack(operation, root, size_class);
        let at = cell_of(packed);
        self.cells[at].settle(tallies, at);
        tallies.recent[at] = Some(RecordKey {
            operation,
            root,
            size_class,
            plan,
        });
        self.cells[at].plan.store(address(plan), Ordering::Relaxed);
        self.cells[at].key.store(packed, Ordering::Relaxed);
    }

    /// Moves all counts to the tallies.
    pub fn settle(&self, tallies: &mut Tallies) {
        for (at, cell) in self.cells.iter().enumerate() {
            cell.settle(tallies, at);
        }
    }
}

impl Cell {
    /// Moves the counts of this cell, number `at`, to the tallies.
    fn settle(&self, tallies: &mut Tallies, at: usize) {
        self.key.store(0, Ordering::Relaxed);
        let counted = self.sums.read();
        self.sums.set(Traffic::default());
        if let Some(key) = tallies.recent[at].take() {
            let tally = tallies.all.entry(key).or_default();
            tally.calls = tally.calls.saturating_add(counted.messages);
            tally.bytes = tally.bytes.saturating_add(counted.bytes);
        }
    }
}

/// Returns the cell of a packed key.
#[inline(always)]
fn cell_of(packed: u64) -> usize {
    (packed ^ packed >> 8 ^ packed >> 16) as usize % CELLS
}

/// Returns the address of a plan; null if there is none.
#[inline(always)]
fn address(plan: Option<Plan>) -> *mut PlanRun {
    plan.map_or(ptr::null(), ptr::from_ref).cast_mut()
}

/// Packs a key without its plan into one number that is not 0.
#[inline(always)]
fn pack(operation: Operation, root: Option<u32>, size_class: u8) -> u64 {
    let root = root.map_or(0, |root| u64::from(root) + 1);
    (root << 16 | u64::from(size_class) << 8 | operation as u64) + 1
}

impl Tallies {
    /// Counts one call.
    pub fn add(&mut self, operation: Operation, seen: &CallTraffic, plan: Option<Plan>) {
        let class = match &seen.amount {
            Amount::Block(bytes) => size_class(*bytes),
            Amount::Blocks(blocks) => {
                let total = blocks
                    .iter()
                    .fold(0u64, |sum, block| sum.saturating_add(*block));
                size_class(total / (blocks.len() as u64).max(1))
            }
            // Ranks may send different amounts in one call: the class is computed when their
            // reports are combined.
            Amount::Sent(..) | Amount::SentTo(..) => 0,
        };
        let key = RecordKey {
            operation,
            root: seen.root,
            size_class: class,
            plan,
        };
        let tally = self.all.entry(key).or_default();
        // If all ranks report a call, rank 0's report counts as the call.
        let is_reported = matches!(seen.amount, Amount::Sent(1.., _) | Amount::SentTo(1.., _));
        tally.calls += u64::from(!is_reported);
        match &seen.amount {
            Amount::Block(bytes) => tally.bytes = tally.bytes.saturating_add(*bytes),
            Amount::Blocks(blocks) => tally.add_blocks(blocks),
            Amount::Sent(from, blocks) => {
                let blocks = (0u32..).zip(blocks.iter().copied());
                tally.add_sent(*from, blocks);
            }
            Amount::SentTo(from, blocks) => tally.add_sent(*from, blocks.iter().copied()),
        }
    }
}

impl Tally {
    fn add_blocks(&mut self, blocks: &[u64]) {
        self.blocks.resize(blocks.len(), 0);
        for (total, block) in self.blocks.iter_mut().zip(blocks) {
            *total = total.saturating_add(*block);
        }
    }

    fn add_sent(&mut self, from: u32, blocks: impl Iterator<Item = (u32, u64)>) {
        for (to, bytes) in blocks {
            if bytes > 0 && to != from {
                let traffic = self.sent.entry((from, to)).or_default();
                traffic.messages = traffic.messages.saturating_add(1);
                traffic.bytes = traffic.bytes.saturating_add(bytes);
            }
        }
    }
}

impl Tallies {
    /// Writes records of the counts, for a communicator whose ranks are `group` in the world.
    /// Nothing is allocated.
    pub fn encode<S: Sink>(&self, recent: &Recent, group: &[u32], encoder: &mut Encoder<'_, S>) {
        use Operation::*;
        for (&of, tally) in &self.all {
            match of.operation {
                Alltoallv | Alltoallw | NeighborAllgather | NeighborAllgatherv
                | NeighborAlltoall | NeighborAlltoallv | NeighborAlltoallw => {
                    let pairs = tally
                        .sent
                        .iter()
                        .map(|(&(from, to), traffic)| (from, to, traffic.bytes, traffic.messages));
                    encoder.pairs(of, tally.calls, group, pairs);
                }
                Gatherv | Scatterv | Allgatherv | ReduceScatter => {
                    encoder.per_rank(of, tally.calls, group, &tally.blocks);
                }
                _ => encoder.uniform(of, tally.calls, group, tally.bytes),
            }
        }
        for (of, cell) in self.recent.iter().zip(&recent.cells) {
            let counted = cell.sums.read();
            if let &Some(of) = of
                && counted.messages > 0
            {
                encoder.uniform(of, counted.messages, group, counted.bytes);
            }
        }
    }

    /// True if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && self.recent.iter().all(Option::is_none)
    }
}

/// Hasher of the small keys of tallies: a multiplication for each part.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_that_counts_other_calls_leaves_what_it_counted_to_the_tallies() {
        let (recent, mut tallies) = (Recent::default(), Tallies::default());
        let count = |root, plan| recent.add(Operation::Bcast, Some(root), 8, plan);
        let mut turn_to =
            |root, plan| recent.turn_to(&mut tallies, Operation::Bcast, Some(root), 8, plan);
        assert!(!count(0, None));
        turn_to(0, None);
        assert!(count(0, None));
        assert!(count(0, None));
        let cell = |root| cell_of(pack(Operation::Bcast, Some(root), size_class(8)));
        let other = (1..).find(|&root| cell(root) == cell(0));
        let other = other.expect("there are more roots than cells");
        turn_to(other, None);
        assert!(!count(0, None));
        let plan = super::super::plan(PlanRun {
            algorithm: "flat".into(),
            segment: 1,
            unit_bytes: 1,
            ordered: false,
        });
        turn_to(0, Some(plan));
        assert!(!count(0, None), "the native collective is not the plan");
        assert!(count(0, Some(plan)));
        recent.settle(&mut tallies);
        let of = |plan| {
            let tally = &tallies.all[&RecordKey {
                operation: Operation::Bcast,
                root: Some(0),
                size_class: size_class(8),
                plan,
            }];
            (tally.calls, tally.bytes)
        };
        assert_eq!((of(None), of(Some(plan))), ((2, 16), (1, 8)));
    }
}
