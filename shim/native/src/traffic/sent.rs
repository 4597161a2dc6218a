//! Traffic reading of a description: the messages that one rank sends. There is no memory, and
//! nothing waits.

use treepie_collective::plan::{Range, Space};
use treepie_collective::{Description, Flow, Steps};
use treepie_traffic::Traffic;

/// Messages and units that one rank sends, in the order of the description; consecutive messages to
/// one receiver are one entry.
pub(super) struct Sent {
    rank: usize,
    flow: Flow,
    sent: Vec<(usize, Traffic)>,
}

impl Sent {
    pub(super) fn new(flow: Flow) -> Self {
        Sent {
            rank: 0,
            flow,
            sent: Vec::new(),
        }
    }

    /// Returns the messages that `rank` sends.
    pub(super) fn of(&mut self, description: &Description, rank: usize) -> &[(usize, Traffic)] {
        self.sent.clear();
        self.rank = rank;
        description.read(rank, self);
        &self.sent
    }
}

impl Steps for Sent {
    fn flow(&self) -> Flow {
        self.flow
    }

    fn scratch(&mut self, length: u64) -> Range {
        Range {
            space: Space::Scratch,
            start: 0,
            length,
        }
    }

    fn send_segment(&mut self, to: usize, data: Range) {
        if to == self.rank {
            return;
        }
        let message = Traffic::new(1, data.length);
        match self.sent.last_mut() {
            Some((last, traffic)) if *last == to => *traffic += message,
            _ => self.sent.push((to, message)),
        }
    }

    fn receive_segment(&mut self, _from: usize, _into: Range) {}

    fn reduce_segment(&mut self, _left: Range, _right: Range) {}

    fn copy_segment(&mut self, _from: Range, _into: Range) {}

    fn await_signal(&mut self, _from: usize) {}
}
