//! Blocks of all ranks in scratch memory, in a different order, so that the blocks of a message are
//! contiguous.

use std::ops::Range as Places;

use crate::plan::range::Range;
use crate::problem::Blocks;
use crate::steps::Steps;

/// Blocks of all ranks at their places.
pub(crate) struct Held {
    scratch: Range,
    /// Owner of the block at each place.
    owners: Vec<usize>,
    by_place: Blocks,
    /// Blocks in the order of ranks.
    blocks: Blocks,
}

impl Held {
    /// Allocates scratch memory for `blocks`; `owners` has the rank of each place.
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

    /// Range of all blocks.
    pub(crate) fn all(&self) -> Range {
        self.scratch
    }

    /// Blocks by place.
    pub(crate) fn by_place(&self) -> &Blocks {
        &self.by_place
    }

    /// Range of the blocks at some places.
    pub(crate) fn at(&self, places: &Places<usize>) -> Range {
        self.by_place.span(self.scratch, places.start, places.end)
    }

    /// Block of a rank.
    pub(crate) fn of(&self, rank: usize) -> Range {
        let place = self.owners.iter().position(|&owner| owner == rank);
        self.by_place.of(self.scratch, place.unwrap_or(0))
    }

    /// Copies all blocks from `all`, which has them in the order of ranks.
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

    /// Ranges of all blocks here, and in `all`; blocks that are consecutive in both are joined.
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
