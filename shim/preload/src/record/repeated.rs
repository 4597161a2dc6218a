//! What calls like an earlier one add to the counts. Programs send the same to the same
//! partners again and again: what such a call counts, and where, is kept, so that its
//! communicator, its partner and its datatype are not looked up once more.

use std::cell::Cell;

use super::counters::{Counters, Kind, Place};
use crate::api::{Word, c_int};

/// What makes calls alike: all that a message's partner and bytes depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// The kind of traffic.
    pub kind: Kind,
    /// The communicator or the window.
    pub object: Word,
    /// The partner in it.
    pub partner: c_int,
    /// Elements.
    pub elements: i64,
    /// Their datatype.
    pub datatype: Word,
}

/// What a call like this one counts.
#[derive(Clone, Copy)]
pub struct Known {
    place: Place,
    /// The partner's rank in the application's world.
    pub partner: u32,
    /// Bytes of the message.
    pub bytes: u64,
}

/// What was known holds while handles mean the same and the counts are where they were.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Validity {
    epoch: u64,
    table: usize,
}

struct Entry {
    call: Cell<Call>,
    validity: Cell<Validity>,
    known: Cell<Option<Known>>,
}

/// How many kinds of calls a thread keeps.
const ENTRIES: usize = 32;

/// The calls of one thread.
pub struct Repeated {
    entries: [Entry; ENTRIES],
}

/// Neighbours, and ranks a power of two apart, have entries of their own.
#[inline(always)]
fn place(call: &Call) -> usize {
    let what = call.partner as u32 ^ (call.kind as u32) << 16;
    (what.wrapping_mul(0x9e37_79b9) >> (u32::BITS - ENTRIES.ilog2())) as usize
}

impl Repeated {
    /// Nothing is known yet.
    pub fn new() -> Self {
        let nothing = Call {
            kind: Kind::PointToPoint,
            object: 0,
            partner: 0,
            elements: 0,
            datatype: 0,
        };
        Repeated {
            entries: std::array::from_fn(|_| Entry {
                call: Cell::new(nothing),
                validity: Cell::new(Validity { epoch: 0, table: 0 }),
                known: Cell::new(None),
            }),
        }
    }

    /// Counts a call, if one like it is known. Handles mean the same as long as `epoch` is the
    /// same. Only the thread whose counters these are may call this.
    #[inline(always)]
    pub fn count(&self, call: &Call, epoch: u64, counters: &Counters) -> Option<Known> {
        let entry = &self.entries[place(call)];
        let table = counters.table();
        if entry.call.get() != *call || entry.validity.get() != (Validity { epoch, table }) {
            return None;
        }
        let known = entry.known.get()?;
        known.place.add(known.bytes);
        Some(known)
    }

    /// Keeps what a call counted that was counted as a message of `bytes` bytes to `partner`.
    pub fn keep(
        &self,
        call: &Call,
        epoch: u64,
        counters: &'static Counters,
        (partner, bytes): (u32, u64),
    ) {
        let Some(place_of_counts) = counters.place(call.kind, partner) else {
            return;
        };
        let entry = &self.entries[place(call)];
        entry.call.set(*call);
        let table = counters.table();
        entry.validity.set(Validity { epoch, table });
        entry.known.set(Some(Known {
            place: place_of_counts,
            partner,
            bytes,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::counters;

    fn call(partner: c_int, elements: i64) -> Call {
        Call {
            kind: Kind::PointToPoint,
            object: 0x4400_0000,
            partner,
            elements,
            datatype: 0x4c00_0101,
        }
    }

    fn messages_to(counters: &Counters, rank: u32) -> (u64, u64) {
        let mut found = (0, 0);
        counters.read(|_, partner, traffic| {
            if partner == rank {
                found = (traffic.messages, traffic.bytes);
            }
        });
        found
    }

    #[test]
    fn a_call_like_one_before_adds_the_same_and_any_other_adds_nothing() {
        let (repeated, counters) = (Repeated::new(), counters::claim());
        let known = call(3, 10);
        assert!(repeated.count(&known, 1, counters).is_none());
        counters.add(Kind::PointToPoint, 70_003, 10);
        repeated.keep(&known, 1, counters, (70_003, 10));
        for _ in 0..4 {
            let counted = repeated.count(&known, 1, counters);
            let counted = counted.map(|counted| (counted.partner, counted.bytes));
            assert_eq!(counted, Some((70_003, 10)));
        }
        for other in [
            call(3, 11),
            call(4, 10),
            Call {
                kind: Kind::Put,
                ..known
            },
            Call {
                object: 0x4400_0001,
                ..known
            },
            Call {
                datatype: 0x4c00_0102,
                ..known
            },
        ] {
            assert!(repeated.count(&other, 1, counters).is_none(), "{other:?}");
        }
        assert_eq!(messages_to(counters, 70_003), (5, 50));
        counters.release();
    }

    #[test]
    fn nothing_is_known_any_more_when_a_handle_was_forgotten_or_the_counts_have_moved() {
        let (repeated, counters) = (Repeated::new(), counters::claim());
        let known = call(5, 1);
        counters.add(Kind::PointToPoint, 70_005, 1);
        repeated.keep(&known, 1, counters, (70_005, 1));
        assert!(repeated.count(&known, 2, counters).is_none());
        assert!(repeated.count(&known, 1, counters).is_some());
        // The table grows.
        for partner in 80_000..81_000 {
            counters.add(Kind::PointToPoint, partner, 1);
        }
        assert!(repeated.count(&known, 1, counters).is_none());
        assert_eq!(messages_to(counters, 70_005), (2, 2));
        counters.release();
    }
}
