//! Exchanges by several radices: in each stage the ranks whose numbers differ in one digit give each
//! other a piece of what they hold (Jocksch, Avans, Shipley and Skjellum, IJHPCA 40(2), 2026;
//! `ext_mpi_collectives`).
//!
//! ```text
//!   12 ranks, radices 4 and 3 from near to far     rank 5: digits 1 and 1
//!   reduce-scatter   4 <- blocks 0-2, 6 <- 6-8, 7 <- 9-11, keeps the sum of 3-5 over 4..8
//!                    1 <- block 3,    9 <- 5,              keeps that of 4 over all
//!   allgather        backwards
//! ```
//!
//! As many rounds as radices; `P - 1` blocks sent by each rank, most of them near. What is added up
//! always comes from ranks that follow each other: operands stay in their order.

use std::ops::Range as Places;

use crate::algorithms::by_rank::at_once;
use crate::algorithms::by_rank::held::Held;
use crate::clusters::Clusters;
use crate::plan::range::Range;
use crate::problem::{Blocks, Problem};
use crate::steps::Steps;

/// Largest radix where the number of ranks has such factors: a rank waits for one less at the same
/// time.
const LARGEST_RADIX: usize = 16;

/// Radices for so many ranks, from near to far: two of about the same size at least, where the
/// number is no prime.
pub(crate) fn of_ranks(ranks: usize) -> Vec<usize> {
    split(ranks, 2)
}

/// Radices of the levels of a communicator, from near to far: those whose groups are as large as
/// each other and of consecutive ranks.
pub(crate) fn of_levels(clusters: &Clusters) -> Vec<usize> {
    let ranks = clusters.ranks();
    let outer: Vec<usize> = (0..ranks).map(|rank| clusters.of(rank)).collect();
    let levels = clusters.closer().iter().rev().chain([&outer]);
    let mut radices = Vec::new();
    let mut inner = 1;
    for size in levels.filter_map(|level| group_size(level)) {
        if size > inner && size < ranks && size.is_multiple_of(inner) {
            radices.extend(split(size / inner, 1));
            inner = size;
        }
    }
    match inner {
        1 => of_ranks(ranks),
        _ => {
            radices.extend(split(ranks / inner, 1));
            radices
        }
    }
}

/// The size of the groups of a level, where it is the same and each is of consecutive ranks.
fn group_size(group_of: &[usize]) -> Option<usize> {
    let size = group_of.chunk_by(|one, next| one == next).next()?.len();
    let mut groups = group_of.chunk_by(|one, next| one == next);
    groups.all(|group| group.len() == size).then_some(size)
}

/// The factors of a number, joined to as few as can be, `least` or more, none of them above
/// [`LARGEST_RADIX`] but for a prime: the largest first.
fn split(number: usize, least: usize) -> Vec<usize> {
    let mut primes = Vec::new();
    let mut rest = number;
    let mut prime = 2;
    while prime * prime <= rest {
        while rest.is_multiple_of(prime) {
            primes.push(prime);
            rest /= prime;
        }
        prime += 1;
    }
    primes.extend((rest > 1).then_some(rest));
    primes.reverse();
    let joined = |count: usize| {
        let mut radices = vec![1; count];
        for prime in &primes {
            if let Some(smallest) = radices.iter_mut().min() {
                *smallest *= prime;
            }
        }
        radices.sort_unstable_by(|one, other| other.cmp(one));
        radices
    };
    let most = primes.len();
    let fits = |radices: &Vec<usize>| radices.iter().all(|&radix| radix <= LARGEST_RADIX);
    let mut fewest_first = (least.min(most)..most).map(joined);
    fewest_first.find(fits).unwrap_or_else(|| joined(most))
}

/// A stage of one rank.
#[derive(Debug, PartialEq, Eq)]
struct Stage {
    /// The ranks that take part, from low to high.
    members: Vec<usize>,
    /// Which of them this rank is.
    digit: usize,
    /// The places that it holds, of which it keeps the piece of its digit.
    part: Places<usize>,
}

impl Stage {
    /// The places of the piece of a member.
    fn piece(&self, member: usize) -> Places<usize> {
        let length = self.part.len() / self.members.len();
        let start = self.part.start + member * length;
        start..start + length
    }

    /// The piece that the rank keeps.
    fn kept(&self) -> Places<usize> {
        self.piece(self.digit)
    }

    /// The others, so that not all turn to the same one first.
    fn others(&self) -> impl Iterator<Item = usize> {
        let radix = self.members.len();
        (1..radix).map(move |distance| match radix.is_power_of_two() {
            true => self.digit ^ distance,
            false => (self.digit + distance) % radix,
        })
    }
}

/// The stages of a rank, first to last.
fn stages(radices: &[usize], rank: usize) -> Vec<Stage> {
    let mut part = 0..radices.iter().product();
    let mut stride = 1;
    let stage = |&radix: &usize| {
        let digit = rank / stride % radix;
        let lowest = rank - digit * stride;
        let stage = Stage {
            members: (0..radix).map(|digit| lowest + digit * stride).collect(),
            digit,
            part: part.clone(),
        };
        part = stage.kept();
        stride *= radix;
        stage
    };
    radices.iter().map(stage).collect()
}

/// The place that a rank keeps in the end.
fn place(radices: &[usize], rank: usize) -> usize {
    stages(radices, rank)
        .last()
        .map_or(0, |last| last.kept().start)
}

