//! Times of phases.

use serde::{Deserialize, Serialize};

/// Time of a phase on one rank, in nanoseconds since the job's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Span {
    /// First start.
    pub start: u64,
    /// Last end.
    pub end: u64,
    /// Duration, summed over its occurrences.
    pub length: u64,
}

impl Span {
    /// Adds another occurrence of the same phase.
    pub fn extend(&mut self, other: Span) {
        self.start = self.start.min(other.start);
        self.end = self.end.max(other.end);
        self.length = self.length.saturating_add(other.length);
    }
}
