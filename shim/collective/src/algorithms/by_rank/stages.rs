//! Reduce-scatters in stages, in each of which the participating ranks exchange pieces of their
//! blocks; allgathers, which are their reverse; and allreduces, which combine both.
//!
//! ```text
//!   part of rank 5, with 4, 6 and 7     [ 0 1 2 | 3 4 5 | 6 7 8 | 9 10 11 ]
//!   gives                                 to 4    keeps   to 6     to 7      then [ 3 | 4 | 5 ]
//! ```
//!
//! [`super::radices`] and [`super::bine`] define the ranks of each stage, and the place of each
//! block.

use std::ops::Range as Places;

use crate::algorithms::by_rank::at_once;
use crate::algorithms::by_rank::held::Held;
use crate::plan::range::Range;
use crate::problem::{Blocks, Problem};
use crate::steps::Steps;

/// All stages of a rank.
#[derive(Debug)]
pub(crate) struct Stages {
    /// First to last.
    pub stages: Vec<Stage>,
    /// Rank that keeps each place in the end.
    pub owners: Vec<usize>,
}

/// Stage of a rank.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stage {
    /// Participating ranks, in the order of their pieces and operands.
    pub members: Vec<usize>,
    /// Place of this rank among them.
    pub digit: usize,
    /// Places that it holds, of which it keeps the piece of its digit.
    pub part: Places<usize>,
}

impl Stage {
    /// Places of the piece of a member.
    pub(crate) fn piece(&self, member: usize) -> Places<usize> {
        let length = self.part.len() / self.members.len();
        let start = self.part.start + member * length;
        start..start + length
    }

    /// Piece that the rank keeps.
    pub(crate) fn kept(&self) -> Places<usize> {
        self.piece(self.digit)
    }

    /// Other members, in an order by which not all ranks address the same one first.
    fn others(&self) -> impl Iterator<Item = usize> {
        let radix = self.members.len();
        (1..radix).map(move |distance| match radix.is_power_of_two() {
            true => self.digit ^ distance,
            false => (self.digit + distance) % radix,
        })
    }
}

impl Stages {
    /// Place that the rank keeps.
    fn place(&self) -> usize {
        self.stages.last().map_or(0, |last| last.kept().start)
    }

    /// Adds up `operands`, the blocks at all places, into `result`, the sum of the own place.
    fn add_up(
        &self,
        rank: usize,
        steps: &mut dyn Steps,
        blocks: &Blocks,
        operands: Range,
        result: Range,
    ) {
        let mut held = operands;
        for (number, stage) in self.stages.iter().enumerate() {
            let before = blocks.start(stage.part.start);
            let units = |places: Places<usize>| {
                let start = blocks.start(places.start);
                held.part(start - before, blocks.start(places.end) - start)
            };
            let given = stage.others();
            let given = given.map(|member| (stage.members[member], units(stage.piece(member))));
            steps.send_round_robin(given);
            let own = units(stage.kept());
            let sum = match number + 1 == self.stages.len() {
                true => result,
                false => steps.scratch(own.length),
            };
            at_once::combine(stage.members.iter().copied(), rank, steps, own, sum);
            held = sum;
        }
        if self.stages.is_empty() {
            steps.copy(operands, result);
        }
    }

    /// Collects the blocks of all places in `all`, given that of the own place.
    fn collect(&self, steps: &mut dyn Steps, blocks: &Blocks, all: Range) {
        let units = |places: Places<usize>| blocks.span(all, places.start, places.end);
        for stage in self.stages.iter().rev() {
            let own = units(stage.kept());
            steps.send_round_robin(stage.others().map(|member| (stage.members[member], own)));
            for member in stage.others() {
                steps.receive(stage.members[member], units(stage.piece(member)));
            }
        }
    }
}

/// `Allgather` and `Allgatherv`.
pub(crate) fn allgather(problem: &Problem, rank: usize, steps: &mut dyn Steps, stages: &Stages) {
    let held = Held::new(steps, stages.owners.clone(), problem.blocks());
    steps.copy(Range::input(0, problem.block(rank)), held.of(rank));
    stages.collect(steps, held.by_place(), held.all());
    held.take(Range::output(0, problem.total()), steps);
}

/// `Reduce_scatter` and `Reduce_scatter_block`.
pub(crate) fn reduce_scatter(
    problem: &Problem,
    rank: usize,
    steps: &mut dyn Steps,
    stages: &Stages,
) {
    let held = Held::new(steps, stages.owners.clone(), problem.blocks());
    held.put(Range::input(0, problem.total()), steps);
    let result = Range::output(0, problem.block(rank));
    stages.add_up(rank, steps, held.by_place(), held.all(), result);
}

/// `Allreduce`.
pub(crate) fn allreduce(problem: &Problem, rank: usize, steps: &mut dyn Steps, stages: &Stages) {
    let length = problem.block(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let blocks = problem.cut(rank, problem.ranks());
    let result = blocks.of(output, stages.place());
    stages.add_up(rank, steps, &blocks, own, result);
    stages.collect(steps, &blocks, output);
}
