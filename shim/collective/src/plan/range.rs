//! Ranges of units in the buffers of a rank.

/// A buffer of a rank, packed: blocks stand one behind the other in the order of
/// ranks, whatever displacements the application gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// Contribution of the rank. Never written.
    Input,
    /// Result of the rank. A broadcast starts from it at the root.
    Output,
    /// Scratch buffer; nothing in it when the plan starts.
    Scratch,
}

/// `length` units from `start` on. A unit is a byte where data is only moved,
/// and an element where it is reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Range {
    /// The buffer.
    pub space: Space,
    /// The first unit.
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

    /// The first unit behind the range.
    pub fn end(&self) -> u64 {
        self.start + self.length
    }

    /// `length` units, `start` units behind this range's start.
    pub fn part(&self, start: u64, length: u64) -> Range {
        debug_assert!(start + length <= self.length, "a part lies in its range");
        Range {
            space: self.space,
            start: self.start + start,
            length,
        }
    }

    /// The range in segments of at most `most` units, first to last.
    pub fn segments(self, most: u64) -> impl Iterator<Item = Range> {
        let most = most.max(1);
        (0..self.length.div_ceil(most)).map(move |segment| {
            let start = segment * most;
            self.part(start, most.min(self.length - start))
        })
    }

    /// Whether two ranges have a unit in common.
    pub fn overlaps(&self, other: &Range) -> bool {
        self.space == other.space && self.start < other.end() && other.start < self.end()
    }
}
