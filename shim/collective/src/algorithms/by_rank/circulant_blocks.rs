//! Broadcasts and reductions in blocks, in each round of which a rank sends one block and receives
//! one (Traeff, ACM TOPC 2025, doi 10.1145/3735139, arXiv 2407.18004).
//!
//! ```text
//!   8 ranks, 3 blocks    +2  0:a | +4  0:b 2:a | +1  0:c 2:a 4:b 6:a | ...
//!   (sender:block)       in the round +2 each sends to the rank 2 further
//! ```
//!
//! `n` blocks, the segments of the message, take `n - 1 + ceil(log2 P)` rounds, the minimum, for
//! any number of ranks. A reduction is a broadcast backwards. Distances are those of
//! [`super::circulant`]: most blocks travel far, for links of equal speed.

use crate::algorithms::by_rank::circulant::skips;
use crate::algorithms::trees::Slots;
use crate::plan::range::Range;
use crate::problem::Problem;
use crate::steps::Steps;

/// Recursive search of the paper for the blocks that a place receives, one in each round of a
/// phase.
struct Search<'a> {
    skips: &'a [usize],
    /// A multiple of the number of ranks, added to the place.
    target: usize,
    /// True for each unused skip.
    left: Vec<bool>,
    /// For each round, the index of the last skip of its path.
    found: Vec<usize>,
}

impl Search<'_> {
    /// Finds paths from `at` to the place that end in time for the next rounds, by skips up to
    /// index `from`, all with a reach below `limit`.
    fn look(&mut self, at: usize, mut limit: usize, from: usize) {
        let rounds = self.skips.len() - 1;
        for index in (0..=from).rev() {
            if self.found.len() == rounds {
                return;
            }
            let next = at + self.skips[index];
            let in_time = |round: usize| self.target - self.skips[round];
            if !self.left[index] || next > in_time(self.found.len()) || next >= limit {
                continue;
            }
            if next <= in_time(self.found.len() + 1) {
                self.look(next, limit, index);
            }
            let round = self.found.len();
            if round == rounds || at > self.target - self.skips[round + 1] {
                return;
            }
            limit = next;
            self.found.push(index);
            self.left[index] = false;
        }
    }
}

/// Block that a place receives in each round of a phase, relative to the first one of the phase:
/// one of each remainder. Blocks below zero belong to earlier phases.
fn received(place: usize, skips: &[usize]) -> Vec<i64> {
    let rounds = skips.len() - 1;
    // The lowest of the skips whose sum is the place, the largest first.
    let mut rest = place;
    let mut base = rounds;
    for (index, &skip) in skips[..rounds].iter().enumerate().rev() {
        if skip <= rest {
            rest -= skip;
            base = index;
        }
        if rest == 0 {
            break;
        }
    }
    let ranks = skips[rounds];
    let mut search = Search {
        skips,
        target: place + ranks,
        left: (0..=rounds).map(|index| index != base).collect(),
        found: Vec::with_capacity(rounds),
    };
    search.look(0, 2 * ranks, rounds);
    let block = |index: usize| match index == rounds {
        true => base as i64,
        false => index as i64 - rounds as i64,
    };
    search.found.into_iter().map(block).collect()
}

/// Round of a place.
#[derive(Debug, Clone, Copy)]
struct Round {
    skip: usize,
    /// Block for the place `skip` further.
    sent: Option<usize>,
    /// Block from the place `skip` before.
    received: Option<usize>,
}

/// Rounds of a broadcast of this number of blocks from place 0.
fn rounds(place: usize, ranks: usize, blocks: usize) -> Vec<Round> {
    let skips = skips(ranks);
    let in_phase = skips.len() - 1;
    if in_phase == 0 || blocks == 0 {
        return Vec::new();
    }
    let receiver = |round: usize| (place + skips[round]) % ranks;
    let incoming = received(place, &skips);
    let outgoing: Vec<i64> = (0..in_phase)
        .map(|round| received(receiver(round), &skips)[round])
        .collect();
    // The last phase is complete.
    let skipped = (in_phase - (blocks - 1) % in_phase) % in_phase;
    let all = skipped..blocks - 1 + in_phase + skipped;
    all.map(|number| {
        let round = number % in_phase;
        let first = (number - round) as i64 - skipped as i64;
        let block = |relative: i64| {
            let block = usize::try_from(first + relative).ok();
            block.map(|block| block.min(blocks - 1))
        };
        Round {
            skip: skips[round],
            sent: block(outgoing[round]).filter(|_| receiver(round) != 0),
            received: block(incoming[round]).filter(|_| place != 0),
        }
    })
    .collect()
}

/// `Bcast`.
pub(crate) fn broadcast(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let data = Range::output(0, problem.block(rank));
    let blocks: Vec<Range> = steps.segments(data).collect();
    for round in rounds(problem.place(rank), problem.ranks(), blocks.len()) {
        if let Some(block) = round.sent {
            steps.send_segment(problem.after(rank, round.skip), blocks[block]);
        }
        if let Some(block) = round.received {
            steps.receive_segment(problem.before(rank, round.skip), blocks[block]);
        }
    }
}

