//! Where patterns put their messages.

use crate::affinity::{Traffic, TrafficMatrix};

/// Takes the messages of a pattern, which thinks in ranks of a communicator and
/// in one call, and counts them in the world, for all calls.
pub(super) struct Messages<'a> {
    /// World rank of each rank of the communicator.
    pub(super) group: &'a [u32],
    /// Number of calls that are counted together.
    pub(super) calls: u64,
    /// Whether messages without a byte are sent: they are in barriers, and
    /// elsewhere hosts leave them out.
    pub(super) empty_too: bool,
    pub(super) into: &'a mut TrafficMatrix,
}

impl Messages<'_> {
    /// Number of ranks in the communicator.
    pub(super) fn size(&self) -> usize {
        self.group.len()
    }

    /// One empty message a call that is sent for what it tells.
    pub(super) fn signal(&mut self, from: usize, to: usize) {
        let signals = Traffic::new(self.calls, 0);
        let (from, to) = (self.group[from] as usize, self.group[to] as usize);
        self.into.add(from, to, signals);
    }

    /// One message a call; `bytes` are those of all calls together.
    pub(super) fn send(&mut self, from: usize, to: usize, bytes: u64) {
        self.send_many(from, to, 1, bytes);
    }

    /// `messages` messages a call, which hold `bytes` bytes in all calls together.
    pub(super) fn send_many(&mut self, from: usize, to: usize, messages: u64, bytes: u64) {
        if from == to || (bytes == 0 && !self.empty_too) {
            return;
        }
        let traffic = Traffic::new(messages.saturating_mul(self.calls), bytes);
        let (from, to) = (self.group[from] as usize, self.group[to] as usize);
        self.into.add(from, to, traffic);
    }
}
