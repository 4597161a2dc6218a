//! Where a plan is run: a communicator of ours, and the tags of a call on it.

use treepie_mpi::{Comm, c_int};

/// So many tags each call has for itself, before they are those of the next.
const TAGS_OF_A_CALL: u32 = 4096;

/// The tag of messages from a process to itself.
const OWN_TAG: c_int = 0x7fff;

/// With fewer ways than these none are left for started collectives.
const MANY_WAYS: u32 = 1 << 10;

/// Where a plan is run.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// A communicator whose messages are all ours.
    pub comm: Comm,
    /// This process's rank in it.
    pub rank: usize,
    /// Which tags its messages have.
    pub tags: Tags,
    /// The number of the call, among those of the communicator.
    pub call: u32,
    /// Whether it goes on while other calls come and go.
    pub is_started: bool,
}

impl Place {
    /// Communicator, rank and tag of a message from this process to itself. Nobody else's is there:
    /// one thread at a time is in a collective on a communicator, and started ones, which go on
    /// while it is, have tags of their own.
    pub fn to_oneself(self) -> (Comm, usize, c_int) {
        let tag = match self.is_started {
            true => self.tags.of(1),
            false => OWN_TAG,
        };
        (self.comm, self.rank, tag)
    }

    /// The message to oneself that completes a persistent request.
    pub fn to_oneself_at_the_end(self) -> (Comm, usize, c_int) {
        (self.comm, self.rank, self.tags.of(0))
    }
}

/// The tags of a call's messages. Each call has others than the calls before it, so that calls that
/// are under way together do not meet, nor what a call that failed has left behind. A tag that is
/// used again is so far behind that its message has long arrived.
///
/// Of the ways that an MPI's tags are parted into, a quarter is for persistent requests, each of
/// which keeps its own, and a quarter for non-blocking collectives whose messages wait for others.
#[derive(Debug, Clone, Copy)]
pub struct Tags {
    /// All are below this.
    bound: u32,
    /// The first one of the call.
    first: u32,
}

impl Tags {
    /// Tags of an MPI whose largest is `largest`: 32767 in every MPI at least.
    pub fn new(largest: u32) -> Self {
        Tags {
            bound: largest.clamp(OWN_TAG as u32, 1 << 30),
            first: 0,
        }
    }

    /// Those of the `number`-th call on a communicator.
    pub fn of_call(self, number: u32) -> Self {
        Tags {
            first: number % self.ways_of_calls() * TAGS_OF_A_CALL,
            ..self
        }
    }

    /// Those of the `number`-th persistent request of a communicator; `None` where there are no
    /// more.
    pub fn of_persistent(self, number: u32) -> Option<Self> {
        let way = self.ways_of_calls() + number;
        (number < self.quarter()).then_some(Tags {
            first: way * TAGS_OF_A_CALL,
            ..self
        })
    }

    /// Those of the `number`-th non-blocking collective whose messages wait for others.
    pub fn of_waiting(self, number: u32) -> Self {
        let way = self.ways_of_calls() + self.quarter() + number % self.quarter().max(1);
        Tags {
            first: way * TAGS_OF_A_CALL,
            ..self
        }
    }

    /// So many of those in a row have tags of their own; so many persistent requests, too.
    pub fn quarter(self) -> u32 {
        match self.are_many() {
            true => self.ways() / 4,
            false => 0,
        }
    }

    fn ways(self) -> u32 {
        self.bound / TAGS_OF_A_CALL
    }

    /// So many calls of a communicator in a row have tags of their own.
    fn ways_of_calls(self) -> u32 {
        self.ways() - 2 * self.quarter()
    }

    /// Whether started collectives have tags of their own.
    pub fn are_many(self) -> bool {
        self.ways() >= MANY_WAYS
    }

    /// The tag of a message that has this one in the plan.
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
