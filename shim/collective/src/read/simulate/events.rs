//! Events in chronological order.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Step of a rank.
pub type RankStep = (usize, u32);

/// Event. Simultaneous events are in this order, those of one kind in the order of messages or
/// ranks. Ranks come last: the steps that one may begin are known when all other events of that
/// time have happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventKind {
    /// A message with a rendezvous starts.
    Start(usize),
    /// The first byte of a message arrives at the cluster of its receiver.
    Near(usize),
    /// It arrives at the host.
    Come(usize),
    /// The last byte of it arrives at its receiver.
    There(usize),
    /// A step ends.
    End(RankStep),
    /// The rank may have a step to execute.
    Wake(usize),
}

#[derive(Debug, PartialEq)]
struct Event {
    at: f64,
    what: EventKind,
}

impl Eq for Event {}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_time = self.at.total_cmp(&other.at);
        by_time.then_with(|| self.what.cmp(&other.what))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Future events.
#[derive(Debug, Default)]
pub(crate) struct Events(BinaryHeap<Reverse<Event>>);

impl Events {
    /// Adds an event.
    pub fn at(&mut self, at: f64, what: EventKind) {
        self.0.push(Reverse(Event { at, what }));
    }

    /// True if any event precedes `what` at time `at`.
    pub(crate) fn are_before(&self, at: f64, what: EventKind) -> bool {
        let event = Event { at, what };
        self.0.peek().is_some_and(|Reverse(next)| *next < event)
    }

    /// Removes and returns the next event, with its time.
    pub fn pop(&mut self) -> Option<(f64, EventKind)> {
        self.0.pop().map(|Reverse(event)| (event.at, event.what))
    }
}
