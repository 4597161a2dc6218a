//! Updates for the memory of one target, held back until they are sent together.

use std::collections::BTreeMap;
use std::ops::Range;

/// Limits of updates that are held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Largest update that is held back, in bytes.
    pub largest: usize,
    /// Maximum number of separate ranges of a batch.
    pub ranges: usize,
    /// Maximum bytes of a batch.
    pub bytes: usize,
}

/// Bytes for one location in the memory of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    /// Start of their destination, in bytes.
    start: i64,
    bytes: usize,
}

impl Run {
    fn end(self) -> i64 {
        self.start + self.bytes as i64
    }
}

/// Updates that do not overlap.
#[derive(Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    /// Runs, in the order of their bytes; none directly follows the previous one.
    runs: Vec<Run>,
    /// Range from the first to the last byte of all.
    hull: Range<i64>,
    /// True if the runs are in ascending order.
    is_ascending: bool,
    /// End of each run by its start, once a query needs it.
    ends: Option<BTreeMap<i64, i64>>,
}

/// Data for ranges of a target's memory, in ascending order.
#[derive(Debug, PartialEq, Eq)]
pub struct Joined {
    /// Data of all ranges.
    pub bytes: Vec<u8>,
    /// Start of each range in the target's memory, and its length, in bytes.
    pub ranges: Vec<(i64, usize)>,
}

impl Batch {
    /// True if it is empty.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// True if an update of `bytes` bytes fits the limits, in addition to the pending ones.
    #[inline]
    pub fn has_room(&self, bytes: usize, limits: &Limits) -> bool {
        self.runs.len() < limits.ranges && self.bytes.len() + bytes <= limits.bytes
    }

    /// True if there are updates of these bytes of the target's memory.
    #[inline]
    pub fn overlaps(&mut self, bytes: &Range<i64>) -> bool {
        let is_apart = bytes.start >= self.hull.end || bytes.end <= self.hull.start;
        !(self.runs.is_empty() || is_apart) && self.overlaps_a_run(bytes)
    }

    fn overlaps_a_run(&mut self, bytes: &Range<i64>) -> bool {
        let runs = &self.runs;
        let ends = self
            .ends
            .get_or_insert_with(|| runs.iter().map(|run| (run.start, run.end())).collect());
        let before = ends.range(..bytes.end).next_back();
        before.is_some_and(|(_, &end)| end > bytes.start)
    }

    /// Adds an update with destination `start`, which must not overlap any pending one.
    #[inline]
    pub fn add(&mut self, start: i64, piece: &[u8]) {
        let new = Run {
            start,
            bytes: piece.len(),
        };
        self.bytes.extend_from_slice(piece);
        if let Some(ends) = &mut self.ends {
            ends.insert(start, new.end());
        }
        match self.runs.last_mut() {
            Some(last) if last.end() == start => last.bytes += new.bytes,
            Some(last) => {
                self.is_ascending &= last.end() < start;
                self.runs.push(new);
            }
            None => {
                self.is_ascending = true;
                self.hull = start..start;
                self.runs.push(new);
            }
        }
        self.hull = self.hull.start.min(start)..self.hull.end.max(new.end());
    }

    /// Takes all updates; the batch is empty afterwards.
    pub fn take(&mut self) -> Joined {
        let bytes = std::mem::take(&mut self.bytes);
        self.ends = None;
        let joined = match self.is_ascending {
            true => Joined {
                bytes,
                ranges: self.runs.iter().map(|run| (run.start, run.bytes)).collect(),
            },
            false => in_order(&self.runs, &bytes),
        };
        self.runs.clear();
        joined
    }
}

/// Returns the bytes with their runs in ascending order, and joined if they are adjacent.
fn in_order(runs: &[Run], bytes: &[u8]) -> Joined {
    let mut at = 0;
    let mut placed: Vec<(Run, usize)> = Vec::with_capacity(runs.len());
    for &run in runs {
        placed.push((run, at));
        at += run.bytes;
    }
    placed.sort_unstable_by_key(|(run, _)| run.start);
    let mut joined = Joined {
        bytes: Vec::with_capacity(bytes.len()),
        ranges: Vec::with_capacity(runs.len()),
    };
    for (run, at) in placed {
        joined.bytes.extend_from_slice(&bytes[at..][..run.bytes]);
        match joined.ranges.last_mut() {
            Some((start, length)) if *start + *length as i64 == run.start => *length += run.bytes,
            _ => joined.ranges.push((run.start, run.bytes)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn batch(pieces: &[(i64, &[u8])]) -> Batch {
        let mut batch = Batch::default();
        for (start, piece) in pieces {
            assert!(!batch.overlaps(&(*start..*start + piece.len() as i64)));
            batch.add(*start, piece);
        }
        batch
    }

    #[test]
    fn pieces_that_follow_each_other_become_one_range() {
        let mut batch = batch(&[(8, b"ab"), (10, b"cd"), (16, b"x")]);
        let joined = batch.take();
        assert_eq!(joined.bytes, b"abcdx");
        assert_eq!(joined.ranges, [(8, 4), (16, 1)]);
        assert!(batch.is_empty() && !batch.overlaps(&(8..9)));
    }

    #[test]
    fn pieces_in_any_order_are_put_in_order_and_joined() {
        let mut batch = batch(&[(6, b"cd"), (4, b"ab"), (20, b"yz"), (8, b"ef")]);
        let joined = batch.take();
        assert_eq!(joined.bytes, b"abcdefyz");
        assert_eq!(joined.ranges, [(4, 6), (20, 2)]);
    }

    #[test]
    fn limits_bound_ranges_and_bytes() {
        let limits = Limits {
            largest: 4,
            ranges: 2,
            bytes: 7,
        };
        let mut batch = batch(&[(0, b"abc")]);
        assert!(batch.has_room(4, &limits) && !batch.has_room(5, &limits));
        batch.add(10, b"x");
        assert!(!batch.has_room(1, &limits));
    }

    proptest! {
        /// Compares with memory to which each update is written immediately.
        #[test]
        fn what_is_joined_writes_what_its_pieces_would(
            pieces in prop::collection::vec((0i64..200, 1usize..12), 0..60)
        ) {
            let (mut batch, mut expected, mut found) = (Batch::default(), [0u8; 256], [0u8; 256]);
            for (number, (start, length)) in pieces.into_iter().enumerate() {
                let place = start as usize..start as usize + length;
                let overlaps = expected[place.clone()].iter().any(|&byte| byte != 0);
                prop_assert_eq!(batch.overlaps(&(start..start + length as i64)), overlaps);
                if !overlaps {
                    let piece = vec![number as u8 + 1; length];
                    batch.add(start, &piece);
                    expected[place].copy_from_slice(&piece);
                }
            }
            let joined = batch.take();
            let (mut at, mut end) = (0, i64::MIN);
            for (start, length) in joined.ranges {
                prop_assert!(start > end, "ranges ascend, with gaps between them");
                found[start as usize..][..length].copy_from_slice(&joined.bytes[at..][..length]);
                at += length;
                end = start + length as i64;
            }
            prop_assert_eq!(at, joined.bytes.len());
            prop_assert_eq!(found, expected);
        }
    }
}
