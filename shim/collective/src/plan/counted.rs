//! Numbers of steps and messages of a rank, without the dependencies between them.

use crate::algorithms::algorithm::Description;
use crate::plan::range::{Range, Space};
use crate::steps::{Flow, Steps};

/// Counts the steps of a description.
#[derive(Debug)]
pub(crate) struct Counted {
    flow: Flow,
    scratch: u64,
    /// Steps so far.
    pub steps: usize,
    /// Messages that the rank sends to others.
    pub sends: usize,
    rank: usize,
}

impl Counted {
    /// Counts the steps of `rank`, with messages segmented by `flow`.
    pub(crate) fn of(description: &Description, flow: Flow, rank: usize) -> Self {
        let mut counted = Counted {
            flow,
            scratch: 0,
            steps: 0,
            sends: 0,
            rank,
        };
        description.read(rank, &mut counted);
        counted
    }
}

impl Steps for Counted {
    fn flow(&self) -> Flow {
        self.flow
    }

    fn scratch(&mut self, length: u64) -> Range {
        let start = self.scratch;
        self.scratch += length;
        Range {
            space: Space::Scratch,
            start,
            length,
        }
    }

    fn send_segment(&mut self, to: usize, _data: Range) {
        self.sends += usize::from(to != self.rank);
        self.steps += 1;
    }

    fn receive_segment(&mut self, _from: usize, _into: Range) {
        self.steps += 1;
    }

    fn reduce_segment(&mut self, _left: Range, _right: Range) {
        self.steps += 1;
    }

    fn copy_segment(&mut self, _from: Range, _into: Range) {
        self.steps += 1;
    }

    fn await_signal(&mut self, _from: usize) {
        self.steps += 1;
    }
}
