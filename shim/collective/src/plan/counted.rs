//! The number of steps of a rank, without the dependencies between them.

use crate::plan::range::{Range, Space};
use crate::steps::{Flow, Steps};

/// Counts the steps of a description.
#[derive(Debug)]
pub(crate) struct Counted {
    flow: Flow,
    scratch: u64,
    /// Steps so far.
    pub steps: usize,
}

impl Counted {
    /// None yet, of messages that flow as `flow` says.
    pub(crate) fn new(flow: Flow) -> Self {
        Counted {
            flow,
            scratch: 0,
            steps: 0,
        }
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

    fn send_segment(&mut self, _to: usize, _data: Range) {
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