/// `Reduce`.
pub(crate) fn reduce(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let (length, is_root) = (problem.block(rank), rank == problem.root);
    let own = Range::input(0, length);
    let blocks: Vec<Range> = steps.segments(own).collect();
    let rounds = rounds(problem.place(rank), problem.ranks(), blocks.len());
    let sums = match is_root {
        true => Range::output(0, length),
        false => steps.scratch(length),
    };
    if rounds.is_empty() {
        return steps.copy(own, sums);
    }
    let sum = |block: usize| sums.part(blocks[block].start, blocks[block].length);
    let mut is_summed = vec![false; blocks.len()];
    let mut slots = Slots::new(steps, length, 1);
    for round in rounds.into_iter().rev() {
        if let Some(block) = round.received {
            let given = match is_summed[block] {
                true => sum(block),
                false => blocks[block],
            };
            steps.send_segment(problem.before(rank, round.skip), given);
        }
        let Some(block) = round.sent else { continue };
        let from = problem.after(rank, round.skip);
        if is_summed[block] {
            let incoming = slots.next(blocks[block].length);
            steps.receive_segment(from, incoming);
            steps.reduce_segment(incoming, sum(block));
        } else {
            steps.receive_segment(from, sum(block));
            steps.reduce_segment(blocks[block], sum(block));
            is_summed[block] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::algorithm::Algorithm;
    use crate::clusters::Clusters;
    use crate::operation::Operation;
    use crate::plan::step::Action;
    use crate::problem::Uniform;

    #[test]
    fn blocks_of_a_phase_are_those_of_the_paper() {
        let columns = |ranks: usize| -> Vec<Vec<i64>> {
            let skips = skips(ranks);
            let all: Vec<Vec<i64>> = (0..ranks).map(|place| received(place, &skips)).collect();
            let round = |round: usize| all.iter().map(|blocks| blocks[round]).collect();
            (0..skips.len() - 1).map(round).collect()
        };
        assert_eq!(
            columns(8),
            [
                [-3, 0, -3, -2, -3, -1, -3, -2],
                [-2, -2, 1, 0, -2, -2, -1, -1],
                [-1, -1, -1, -1, 2, 0, 1, 0],
            ]
        );
        assert_eq!(
            columns(12),
            [
                [-3, 0, -4, -3, -2, -4, -3, -1, -4, -3, -2, -4],
                [-4, -3, 1, -4, -3, -2, -4, -3, -1, -4, -3, -2],
                [-2, -2, -2, 2, 0, 1, -2, -2, -2, -1, -1, -1],
                [-1, -1, -1, -1, -1, -1, 3, 0, 1, 2, 0, 1],
            ]
        );
        assert_eq!(
            columns(17),
            [
                [
                    -4, 0, -5, -4, -3, -5, -2, -5, -4, -3, -1, -5, -4, -3, -5, -2, -5
                ],
                [
                    -5, -4, 1, -5, -4, -3, -3, -2, -5, -4, -3, -1, -5, -4, -3, -3, -2
                ],
                [
                    -2, -2, -2, 2, 0, -4, -4, -3, -2, -2, -4, -3, -1, -1, -4, -4, -3
                ],
                [
                    -1, -3, -3, -2, -2, 3, 0, 1, 2, -5, -2, -2, -2, -2, -1, -1, -1
                ],
                [-3, -1, -1, -1, -1, -1, -1, -1, -1, 4, 0, 1, 2, 0, 3, 0, 1],
            ]
        );
    }

    #[test]
    fn every_rank_gets_each_block_once_from_one_that_has_it_on_2_to_140_ranks() {
        for ranks in (2..=140).chain([257, 1000]) {
            for blocks in [1, 2, 3, 5, 13] {
                let all: Vec<Vec<Round>> = (0..ranks)
                    .map(|place| rounds(place, ranks, blocks))
                    .collect();
                let mut have = vec![vec![false; blocks]; ranks];
                have[0] = vec![true; blocks];
                for number in 0..all[0].len() {
                    let before = have.clone();
                    for (place, rounds) in all.iter().enumerate() {
                        let round = rounds[number];
                        let to = (place + round.skip) % ranks;
                        assert_eq!(round.sent, all[to][number].received, "{ranks} {place}");
                        let Some(block) = round.sent else { continue };
                        assert!(before[place][block] && !have[to][block], "{ranks} {place}");
                        have[to][block] = true;
                    }
                }
                assert!(have.iter().flatten().all(|&has| has), "{ranks} {blocks}");
            }
        }
    }

    #[test]
    fn three_blocks_go_to_eight_ranks_as_in_the_paper() {
        let algorithm = Algorithm::find(Operation::Bcast, "circulant").unwrap();
        let call = Uniform {
            operation: Operation::Bcast,
            bytes: 3,
            root: 0,
        };
        let plans = algorithm.plans(&call, None, &Clusters::one(8), 1);
        let sent = |plan: &crate::plan::step::Plan| -> Vec<(usize, u64)> {
            let steps = plan.steps().iter();
            steps
                .filter_map(|step| match step.action {
                    Action::Send { to, range, .. } => Some((to, range.start)),
                    _ => None,
                })
                .collect()
        };
        let expected: [&[(usize, u64)]; 8] = [
            &[(2, 0), (4, 1), (1, 2), (2, 2), (4, 2)],
            &[(3, 2), (5, 2)],
            &[(6, 0), (3, 0), (4, 0), (6, 2)],
            &[(5, 0), (7, 2)],
            &[(5, 1), (6, 1)],
            &[(7, 1), (1, 1)],
            &[(7, 0), (2, 1)],
            &[(1, 0), (3, 1)],
        ];
        assert_eq!(plans.iter().map(sent).collect::<Vec<_>>(), expected);
    }
}
