//! Shifts by 1, 2, 4, ... ranks: `ceil(log2 P)` rounds for any number of ranks (Hensgen, Finkel and
//! Manber 1988; Bruck et al. 1997).
//!
//! ```text
//!   allgather of 5 ranks: blocks of rank 0     alltoall: blocks by the distance that they have to go
//!     0     | from 1: 1 | from 2: 2 3 | ...      round 0 moves 1 3 5 7, round 1 moves 2 3 6 7, ...
//! ```

use crate::algorithms::by_rank::pairwise::buffers;
use crate::algorithms::by_rank::rounds::Rounds;
use crate::plan::range::Range;
use crate::problem::Problem;
use crate::steps::Steps;

fn shifts(ranks: usize) -> impl Iterator<Item = usize> {
    let powers = (0..usize::BITS).map(|bit| 1 << bit);
    powers.take_while(move |&shift| shift < ranks)
}

/// `Barrier`, dissemination: in each round a rank signals the rank at the round's distance.
pub fn barrier(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    for shift in shifts(problem.ranks()) {
        steps.signal(problem.after(rank, shift));
        steps.await_signal(problem.before(rank, shift));
        steps.fence();
    }
}

/// Rounds of an allgather: a rank sends backwards all its blocks, but no more than the receiver
/// lacks.
pub(crate) fn rounds(ranks: usize) -> Rounds {
    let have: Vec<usize> = shifts(ranks).chain([ranks]).collect();
    Rounds::growing(&have)
}

/// `Alltoall`, for short blocks: in round k all blocks whose distance has bit k travel 2^k ranks
/// further, in one message.
pub fn alltoall(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let (ranks, block) = (problem.ranks(), problem.block(rank));
    let (input, output) = buffers(problem, rank);
    // Place i: the block that has `i` ranks left to travel, of those that arrived here.
    let held = steps.scratch(ranks as u64 * block);
    let slot = |buffer: Range, index: usize| buffer.part(index as u64 * block, block);
    for distance in 0..ranks {
        steps.copy(input[problem.after(rank, distance)], slot(held, distance));
    }
    for shift in shifts(ranks) {
        let moved = || {
            (0..ranks)
                .filter(move |place| place & shift != 0)
                .enumerate()
        };
        let length = moved().count() as u64 * block;
        let (outgoing, incoming) = (steps.scratch(length), steps.scratch(length));
        for (index, place) in moved() {
            steps.copy(slot(held, place), slot(outgoing, index));
        }
        steps.send(problem.after(rank, shift), outgoing);
        steps.receive(problem.before(rank, shift), incoming);
        for (index, place) in moved() {
            steps.copy(slot(incoming, index), slot(held, place));
        }
    }
    for distance in 0..ranks {
        steps.copy(slot(held, distance), output[problem.before(rank, distance)]);
    }
}