/// The owner of each place.
fn owners(radices: &[usize], ranks: usize) -> Vec<usize> {
    let mut owners = vec![0; ranks];
    for rank in 0..ranks {
        owners[place(radices, rank)] = rank;
    }
    owners
}

/// Adds up `operands`, the blocks at all places: the sum of the own place is `result`.
fn add_up(
    stages: &[Stage],
    rank: usize,
    steps: &mut dyn Steps,
    blocks: &Blocks,
    operands: Range,
    result: Range,
) {
    let mut held = operands;
    for (number, stage) in stages.iter().enumerate() {
        let before = blocks.start(stage.part.start);
        let units = |places: Places<usize>| {
            let start = blocks.start(places.start);
            held.part(start - before, blocks.start(places.end) - start)
        };
        let given = stage.others();
        let given = given.map(|member| (stage.members[member], units(stage.piece(member))));
        steps.send_round_robin(given);
        let own = units(stage.kept());
        let sum = match number + 1 == stages.len() {
            true => result,
            false => steps.scratch(own.length),
        };
        at_once::combine(stage.members.iter().copied(), rank, steps, own, sum);
        held = sum;
    }
    if stages.is_empty() {
        steps.copy(operands, result);
    }
}

/// Collects the blocks of all places in `all`; only that of the own place is there.
fn collect(stages: &[Stage], steps: &mut dyn Steps, blocks: &Blocks, all: Range) {
    let units = |places: Places<usize>| blocks.span(all, places.start, places.end);
    for stage in stages.iter().rev() {
        let own = units(stage.kept());
        steps.send_round_robin(stage.others().map(|member| (stage.members[member], own)));
        for member in stage.others() {
            steps.receive(stage.members[member], units(stage.piece(member)));
        }
    }
}

/// `Allgather` and `Allgatherv`.
pub(crate) fn allgather(problem: &Problem, rank: usize, steps: &mut dyn Steps, radices: &[usize]) {
    let owners = owners(radices, problem.ranks());
    let held = Held::new(steps, owners, problem.blocks());
    steps.copy(Range::input(0, problem.block(rank)), held.of(rank));
    collect(&stages(radices, rank), steps, held.by_place(), held.all());
    held.take(Range::output(0, problem.total()), steps);
}

/// `Reduce_scatter` and `Reduce_scatter_block`.
pub(crate) fn reduce_scatter(
    problem: &Problem,
    rank: usize,
    steps: &mut dyn Steps,
    radices: &[usize],
) {
    let owners = owners(radices, problem.ranks());
    let held = Held::new(steps, owners, problem.blocks());
    held.put(Range::input(0, problem.total()), steps);
    let result = Range::output(0, problem.block(rank));
    let stages = stages(radices, rank);
    add_up(&stages, rank, steps, held.by_place(), held.all(), result);
}

/// `Allreduce`.
pub(crate) fn allreduce(problem: &Problem, rank: usize, steps: &mut dyn Steps, radices: &[usize]) {
    let length = problem.block(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let blocks = problem.cut(rank, problem.ranks());
    let result = blocks.of(output, place(radices, rank));
    let stages = stages(radices, rank);
    add_up(&stages, rank, steps, &blocks, own, result);
    collect(&stages, steps, &blocks, output);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_ranks_are_split_into_few_radices_the_largest_near() {
        for (ranks, radices) in [
            (1, &[][..]),
            (2, &[2]),
            (8, &[4, 2]),
            (12, &[4, 3]),
            (13, &[13]),
            (16, &[4, 4]),
            (34, &[17, 2]),
            (40, &[8, 5]),
            (128, &[16, 8]),
            (512, &[8, 8, 8]),
        ] {
            assert_eq!(of_ranks(ranks), radices, "{ranks} ranks");
        }
    }

    #[test]
    fn levels_give_the_radices_where_their_groups_are_alike_and_of_consecutive_ranks() {
        let groups = |size: usize| (0..48).map(|rank| rank / size).collect::<Vec<usize>>();
        let deep = Clusters::new(&groups(24))
            .with_closer(&groups(8))
            .with_closer(&groups(2));
        assert_eq!(of_levels(&deep), [2, 4, 3, 2]);
        assert_eq!(of_levels(&Clusters::new(&groups(16))), [16, 3]);
        let round_robin: Vec<usize> = (0..12).map(|rank| rank % 3).collect();
        assert_eq!(of_levels(&Clusters::new(&round_robin)), [4, 3]);
        assert_eq!(of_levels(&Clusters::new(&[0, 0, 1, 1, 1, 1])), [3, 2]);
    }

    #[test]
    fn ranks_end_with_the_blocks_of_the_paper_and_give_their_pieces_to_its_peers() {
        for (radices, places) in [
            (&[4, 2][..], &[0, 2, 4, 6, 1, 3, 5, 7][..]),
            (&[4, 3], &[0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]),
            (&[3, 4], &[0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]),
            (
                &[4, 4],
                &[0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15],
            ),
        ] {
            let all: Vec<usize> = (0..places.len()).map(|rank| place(radices, rank)).collect();
            assert_eq!(all, places);
        }
        let given = |stage: &Stage| -> Vec<(usize, Places<usize>)> {
            let all = stage.members.iter().enumerate();
            all.map(|(member, &rank)| (rank, stage.piece(member)))
                .collect()
        };
        let stages = stages(&[4, 3], 5);
        assert_eq!(
            given(&stages[0]),
            [(4, 0..3), (5, 3..6), (6, 6..9), (7, 9..12)]
        );
        assert_eq!(given(&stages[1]), [(1, 3..4), (5, 4..5), (9, 5..6)]);
    }
}
