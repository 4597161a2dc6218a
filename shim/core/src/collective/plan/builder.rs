//! Makes a plan from a rank's steps in program order. A generator writes what
//! the rank would do one after the other; here is found what may overlap: steps
//! wait for each other only where they touch the same units.
//!
//! The n-th message that a rank sends to another is the n-th that the other
//! receives from it, in program order, as both generators write it.

use std::collections::HashMap;

use crate::collective::plan::hazards::Hazards;
use crate::collective::plan::{Action, Plan, Range, Space};

/// No message is larger than this many units: counts of MPI are `int`s.
pub const LARGEST_MESSAGE: u64 = 1 << 30;

/// A range has at most this many pieces: segments grow with the message, so that
/// plans do not.
const MOST_PIECES: u64 = 1024;

/// How messages go, in units. A number alone is the largest message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// The largest message.
    pub segment: u64,
    /// What is on its way between two clusters while a link is kept busy; `None` for
    /// what the problem's network says.
    pub in_flight: Option<u64>,
}

impl From<u64> for Flow {
    fn from(segment: u64) -> Self {
        Flow {
            segment,
            in_flight: None,
        }
    }
}

/// A plan in the making.
pub struct Builder {
    segment: u64,
    in_flight: u64,
    actions: Vec<(Action, Vec<u32>)>,
    hazards: Hazards,
    scratch: u64,
    sent: HashMap<usize, u32>,
    received: HashMap<usize, u32>,
    /// Receives of signals: what waits for them cannot be told by ranges.
    signals: Vec<u32>,
    /// What every further step waits for.
    fence: Vec<u32>,
}

impl Builder {
    /// An empty plan, whose messages go as `flow` says.
    pub fn new(flow: impl Into<Flow>) -> Self {
        let flow = flow.into();
        Builder {
            segment: flow.segment.clamp(1, LARGEST_MESSAGE),
            in_flight: flow.in_flight.unwrap_or(0),
            actions: Vec::new(),
            hazards: Hazards::default(),
            scratch: 0,
            sent: HashMap::new(),
            received: HashMap::new(),
            signals: Vec::new(),
            fence: Vec::new(),
        }
    }

    /// Units on their way between two clusters while a link is kept busy.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// The range in the pieces that it is sent in.
    pub fn pieces(&self, range: Range) -> impl Iterator<Item = Range> + use<> {
        range.pieces(self.piece(range.length))
    }

    /// The range in pieces of which each of `ways` gets the same number in turn, where
    /// that does not make them tiny.
    pub fn pieces_for(&self, range: Range, ways: usize) -> impl Iterator<Item = Range> + use<> {
        let ways = ways.max(1) as u64;
        let rounds = range.length.div_ceil(self.piece(range.length) * ways);
        range.pieces(range.length.div_ceil((rounds * ways).max(1)))
    }

    /// Units of the pieces that a message of `length` units is cut into.
    pub fn piece(&self, length: u64) -> u64 {
        self.segment
            .max(length.div_ceil(MOST_PIECES))
            .min(LARGEST_MESSAGE)
    }

    /// Room of its own for `length` units.
    pub fn scratch(&mut self, length: u64) -> Range {
        let start = self.scratch;
        self.scratch += length;
        Range {
            space: Space::Scratch,
            start,
            length,
        }
    }

    /// Sends a range, in pieces. Nothing is sent where it is empty.
    pub fn send(&mut self, to: usize, range: Range) {
        for piece in self.pieces(range) {
            self.send_piece(to, piece);
        }
    }

    /// Sends ranges to several ranks, in pieces, each of them one in turn: a link that they are
    /// reached by has nothing to carry while a whole range goes elsewhere, and too much when two come
    /// at once.
    pub fn send_in_turn(&mut self, messages: impl IntoIterator<Item = (usize, Range)>) {
        let pieces = |(to, range)| (to, self.pieces(range));
        let mut messages: Vec<_> = messages.into_iter().map(pieces).collect();
        while !messages.is_empty() {
            messages.retain_mut(|(to, pieces)| match pieces.next() {
                Some(piece) => {
                    self.send_piece(*to, piece);
                    true
                }
                None => false,
            });
        }
    }

