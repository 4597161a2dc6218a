//! Times of phases.

use serde::{Deserialize, Serialize};

/// When a phase was, on one rank, in nanoseconds since the job's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Span {
    /// When it first began.
    pub start: u64,
    /// When it last ended.
    pub end: u64,
    /// Its duration, all its times together.
    pub length: u64,
}

impl Span {
    /// Adds another time of the same phase.
    pub fn extend(&mut self, other: Span) {
        self.start = self.start.min(other.start);
        self.end = self.end.max(other.end);
        self.length = self.length.saturating_add(other.length);
    }
}
