//! The interface that algorithms are written to: the steps of one rank, on ranges of its buffers.
//!
//! ```text
//!   description --+--> Builder        dependencies between steps: a plan, which is checked,
//!    (one rank)   |                   simulated, exported and run
//!                 +--> Sent           the messages alone: the traffic of a profile
//!                 +--> Reader         messages in turn: how long native collectives take
//! ```
//!
//! A description writes the steps in the order in which a simple program would do them. The n-th
//! message that a rank sends to another is the n-th that the other receives from it.

use crate::plan::range::{Range, Space};

/// No message is larger than this many units: counts of MPI are `int`s.
pub const LARGEST_MESSAGE: u64 = 1 << 30;

/// A range has at most this many segments: they grow with the message, so that plans do not.
const MOST_SEGMENTS: u64 = 1024;

/// How messages flow, in units. A number alone is the largest message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// The largest message; [`Flow::WHOLE`] has none.
    pub segment: u64,
    /// Units that fill the path between two clusters (its bandwidth-delay product); `None` for what
    /// the problem's network says.
    pub in_flight: Option<u64>,
    /// So many pieces may be late before others wait for them: none where a rank does nothing else
    /// meanwhile, some in a [started](Flow::started) collective.
    pub late: usize,
}

/// Pieces that may be late in a started collective.
const LATE: usize = 3;

impl Flow {
    /// Every message in one segment, however long: what MPI libraries do unless they are tuned.
    pub const WHOLE: Flow = Flow {
        segment: u64::MAX,
        in_flight: Some(0),
        late: 0,
    };

    /// The same flow where ranks go on with a plan now and then: in calls of a program that
    /// computes meanwhile.
    pub fn started(self) -> Flow {
        Flow { late: LATE, ..self }
    }

    /// The same flow in units of which there are `factor` times as many.
    pub fn times(self, factor: u64) -> Flow {
        Flow {
            segment: self.segment.saturating_mul(factor),
            in_flight: self.in_flight.map(|units| units.saturating_mul(factor)),
            late: self.late,
        }
    }

    /// Units of the segments that a message of `length` units is cut into.
    pub fn segment_of(&self, length: u64) -> u64 {
        match self.segment {
            u64::MAX => u64::MAX,
            segment => segment
                .max(length.div_ceil(MOST_SEGMENTS))
                .clamp(1, LARGEST_MESSAGE),
        }
    }
}

impl From<u64> for Flow {
    fn from(segment: u64) -> Self {
        Flow {
            segment,
            in_flight: None,
            late: 0,
        }
    }
}

/// The steps of one rank, written one after the other. What reads a description implements these
/// few; descriptions mostly call the methods of `dyn Steps` below, which cut ranges into segments.
///
/// Steps touch each other only through ranges: what a reader of memory finds independent may
/// overlap. [`Steps::fence`] and [`Steps::one_by_one`] order what ranges do not.
pub trait Steps {
    /// How messages flow.
    fn flow(&self) -> Flow;

    /// A scratch buffer of its own for `length` units.
    fn scratch(&mut self, length: u64) -> Range;

    /// Sends a range in one message; an empty one is a synchronization message.
    fn send_segment(&mut self, to: usize, data: Range);

    /// Receives a range in one message.
    fn receive_segment(&mut self, from: usize, into: Range);

    /// `right = left op right`, in one step.
    fn reduce_segment(&mut self, left: Range, right: Range);

    /// Copies a range, in one step.
    fn copy_segment(&mut self, from: Range, into: Range);

    /// Receives a synchronization message; what follows the next [`Steps::fence`] waits for it.
    fn await_signal(&mut self, from: usize);

    /// What follows starts when all synchronization messages awaited until here have come.
    fn fence(&mut self) {}

    /// What follows starts when the step written last is complete.
    fn one_by_one(&mut self) {}

    /// Whether what follows is not read: long rounds end here, as they would go on alike.
    fn is_over(&self) -> bool {
        false
    }

    /// The step written last, where steps are numbered.
    fn last_step(&self) -> Option<u32> {
        None
    }

    /// [`Steps::send_segment`], once the step `after` is complete: so that what is sent first does
    /// not fill links that what comes later needs.
    fn send_segment_after(&mut self, to: usize, data: Range, after: Option<u32>) {
        let _ = after;
        self.send_segment(to, data);
    }
}

impl dyn Steps + '_ {
    /// Units that fill the path between two clusters.
    pub fn in_flight(&self) -> u64 {
        self.flow().in_flight.unwrap_or(0)
    }

    /// Units of the segments that a message of `length` units is cut into.
    pub fn segment(&self, length: u64) -> u64 {
        self.flow().segment_of(length)
    }

    /// The segments that a range is sent in.
    pub fn segments(&self, range: Range) -> impl Iterator<Item = Range> + use<> {
        range.segments(self.segment(range.length))
    }

    /// The range in segments of which each of `targets` gets the same number, round-robin, where
    /// that does not make them tiny.
    pub(crate) fn segments_for(
        &self,
        range: Range,
        targets: usize,
    ) -> impl Iterator<Item = Range> + use<> {
        let targets = targets.max(1) as u64;
        let rounds = range
            .length
            .div_ceil(self.segment(range.length).saturating_mul(targets));
        range.segments(range.length.div_ceil((rounds * targets).max(1)))
    }

    /// Sends a range in segments; nothing where it is empty.
    pub fn send(&mut self, to: usize, data: Range) {
        for segment in self.segments(data) {
            self.send_segment(to, segment);
        }
    }

    /// Sends ranges to several ranks, in segments, one of each round-robin: the link of a rank has
    /// nothing to carry while a whole range goes elsewhere, and too much when two come at once.
    pub(crate) fn send_round_robin(&mut self, messages: impl IntoIterator<Item = (usize, Range)>) {
        let segments = |(to, range)| (to, self.segments(range));
        let mut messages: Vec<_> = messages.into_iter().map(segments).collect();
        while !messages.is_empty() {
            messages.retain_mut(|(to, segments)| match segments.next() {
                Some(segment) => {
                    self.send_segment(*to, segment);
                    true
                }
                None => false,
            });
        }
    }

    /// Receives a range in the segments that `send` cuts it into.
    pub fn receive(&mut self, from: usize, into: Range) {
        for segment in self.segments(into) {
            self.receive_segment(from, segment);
        }
    }

    /// Sends a synchronization message.
    pub fn signal(&mut self, to: usize) {
        let nothing = Range {
            space: Space::Input,
            start: 0,
            length: 0,
        };
        self.send_segment(to, nothing);
    }

    /// `right = left op right`, in segments.
    pub fn reduce(&mut self, left: Range, right: Range) {
        let segment = self.segment(left.length);
        for (left, right) in left.segments(segment).zip(right.segments(segment)) {
            self.reduce_segment(left, right);
        }
    }

    /// Copies a range, in segments.
    pub fn copy(&mut self, from: Range, into: Range) {
        if from == into {
            return;
        }
        let segment = self.segment(from.length);
        for (from, into) in from.segments(segment).zip(into.segments(segment)) {
            self.copy_segment(from, into);
        }
    }
}
