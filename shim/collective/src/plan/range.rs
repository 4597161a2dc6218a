//! Ranges of units in the buffers of a rank.

/// Buffer of a rank, packed: blocks are consecutive in the order of ranks, independently of the
/// application's displacements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// Contribution of the rank. Never written.
    Input,
    /// Result of the rank. Holds the message of a broadcast at the root.
    Output,
    /// Scratch buffer; undefined when the plan starts.
    Scratch,
}

/// `length` units from `start` on. A unit is a byte if data is only moved, and an element if it is
/// reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Range {
    /// Buffer.
    pub space: Space,
    /// First unit.
    pub start: u64,
    /// Number of units.
    pub length: u64,
}

impl Range {
    /// `length` units of the input from `start` on.
    pub fn input(start: u64, length: u64) -> Self {
        Range {
            space: Space::Input,
            start,
            length,
        }
    }

    /// `length` units of the output from `start` on.
    pub fn output(start: u64, length: u64) -> Self {
        Range {
            space: Space::Output,
            start,
            length,
        }
    }

    /// First unit after the range.
    pub fn end(&self) -> u64 {
        self.start + self.length
    }

    /// `length` units from `start` units after this range's start.
    pub fn part(&self, start: u64, length: u64) -> Range {
        debug_assert!(start + length <= self.length, "a part lies in its range");
        Range {
            space: self.space,
            start: self.start + start,
            length,
        }
    }

    /// Segments of the range, of at most `most` units, first to last.
    pub fn segments(self, most: u64) -> impl Iterator<Item = Range> {
        let most = most.max(1);
        (0..self.length.div_ceil(most)).map(move |segment| {
            let start = segment * most;
            self.part(start, most.min(self.length - start))
        })
    }

    /// True if two ranges have a unit in common.
    pub fn overlaps(&self, other: &Range) -> bool {
        self.space == other.space && self.start < other.end() && other.start < self.end()
    }
}
