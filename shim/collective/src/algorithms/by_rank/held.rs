//! Blocks of all ranks in another order than theirs, in scratch memory, so that those of a message
//! are next to each other.

use std::ops::Range as Places;

use crate::plan::range::Range;
use crate::problem::Blocks;
use crate::steps::Steps;

/// The blocks of all ranks at their places.
pub(crate) struct Held {
    scratch: Range,
    /// The owner of the block at each place.
    owners: Vec<usize>,
    by_place: Blocks,
    /// These blocks in the order of ranks.
    blocks: Blocks,
}

impl Held {
    /// Room for `blocks`, which these ranks own, place by place.
    pub(crate) fn new(steps: &mut dyn Steps, owners: Vec<usize>, blocks: Blocks) -> Self {
        let by_place = match blocks {
            Blocks::Equal { .. } => blocks.clone(),
            _ => {
                let lengths: Vec<u64> = owners.iter().map(|&owner| blocks.length(owner)).collect();
                Blocks::listed(&lengths)
            }
        };
        Held {
            scratch: steps.scratch(blocks.total()),
            owners,
            by_place,
            blocks,
        }
    }

    /// All of them.
    pub(crate) fn all(&self) -> Range {
        self.scratch
    }

    /// The blocks, place by place.
    pub(crate) fn by_place(&self) -> &Blocks {
        &self.by_place
    }

    /// Those at some places.
    pub(crate) fn at(&self, places: &Places<usize>) -> Range {
        self.by_place.span(self.scratch, places.start, places.end)
    }

    /// The block of a rank.
    pub(crate) fn of(&self, rank: usize) -> Range {
        let place = self.owners.iter().position(|&owner| owner == rank);
        self.by_place.of(self.scratch, place.unwrap_or(0))
    }

    /// Copies all blocks from `all`, where they are in the order of ranks.
    pub(crate) fn put(&self, all: Range, steps: &mut dyn Steps) {
        for (here, there) in self.runs(all) {
            steps.copy(there, here);
        }
    }

    /// Copies all blocks to `all`, in the order of ranks.
    pub(crate) fn take(&self, all: Range, steps: &mut dyn Steps) {
        for (here, there) in self.runs(all) {
            steps.copy(here, there);
        }
    }

    /// Places of all blocks here, and in `all`; those that follow each other in both are one.
    fn runs(&self, all: Range) -> impl Iterator<Item = (Range, Range)> {
        let runs = self.owners.chunk_by(|one, next| one + 1 == *next);
        let mut first = 0;
        runs.map(move |run| {
            let places = first..first + run.len();
            first = places.end;
            let in_order = self.blocks.span(all, run[0], run[0] + run.len());
            (self.at(&places), in_order)
        })
    }
}