    /// Receives a range, in pieces, as [`Builder::send`] sends it.
    pub fn receive(&mut self, from: usize, range: Range) {
        for piece in self.pieces(range) {
            self.receive_piece(from, piece);
        }
    }

    /// Tells `to` that this rank has come here.
    pub fn signal(&mut self, to: usize) {
        self.send_piece(to, Range::input(0, 0));
    }

    /// Waits until `from` has come to the signal; what follows a
    /// [`Builder::fence`] does.
    pub fn await_signal(&mut self, from: usize) {
        self.signals.push(self.actions.len() as u32);
        self.receive_piece(from, Range::output(0, 0));
    }

    /// What follows starts when all signals awaited until here have come.
    pub fn fence(&mut self) {
        if !self.signals.is_empty() {
            self.fence = std::mem::take(&mut self.signals);
        }
    }

    /// What follows starts when the step written last is complete: one after the other.
    pub fn in_turn(&mut self) {
        if let Some(last) = self.last_step() {
            self.fence = vec![last];
        }
    }

    /// `right = left op right`, in pieces.
    pub fn reduce(&mut self, left: Range, right: Range) {
        let piece = self.piece(left.length);
        for (left, right) in left.pieces(piece).zip(right.pieces(piece)) {
            self.push(Action::Reduce { left, right });
        }
    }

    /// Copies a range, in pieces.
    pub fn copy(&mut self, from: Range, into: Range) {
        if from == into {
            return;
        }
        let piece = self.piece(from.length);
        for (from, into) in from.pieces(piece).zip(into.pieces(piece)) {
            self.push(Action::Copy { from, into });
        }
    }

    /// The plan.
    pub fn finish(self) -> Plan {
        let mut plan = Plan::with_scratch(self.scratch);
        for (action, needs) in self.actions {
            plan.push(action, needs);
        }
        plan
    }

    /// Sends a range of [`Builder::pieces`] in one message.
    pub fn send_piece(&mut self, to: usize, range: Range) {
        let tag = next(&mut self.sent, to);
        self.push(Action::Send { to, tag, range });
    }

    /// The same, once step `after` of the plan is complete: so that what is sent first does not
    /// fill links that what comes later needs.
    pub fn send_piece_after(&mut self, to: usize, range: Range, after: Option<u32>) {
        self.send_piece(to, range);
        let needs = self.actions.last_mut().map(|(_, needs)| needs);
        if let (Some(needs), Some(after)) = (needs, after)
            && let Err(place) = needs.binary_search(&after)
        {
            needs.insert(place, after);
        }
    }

    /// The step written last.
    pub fn last_step(&self) -> Option<u32> {
        (self.actions.len() as u32).checked_sub(1)
    }

    /// Receives a range of [`Builder::pieces`] in one message.
    pub fn receive_piece(&mut self, from: usize, range: Range) {
        let tag = next(&mut self.received, from);
        self.push(Action::Receive { from, tag, range });
    }

    fn push(&mut self, action: Action) {
        let step = self.actions.len() as u32;
        let mut needs = self.fence.clone();
        for range in action.reads().filter(|range| range.length > 0) {
            self.hazards.read(range, step, &mut needs);
        }
        if let Some(range) = action.writes().filter(|range| range.length > 0) {
            self.hazards.write(range, step, &mut needs);
        }
        needs.sort_unstable();
        needs.dedup();
        // A step that reads what it writes met itself.
        needs.retain(|&needed| needed != step);
        self.actions.push((action, needs));
    }
}

/// The number of the next message with a partner.
fn next(counts: &mut HashMap<usize, u32>, partner: usize) -> u32 {
    let count = counts.entry(partner).or_default();
    *count += 1;
    *count - 1
}
