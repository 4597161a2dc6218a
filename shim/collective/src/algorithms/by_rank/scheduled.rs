//! `Alltoall`, `Alltoallv` and `Alltoallw` by a schedule: a rank sends one message, or a part of
//! one, at a time, in an order that depends on the sizes of all. Messages are received in any
//! order.
//!
//! ```text
//!   sizes --matching--> schedule: 0 -> 2, 1 | 1 -> 0, 2 | 2 -> 1, 0 --> steps of each rank
//! ```
//!
//! The schedule is computed once for all ranks of a call.

use crate::algorithms::by_rank::matchings::Matching;
use crate::algorithms::by_rank::pairwise::{buffers, seconds};
use crate::problem::Problem;
use crate::steps::Steps;

/// Part of a message: its receiver, and the units of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    pub to: usize,
    pub start: u64,
    pub length: u64,
}

/// Parts that each rank sends, in its order; none is empty.
pub type Schedule = Vec<Vec<Piece>>;

/// Whole messages in the order of a matching of senders and receivers by the time of each message.
pub fn matched(problem: &Problem, matching: Matching) -> Schedule {
    let order = matching.order(problem.ranks(), |from, to| seconds(problem, from, to));
    let whole = |(from, others): (usize, Vec<usize>)| {
        let pieces = others.into_iter().map(|to| Piece {
            to,
            start: 0,
            length: problem.pair(from, to),
        });
        pieces.filter(|piece| piece.length > 0).collect()
    };
    order.into_iter().enumerate().map(whole).collect()
}

/// Writes the steps of `rank`.
pub fn exchange(problem: &Problem, schedule: &Schedule, rank: usize, steps: &mut dyn Steps) {
    let (input, output) = buffers(problem, rank);
    steps.copy(input[rank], output[rank]);
    for distance in 1..problem.ranks() {
        let from = problem.before(rank, distance);
        for piece in schedule[from].iter().filter(|piece| piece.to == rank) {
            steps.receive(from, output[from].part(piece.start, piece.length));
        }
    }
    for piece in &schedule[rank] {
        steps.send(piece.to, input[piece.to].part(piece.start, piece.length));
        steps.one_by_one();
    }
}
