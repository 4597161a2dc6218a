//! Interface of algorithms: the steps of one rank, on ranges of its buffers.
//!
//! ```text
//!   description --+--> Builder        dependencies between steps: a plan, which is checked,
//!    (one rank)   |                   simulated, exported and run
//!                 +--> Sent           the messages alone: the traffic of a profile
//!                 +--> Reader         messages in order: the time of native collectives
//! ```
//!
//! A description writes the steps in the order of a simple program. The n-th message that a rank
//! sends to another is the n-th that the other receives from it.

use crate::plan::range::{Range, Space};

/// Maximum number of units of a message: counts of MPI are `int`s.
pub const LARGEST_MESSAGE: u64 = 1 << 30;

/// Maximum number of segments of a range: segments grow with the message, so that plans do not.
const MOST_SEGMENTS: u64 = 1024;

/// Segmentation and flow of messages, in units. A single number is the largest message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// Largest message; [`Flow::WHOLE`] has none.
    pub segment: u64,
    /// Units that fill the path between two clusters (its bandwidth-delay product); `None` for the
    /// value of the problem's network.
    pub in_flight: Option<u64>,
    /// Number of segments that may be late before others wait for them: zero if a rank does nothing
    /// else meanwhile, some in a [started](Flow::started) collective.
    pub late: usize,
}

/// Number of segments that may be late in a started collective.
const LATE: usize = 3;

impl Flow {
    /// Every message in one segment, however long: the default of MPI libraries.
    pub const WHOLE: Flow = Flow {
        segment: u64::MAX,
        in_flight: Some(0),
        late: 0,
    };

    /// Flow for ranks that make progress on a plan only now and then: in calls of a program that
    /// computes meanwhile.
    pub fn started(self) -> Flow {
        Flow { late: LATE, ..self }
    }

    /// Flow in smaller units, `factor` of which make one.
    pub fn times(self, factor: u64) -> Flow {
        Flow {
            segment: self.segment.saturating_mul(factor),
            in_flight: self.in_flight.map(|units| units.saturating_mul(factor)),
            late: self.late,
        }
    }

    /// Units of the segments of a message of `length` units.
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

/// The steps of one rank, written one after the other. Readers of a description implement these few
/// methods; descriptions mostly call the methods of `dyn Steps` below, which cut ranges into
/// segments.
///
/// Steps depend on each other only through ranges: a reader of memory may overlap steps that it
/// finds independent. [`Steps::fence`] and [`Steps::one_by_one`] add order that ranges do not show.
pub trait Steps {
    /// Segmentation and flow of messages.
    fn flow(&self) -> Flow;

    /// Allocates a scratch buffer of `length` units.
    fn scratch(&mut self, length: u64) -> Range;

    /// Sends a range in one message; an empty one is a synchronization message.
    fn send_segment(&mut self, to: usize, data: Range);

    /// Receives a range in one message.
    fn receive_segment(&mut self, from: usize, into: Range);

    /// `right = left op right`, in one step.
    fn reduce_segment(&mut self, left: Range, right: Range);

    /// Copies a range, in one step.
    fn copy_segment(&mut self, from: Range, into: Range);

    /// Receives a synchronization message, for which steps after the next [`Steps::fence`] wait.
    fn await_signal(&mut self, from: usize);

    /// Delays all further steps until the synchronization messages awaited so far have arrived.
    fn fence(&mut self) {}

    /// Delays the next step until the last written one is complete.
    fn one_by_one(&mut self) {}

    /// True if further steps are not read: long sequences of rounds end here, as the rest is alike.
    fn is_over(&self) -> bool {
        false
    }

    /// Last written step, if steps are numbered.
    fn last_step(&self) -> Option<u32> {
        None
    }

    /// [`Steps::send_segment`], after the step `after` is complete: an early send then does not
    /// fill links that later ones need.
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

    /// Units of the segments of a message of `length` units.
    pub fn segment(&self, length: u64) -> u64 {
        self.flow().segment_of(length)
    }

    /// Segments in which a range is sent.
    pub fn segments(&self, range: Range) -> impl Iterator<Item = Range> + use<> {
        range.segments(self.segment(range.length))
    }

    /// Segments of the range, the same number for each of `targets`, round-robin, unless that makes
    /// them tiny.
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

    /// Sends a range in segments; nothing if it is empty.
    pub fn send(&mut self, to: usize, data: Range) {
        for segment in self.segments(data) {
            self.send_segment(to, segment);
        }
    }

    /// Sends ranges to several ranks, in segments, one to each round-robin: the link of a rank
    /// would be idle while a whole range is sent elsewhere, and overloaded when two arrive
    /// together.
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

    /// Receives a range in the segments of `send`.
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
