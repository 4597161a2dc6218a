//! Place of a plan's execution: a private communicator, and the tags of a call on it.

use treepie_mpi::{Comm, c_int};

/// Number of tags that each call has for itself.
const TAGS_OF_A_CALL: u32 = 4096;

/// Tag of messages from a process to itself.
const OWN_TAG: c_int = 0x7fff;

/// Number of blocks of tags below which started collectives have none.
const MANY_WAYS: u32 = 1 << 10;

/// Place of a plan's execution.
#[derive(Debug, Clone, Copy)]
pub struct CallContext {
    /// Private communicator.
    pub comm: Comm,
    /// This process's rank in it.
    pub rank: usize,
    /// Tags of its messages.
    pub tags: Tags,
    /// Number of the call on the communicator.
    pub call: u32,
    /// True if it stays active during later calls.
    pub is_started: bool,
}

impl CallContext {
    /// Returns communicator, rank and tag of a message from this process to itself. No other call
    /// uses them: only one thread at a time is in a collective on a communicator, and started ones,
    /// which are active meanwhile, have separate tags.
    pub fn to_oneself(self) -> (Comm, usize, c_int) {
        let tag = match self.is_started {
            true => self.tags.of(1),
            false => OWN_TAG,
        };
        (self.comm, self.rank, tag)
    }

    /// Returns communicator, rank and tag of the message to oneself that completes a persistent
    /// request.
    pub fn to_oneself_at_the_end(self) -> (Comm, usize, c_int) {
        (self.comm, self.rank, self.tags.of(0))
    }
}

/// Tags of a call's messages. They differ from those of preceding calls, so that messages of
/// concurrent calls, and messages left by a failed call, do not match wrong receives. When a tag is
/// used again, its earlier message has arrived long before.
///
/// The MPI's tags are divided into blocks. A quarter of these is for persistent requests, each of
/// which keeps its own, and a quarter for non-blocking collectives whose messages wait for others.
#[derive(Debug, Clone, Copy)]
pub struct Tags {
    /// Exclusive upper bound of all tags.
    bound: u32,
    /// First tag of the call.
    first: u32,
}

impl Tags {
    /// Creates the tags of an MPI whose largest is `largest`: at least 32767 in every MPI.
    pub fn new(largest: u32) -> Self {
        Tags {
            bound: largest.clamp(OWN_TAG as u32, 1 << 30),
            first: 0,
        }
    }

    /// Returns the tags of the `number`-th call on a communicator.
    pub fn of_call(self, number: u32) -> Self {
        Tags {
            first: number % self.ways_of_calls() * TAGS_OF_A_CALL,
            ..self
        }
    }

    /// Returns the tags of the `number`-th persistent request of a communicator; `None` if none are
    /// left.
    pub fn of_persistent(self, number: u32) -> Option<Self> {
        let way = self.ways_of_calls() + number;
        (number < self.quarter()).then_some(Tags {
            first: way * TAGS_OF_A_CALL,
            ..self
        })
    }

    /// Returns the tags of the `number`-th non-blocking collective whose messages wait for others.
    pub fn of_waiting(self, number: u32) -> Self {
        let way = self.ways_of_calls() + self.quarter() + number % self.quarter().max(1);
        Tags {
            first: way * TAGS_OF_A_CALL,
            ..self
        }
    }

    /// Returns the number of consecutive such collectives with different tags, which is also that
    /// of persistent requests.
    pub fn quarter(self) -> u32 {
        match self.are_many() {
            true => self.ways() / 4,
            false => 0,
        }
    }

    fn ways(self) -> u32 {
        self.bound / TAGS_OF_A_CALL
    }

    /// Returns the number of consecutive calls of a communicator with different tags.
    fn ways_of_calls(self) -> u32 {
        self.ways() - 2 * self.quarter()
    }

    /// True if started collectives have separate tags.
    pub fn are_many(self) -> bool {
        self.ways() >= MANY_WAYS
    }

    /// Returns the MPI tag of a message that has tag `tag` in the plan.
    pub fn of(self, tag: u32) -> c_int {
        ((self.first + tag % self.bound) % self.bound) as c_int
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn calls_that_follow_each_other_have_different_tags_that_every_mpi_has() {
        for largest in [0x7fff, 1 << 19, u32::MAX] {
            let tags = Tags::new(largest);
            let mut seen = HashSet::new();
            for number in 0..7 {
                for tag in 0..TAGS_OF_A_CALL {
                    assert!(seen.insert(tags.of_call(number).of(tag)));
                }
            }
            let all = [0, 5, 30, 31, 1 << 20, u32::MAX].map(|n| tags.of_call(n).of(u32::MAX));
            assert!(all.iter().all(|tag| (0..1 << 30).contains(tag)));
        }
    }

    #[test]
    fn started_collectives_have_tags_that_no_other_call_has() {
        let tags = Tags::new((1 << 28) - 1);
        let first = |tags: Tags| tags.of(0);
        let calls: HashSet<c_int> = (0..1 << 17).map(|n| first(tags.of_call(n))).collect();
        let waiting: HashSet<c_int> = (0..1 << 17).map(|n| first(tags.of_waiting(n))).collect();
        let persistent = (0..).map_while(|number| tags.of_persistent(number));
        let persistent: HashSet<c_int> = persistent.map(first).collect();
        assert!(persistent.len() > 10_000 && waiting.len() > 10_000 && calls.len() > 30_000);
        assert!(persistent.is_disjoint(&calls) && persistent.is_disjoint(&waiting));
        assert!(waiting.is_disjoint(&calls));
        assert!(!Tags::new(0x7fff).are_many());
    }
}
