//! What calls like an earlier one add to the counts. Programs send to the same partners, and
//! call the same collectives, again and again: where such a call is counted is kept, so that
//! its communicator, its partner and its datatype are not looked up once more.

use std::cell::Cell;

use treepie_core::collective::Operation;

use super::collectives::{self, Arguments};
use super::counters::Kind;
use super::place::Place;
use crate::mpi::{Word, c_int};

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// It sends, puts or gets.
    Move(Kind),
    /// It is a collective.
    Collect(Operation),
}

/// What makes calls alike: all that what they count depends on, but for a message's length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// What it does.
    pub does: Does,
    /// The communicator or the window.
    pub object: Word,
    /// The partner, or the root, in it.
    pub partner: c_int,
    /// The datatype of its elements.
    pub datatype: Word,
    /// How many of them, for collectives, which are counted by size classes; messages of any
    /// length are alike, and have 0 here.
    pub elements: i64,
}

impl Call {
    /// A collective on `comm`; `None` of those whose ranks' blocks differ.
    #[inline(always)]
    pub fn collective(operation: Operation, comm: Word, arguments: &Arguments) -> Option<Self> {
        let (elements, datatype) = collectives::block(operation, arguments)?;
        Some(Call {
            does: Does::Collect(operation),
            object: comm,
            partner: arguments.root,
            datatype,
            elements,
        })
    }

    /// A message or an access.
    #[inline(always)]
    pub fn moving(kind: Kind, object: Word, partner: c_int, datatype: Word) -> Self {
        Call {
            does: Does::Move(kind),
            object,
            partner,
            datatype,
            elements: 0,
        }
    }
}

/// What a call like this one counts.
#[derive(Clone, Copy)]
pub struct Known {
    /// `None` where it counts nothing.
    place: Option<Place>,
    /// The partner's rank in the application's world.
    pub partner: u32,
    /// Bytes of an element.
    size: u64,
}

impl Known {
    /// The call counts nothing.
    pub const NOTHING: Known = Known {
        place: None,
        partner: 0,
        size: 0,
    };

    /// The call is counted there, with so many bytes for each element.
    pub fn at(place: Place, partner: u32, size: u64) -> Self {
        Known {
            place: Some(place),
            partner,
            size,
        }
    }

    /// Bytes of so many elements.
    #[inline(always)]
    pub fn bytes(&self, elements: i64) -> u64 {
        self.size.saturating_mul(elements.max(0) as u64)
    }

    /// Counts the call. Only the thread that knew may, and nothing that it counted meanwhile
    /// may have moved its counts.
    #[inline(always)]
    pub fn count(&self, elements: i64) {
        if let Some(place) = self.place {
            place.add(self.bytes(elements));
        }
    }
}

struct Entry {
    call: Cell<Call>,
    /// What was known holds while handles mean the same.
    epoch: Cell<u64>,
    known: Cell<Known>,
}

/// No epoch: they are counted from 0.
const NEVER: u64 = u64::MAX;

/// How many kinds of calls a thread keeps.
const ENTRIES: usize = 64;

/// The calls of one thread.
pub struct Repeated {
    entries: [Entry; ENTRIES],
}

/// Neighbours, ranks a power of two apart, and collectives of several lengths have entries of
/// their own.
#[inline(always)]
fn entry_of(call: &Call) -> usize {
    let does = match call.does {
        Does::Move(kind) => kind as u32,
        Does::Collect(operation) => 8 + operation as u32,
    };
    let partner = call.partner as u32 ^ does << 16;
    let elements = (call.elements as u32).rotate_left(8);
    let what = (partner ^ elements).wrapping_mul(0x9e37_79b9);
    (what >> (u32::BITS - ENTRIES.ilog2())) as usize
}

impl Repeated {
    /// Nothing is known yet.
    pub fn new() -> Self {
        let nothing = Call::moving(Kind::PointToPoint, 0, 0, 0);
        Repeated {
            entries: std::array::from_fn(|_| Entry {
                call: Cell::new(nothing),
                epoch: Cell::new(NEVER),
                known: Cell::new(Known::NOTHING),
            }),
        }
    }

    /// What a call counts, if one like it is known. Handles mean the same as long as `epoch` is
    /// the same.
    #[inline(always)]
    pub fn find(&self, call: &Call, epoch: u64) -> Option<Known> {
        let entry = &self.entries[entry_of(call)];
        if entry.call.get() != *call || entry.epoch.get() != epoch {
            return None;
        }
        let known = entry.known.get();
        known.place.is_none_or(Place::holds).then_some(known)
    }

    /// Keeps what a call counts.
    pub fn keep(&self, call: &Call, epoch: u64, known: Known) {
        let entry = &self.entries[entry_of(call)];
        entry.call.set(*call);
        entry.epoch.set(epoch);
        entry.known.set(known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::counters::{self, Counters};

    fn call(partner: c_int) -> Call {
        Call::moving(Kind::PointToPoint, 0x4400_0000, partner, 0x4c00_0101)
    }

    /// What sends of elements of 2 bytes to `partner` count, where one was counted before.
    fn sent(counters: &'static Counters, partner: u32) -> Known {
        let place = counters.place(Kind::PointToPoint, partner);
        Known::at(place.expect("a message was counted"), partner, 2)
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
    fn a_call_like_one_before_of_any_length_is_known_and_any_other_is_not() {
        let (repeated, counters) = (Repeated::new(), counters::claim());
        let known = call(3);
        assert!(repeated.find(&known, 1).is_none());
        counters.add(Kind::PointToPoint, 70_003, 10);
        repeated.keep(&known, 1, sent(counters, 70_003));
        for elements in [5, 0, 1, -1] {
            let found = repeated.find(&known, 1).expect("it was kept");
            assert_eq!(found.partner, 70_003);
            found.count(elements);
        }
        let others = [
            call(4),
            Call {
                does: Does::Move(Kind::Put),
                ..known
            },
            Call {
                does: Does::Collect(Operation::Bcast),
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
            Call {
                elements: 1,
                ..known
            },
        ];
        for other in others {
            assert!(repeated.find(&other, 1).is_none(), "{other:?}");
        }
        assert_eq!(messages_to(counters, 70_003), (5, 22));
        counters.release();
    }

    #[test]
    fn nothing_is_known_any_more_when_a_handle_was_forgotten_or_the_counts_have_moved() {
        let (repeated, counters) = (Repeated::new(), counters::claim());
        let known = call(5);
        counters.add(Kind::PointToPoint, 70_005, 2);
        repeated.keep(&known, 1, sent(counters, 70_005));
        assert!(repeated.find(&known, 2).is_none());
        repeated.find(&known, 1).expect("it was kept").count(1);
        // The table grows.
        for partner in 80_000..81_000 {
            counters.add(Kind::PointToPoint, partner, 1);
        }
        assert!(repeated.find(&known, 1).is_none());
        assert_eq!(messages_to(counters, 70_005), (2, 4));
        counters.release();
    }
}
