//! Events in the order in which they happen.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A step of a rank.
pub type Place = (usize, u32);

/// An event. Those of one time happen in this order, and those of one kind in that of messages or
/// ranks. Ranks come last: which steps one may begin is known when all has happened that does at
/// that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A message that has asked starts.
    Start(usize),
    /// The first byte of a message comes to the cluster of its receiver.
    Near(usize),
    /// It comes to the host.
    Come(usize),
    /// The last byte of it comes to its receiver.
    There(usize),
    /// A step ends.
    End(Place),
    /// The rank may have something to do.
    Wake(usize),
}

#[derive(Debug, PartialEq)]
struct Event {
    at: f64,
    what: What,
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

/// Events that have yet to happen.
#[derive(Debug, Default)]
pub(crate) struct Events(BinaryHeap<Reverse<Event>>);

impl Events {
    /// Adds one.
    pub fn at(&mut self, at: f64, what: What) {
        self.0.push(Reverse(Event { at, what }));
    }

    /// Whether any happens before `what` at `at` would.
    pub(crate) fn are_before(&self, at: f64, what: What) -> bool {
        let event = Event { at, what };
        self.0.peek().is_some_and(|Reverse(next)| *next < event)
    }

    /// The next, and its time.
    pub fn pop(&mut self) -> Option<(f64, What)> {
        self.0.pop().map(|Reverse(event)| (event.at, event.what))
    }
}
