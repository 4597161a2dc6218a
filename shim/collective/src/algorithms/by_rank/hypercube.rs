//! Total exchange along the edges of a hypercube (thesis item 81): in step `i` each rank sends the
//! rank whose number differs in bit `i` all blocks that it holds for ranks on that side.
//!
//! ```text
//!   step 0    0 <--> 1    2 <--> 3        blocks for odd ranks one way, for even ranks the other
//!   step 1    0 <--> 2    1 <--> 3        with those that came in step 0
//! ```
//!
//! The fewest messages, each with half of all blocks: for short blocks of any sizes.

use crate::algorithms::by_rank::pairwise::buffers;
use crate::plan::range::Range;
use crate::problem::{Blocks, Problem};
use crate::steps::Steps;

/// Block on its way: its source, its destination, and its range.
#[derive(Clone, Copy)]
struct Held {
    from: usize,
    to: usize,
    range: Range,
}

/// `Alltoall`, `Alltoallv` and `Alltoallw` on a power of two of ranks, if all ranks know all sizes.
pub fn exchange(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let ranks = problem.ranks();
    let (input, output) = buffers(problem, rank);
    let own = |to: usize| Held {
        from: rank,
        to,
        range: input[to],
    };
    let mut held: Vec<Held> = (0..ranks).map(own).collect();
    let mut bit = 1;
    while bit < ranks {
        let partner = rank ^ bit;
        let (leaving, staying): (Vec<Held>, Vec<Held>) =
            held.iter().partition(|block| (block.to ^ rank) & bit != 0);
        let given = steps.scratch(leaving.iter().map(|block| block.range.length).sum());
        let mut start = 0;
        for block in &leaving {
            let place = given.part(start, block.range.length);
            steps.copy(block.range, place);
            start += place.length;
        }
        steps.send(partner, given);
        held = staying;
        held.extend(received(problem, bit, partner, steps));
        bit *= 2;
    }
    for block in held {
        steps.copy(block.range, output[block.from]);
    }
}

/// Blocks received from the `partner` in the step of this `bit`, in the order in which it holds
/// them.
fn received(problem: &Problem, bit: usize, partner: usize, steps: &mut dyn Steps) -> Vec<Held> {
    let mut coming = order(problem.ranks(), partner, bit);
    coming.retain(|(_, to)| (to ^ partner) & bit != 0);
    let lengths: Vec<u64> = coming
        .iter()
        .map(|&(from, to)| problem.pair(from, to))
        .collect();
    let blocks = Blocks::listed(&lengths);
    let all = steps.scratch(blocks.total());
    steps.receive(partner, all);
    let held = coming.into_iter().enumerate();
    held.map(|(place, (from, to))| Held {
        from,
        to,
        range: blocks.of(all, place),
    })
    .collect()
}

/// Blocks (from, to) that a rank holds before the step of this `bit`, in its order.
fn order(ranks: usize, rank: usize, bit: usize) -> Vec<(usize, usize)> {
    let mut held: Vec<(usize, usize)> = (0..ranks).map(|to| (rank, to)).collect();
    let mut earlier = 1;
    while earlier < bit {
        let side = |rank: usize| move |&(_, to): &(usize, usize)| (to ^ rank) & earlier != 0;
        let mut coming = order(ranks, rank ^ earlier, earlier);
        coming.retain(side(rank ^ earlier));
        held.retain(|block| !side(rank)(block));
        held.extend(coming);
        earlier *= 2;
    }
    held
}
