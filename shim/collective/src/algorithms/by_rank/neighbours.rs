//! `Allgather` in pairs: each rank alternates between its two neighbours; it first exchanges its
//! own block, then the two that it received last.
//!
//! ```text
//! 6 ranks: which blocks rank 0 has
//!   0     | from 1: 1 | from 5: 4 5 | from 1: 2 3
//! ```
//!
//! Source: Chen, Zhang, Zhang, Yuan, "Performance Evaluation of Allgather
//! Algorithms on Terascale Linux Cluster with Fast Ethernet" (2005).

use crate::plan::range::Range;
use crate::problem::Problem;
use crate::steps::Steps;

/// `Allgather` and `Allgatherv`, among an even number of ranks.
pub fn allgather(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let (blocks, output) = (problem.blocks(), Range::output(0, problem.total()));
    let block = |rank: usize| blocks.of(output, rank);
    let pair = |first: usize| blocks.span(output, first, first + 2);
    let partner = |round: usize| match (rank + round).is_multiple_of(2) {
        true => problem.after(rank, 1),
        false => problem.before(rank, 1),
    };
    steps.copy(Range::input(0, problem.block(rank)), block(rank));
    if problem.ranks() == 1 {
        return;
    }
    steps.send(partner(0), block(rank));
    steps.receive(partner(0), block(partner(0)));
    // Distance from rank 0, and from rank 1, back to the pair that they received last: at first
    // their own. Even ranks have it at rank 0's distance from themselves, odd ones at rank 1's.
    let (mut even, mut odd) = (0, problem.before(0, 1));
    for round in 1..problem.ranks() / 2 {
        let (ours, theirs) = match rank.is_multiple_of(2) {
            true => (even, odd),
            false => (odd, even),
        };
        let other = partner(round);
        steps.send(other, pair(problem.after(rank, ours)));
        steps.receive(other, pair(problem.after(other, theirs)));
        // Each now has its partner's pair: those of even ranks are behind them in even rounds.
        (even, odd) = match round.is_multiple_of(2) {
            true => (problem.after(odd, 1), problem.before(even, 1)),
            false => (problem.before(odd, 1), problem.after(even, 1)),
        };
    }
}
