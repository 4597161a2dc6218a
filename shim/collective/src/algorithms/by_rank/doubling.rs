//! Exchanges between partners at distance 1, 2, 4, ... (Thakur, Rabenseifner and Gropp 2005).
//!
//! ```text
//!   0 == 1   2 == 3     distance 1        6 ranks: 0 and 2 hand over to 1 and 3, the four that
//!   0 == 2   1 == 3     distance 2        stay exchange, and send the result back
//! ```
//!
//! With the nearest partner first, combined operands always come from consecutive ranks: operands
//! stay in their order.

use crate::algorithms::by_rank::fold::{Fold, distances};
use crate::operation::Operation;
use crate::plan::range::Range;
use crate::problem::Problem;
use crate::steps::Steps;

/// `Barrier`: the ranks above a power of two signal the first ones, which exchange and then signal
/// back (Open MPI).
pub fn barrier(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let power = 1 << problem.ranks().ilog2();
    if rank >= power {
        steps.signal(rank - power);
        return steps.await_signal(rank - power);
    }
    let above = Some(rank + power).filter(|&above| above < problem.ranks());
    if let Some(above) = above {
        steps.await_signal(above);
        steps.fence();
    }
    for distance in distances(power) {
        steps.signal(rank ^ distance);
        steps.await_signal(rank ^ distance);
        steps.fence();
    }
    if let Some(above) = above {
        steps.signal(above);
    }
}

/// `Allreduce`.
pub fn allreduce(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let fold = Fold::even_leaves(problem.ranks());
    let length = problem.block(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let Some((place, mut reduced)) = fold.join(steps, rank, own, output) else {
        return;
    };
    for distance in distances(fold.count) {
        let partner = fold.rank(place ^ distance);
        let incoming = steps.scratch(length);
        steps.send(partner, reduced);
        steps.receive(partner, incoming);
        reduced = combine(steps, place & distance == 0, reduced, incoming);
    }
    steps.copy(reduced, output);
    if let Some(other) = fold.other(place) {
        steps.send(other, output);
    }
}

/// Sum of the own operand and the received one. The own one is only read: it may be the input, or
/// still in flight to the partner.
fn combine(steps: &mut dyn Steps, own_is_left: bool, own: Range, incoming: Range) -> Range {
    if own_is_left {
        steps.reduce(own, incoming);
        return incoming;
    }
    let sum = steps.scratch(own.length);
    steps.copy(own, sum);
    steps.reduce(incoming, sum);
    sum
}

/// `Allgather` and `Allgatherv`, on a power of two of ranks.
pub fn allgather(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let (blocks, output) = (problem.blocks(), Range::output(0, problem.total()));
    steps.copy(
        Range::input(0, problem.block(rank)),
        blocks.of(output, rank),
    );
    collect(problem, rank, 0, steps, |first, end| {
        blocks.span(output, first, end)
    });
}

/// Collects the blocks of all places, a power of two, from rank `first_rank` on: at distance d each
/// has the d blocks of its group, at `span`.
pub fn collect(
    problem: &Problem,
    place: usize,
    first_rank: usize,
    steps: &mut dyn Steps,
    span: impl Fn(usize, usize) -> Range,
) {
    for distance in distances(problem.ranks()) {
        let partner = problem.after(first_rank, place ^ distance);
        let group = |place: usize| {
            let first = place & !(distance - 1);
            span(first, first + distance)
        };
        steps.send(partner, group(place));
        steps.receive(partner, group(place ^ distance));
    }
}

/// `Scan` and `Exscan`: at each distance, ranks that have a partner exchange the sums of their
/// groups; a sum from lower ranks is added to the result.
pub fn scan(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let inclusive = problem.operation == Operation::Scan;
    let (ranks, length) = (problem.ranks(), problem.block(rank));
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let mut has_result = inclusive;
    if inclusive {
        steps.copy(own, output);
    }
    let mut sum = own;
    for distance in distances(ranks.next_power_of_two()) {
        let partner = rank ^ distance;
        if partner >= ranks {
            continue;
        }
        let incoming = steps.scratch(length);
        steps.send(partner, sum);
        steps.receive(partner, incoming);
        if partner < rank {
            match has_result {
                true => steps.reduce(incoming, output),
                false => steps.copy(incoming, output),
            }
            has_result = true;
        }
        sum = combine(steps, rank < partner, sum, incoming);
    }
}
