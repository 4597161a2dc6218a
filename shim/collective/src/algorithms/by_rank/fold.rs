//! Ranks that take part if only a power of two can (Thakur, Rabenseifner and Gropp 2005): of the
//! lowest ranks, pairs of neighbours share one place.
//!
//! ```text
//!   ranks    0 1   2 3   4   5         6 ranks, the even one of a pair leaves
//!   places    0     1    2   3
//! ```

use crate::plan::range::Range;
use crate::steps::Steps;

/// 1, 2, 4, ... below `count`, a power of two.
pub fn distances(
    count: usize,
) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator + Clone {
    (0..count.ilog2()).map(|bit| 1 << bit)
}

/// Places for the greatest power of two that does not exceed the number of ranks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fold {
    /// Number of places.
    pub count: usize,
    pairs: usize,
    /// Rank of a pair that takes part: 0 for the even one, 1 for the odd one.
    stays: usize,
}

impl Fold {
    fn new(ranks: usize, stays: usize) -> Self {
        let count = 1 << ranks.ilog2();
        Fold {
            count,
            pairs: ranks - count,
            stays,
        }
    }

    /// Fold in which the even rank of a pair gives its operand to the odd one.
    pub(crate) fn even_leaves(ranks: usize) -> Self {
        Fold::new(ranks, 1)
    }

    /// Fold in which the odd rank of a pair gives its operand to the even one.
    pub(crate) fn odd_leaves(ranks: usize) -> Self {
        Fold::new(ranks, 0)
    }

    /// Place of a rank; `None` for one that leaves.
    pub fn place(self, rank: usize) -> Option<usize> {
        match rank < 2 * self.pairs {
            true => (rank % 2 == self.stays).then_some(rank / 2),
            false => Some(rank - self.pairs),
        }
    }

    /// Rank at a place.
    pub fn rank(self, place: usize) -> usize {
        match place < self.pairs {
            true => 2 * place + self.stays,
            false => place + self.pairs,
        }
    }

    /// Rank that gives its operand to this place, and receives its result from there.
    pub fn other(self, place: usize) -> Option<usize> {
        (place < self.pairs).then_some(2 * place + 1 - self.stays)
    }

    /// Rank with which a rank of a pair shares its place.
    pub fn neighbour(self, rank: usize) -> usize {
        rank ^ 1
    }

    /// Lowest rank whose operand starts at a place; the number of ranks for the end of the last
    /// place.
    pub fn first(self, place: usize) -> usize {
        place + place.min(self.pairs)
    }

    /// Place of a rank and its operand; `None` for a rank that gives its operand to its neighbour,
    /// and receives its `result` from there.
    pub fn join(
        self,
        steps: &mut dyn Steps,
        rank: usize,
        own: Range,
        result: Range,
    ) -> Option<(usize, Range)> {
        let Some(place) = self.place(rank) else {
            steps.send(self.neighbour(rank), own);
            steps.receive(self.neighbour(rank), result);
            return None;
        };
        Some((place, self.operand(steps, place, own)))
    }

    /// Operand of a place: that of its rank, combined with that of the other rank of a pair.
    pub fn operand(self, steps: &mut dyn Steps, place: usize, own: Range) -> Range {
        let Some(other) = self.other(place) else {
            return own;
        };
        let incoming = steps.scratch(own.length);
        steps.receive(other, incoming);
        if other > self.rank(place) {
            steps.reduce(own, incoming);
            return incoming;
        }
        let sum = steps.scratch(own.length);
        steps.copy(own, sum);
        steps.reduce(incoming, sum);
        sum
    }
}
