//! Allgathers in rounds in which all ranks behave alike, their reverse, which is a reduce-scatter,
//! and the combination of both, which is an allreduce.
//!
//! ```text
//!   allgather        places    . . [a b]           a rank holds the blocks at consecutive places;
//!                              . .  a b --> peer   a round sends some, and puts the received
//!                              c d  a b            ones in front of them or behind
//!   reduce-scatter   backwards: received blocks are sent, and added to the sent ones
//! ```
//!
//! Messages are contiguous in scratch memory, and carry each block once: `P - 1` blocks for each
//! rank.

use std::ops::Range as Places;

use crate::algorithms::by_rank::held::Held;
use crate::plan::range::Range;
use crate::problem::{Blocks, Problem};
use crate::steps::Steps;

/// Round of an allgather.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Round {
    /// Distance to the receiver in ranks, modulo the number of ranks.
    pub distance: usize,
    /// Places of the sent blocks.
    pub sent: Places<usize>,
    /// Places of the received blocks, in the order in which their sender holds them.
    pub received: Places<usize>,
}

/// Rounds of an allgather, equal for all ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rounds {
    /// Distance from a rank to the owner of the block at each place, modulo the number of ranks.
    pub owners: Vec<usize>,
    /// First to last.
    pub rounds: Vec<Round>,
}

impl Rounds {
    /// Rounds in which place `n` is for the block of the rank `n` further. Before each round a rank
    /// has the first `have` of them, and receives the blocks that are missing to the next number
    /// from the rank `have` further.
    pub(crate) fn growing(have: &[usize]) -> Self {
        let ranks = have.last().copied().unwrap_or(1);
        let round = |pair: &[usize]| Round {
            distance: ranks - pair[0],
            sent: 0..pair[1] - pair[0],
            received: pair[0]..pair[1],
        };
        Rounds {
            owners: (0..ranks).collect(),
            rounds: have.windows(2).map(round).collect(),
        }
    }

    /// Scratch buffer with these places for `blocks` of `rank`.
    fn held(&self, steps: &mut dyn Steps, rank: usize, blocks: Blocks) -> Held {
        let ranks = self.owners.len();
        let owners = self.owners.iter().map(|far| (rank + far) % ranks);
        Held::new(steps, owners.collect(), blocks)
    }

    /// Collects all blocks at their places, given the own one.
    fn collect(&self, problem: &Problem, rank: usize, steps: &mut dyn Steps, held: &Held) {
        for round in &self.rounds {
            steps.send(problem.after(rank, round.distance), held.at(&round.sent));
            let from = problem.before(rank, round.distance);
            steps.receive(from, held.at(&round.received));
        }
    }

    /// Adds up the blocks of all ranks at these places, until the own one is complete.
    fn add_up(&self, problem: &Problem, rank: usize, steps: &mut dyn Steps, held: &Held) {
        for round in self.rounds.iter().rev() {
            let from = problem.after(rank, round.distance);
            steps.send(
                problem.before(rank, round.distance),
                held.at(&round.received),
            );
            let sum = held.at(&round.sent);
            let incoming = steps.scratch(sum.length);
            steps.receive(from, incoming);
            steps.reduce(incoming, sum);
        }
    }
}

/// `Allgather` and `Allgatherv`.
pub(crate) fn allgather(problem: &Problem, rank: usize, steps: &mut dyn Steps, rounds: &Rounds) {
    let held = rounds.held(steps, rank, problem.blocks());
    steps.copy(Range::input(0, problem.block(rank)), held.of(rank));
    rounds.collect(problem, rank, steps, &held);
    held.take(Range::output(0, problem.total()), steps);
}

/// `Reduce_scatter` and `Reduce_scatter_block`.
pub(crate) fn reduce_scatter(
    problem: &Problem,
    rank: usize,
    steps: &mut dyn Steps,
    rounds: &Rounds,
) {
    let held = rounds.held(steps, rank, problem.blocks());
    held.put(Range::input(0, problem.total()), steps);
    rounds.add_up(problem, rank, steps, &held);
    steps.copy(held.of(rank), Range::output(0, problem.block(rank)));
}

/// `Allreduce`.
pub(crate) fn allreduce(problem: &Problem, rank: usize, steps: &mut dyn Steps, rounds: &Rounds) {
    let length = problem.block(rank);
    let held = rounds.held(steps, rank, problem.cut(rank, problem.ranks()));
    held.put(Range::input(0, length), steps);
    rounds.add_up(problem, rank, steps, &held);
    rounds.collect(problem, rank, steps, &held);
    held.take(Range::output(0, length), steps);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// In each round, the distance to the receiver, and the sorted distances to the owners of the
    /// sent blocks.
    pub(crate) fn sent(rounds: &Rounds) -> Vec<(usize, Vec<usize>)> {
        let all = rounds.rounds.iter();
        all.map(|round| {
            let mut owners = rounds.owners[round.sent.clone()].to_vec();
            owners.sort_unstable();
            (round.distance, owners)
        })
        .collect()
    }

    /// In each round, the distance to the receiver, and the number of sent blocks.
    pub(crate) fn counts(rounds: &Rounds) -> Vec<(usize, usize)> {
        let all = rounds.rounds.iter();
        all.map(|round| (round.distance, round.sent.len()))
            .collect()
    }
}
