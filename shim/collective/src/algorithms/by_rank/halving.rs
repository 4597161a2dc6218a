//! Exchanges of halves, and Rabenseifner's reductions based on them (Rabenseifner 1997; Thakur,
//! Rabenseifner and Gropp 2005, whose numbering is used if the number of ranks is not a power of
//! two).
//!
//! ```text
//!   four places, blocks a to d     distance 1             distance 2
//!     0  abcd                      0+1  ab                0+1+2+3  a     then back the same way (Allreduce),
//!     1  abcd                      0+1  cd                0+1+2+3  c     back towards the root (Reduce),
//!     2  abcd                      2+3  ab                0+1+2+3  b     or to the owners (butterfly)
//!     3  abcd                      2+3  cd                0+1+2+3  d
//! ```
//!
//! With the nearest partner first, added operands always come from consecutive ranks: operands stay
//! in their order. With the farthest first, place n ends with block n, as in a `Reduce_scatter`.

use crate::algorithms::by_rank::fold::{Fold, distances};
use crate::operation::Operation;
use crate::plan::range::{Range, Space};
use crate::problem::{Blocks, Problem};
use crate::steps::Steps;

/// Blocks that a place holds: the first one, and the end (exclusive).
type Held = (usize, usize);

/// Blocks that a place holds at first and after each exchange over `distances`.
fn held(fold: Fold, place: usize, distances: impl Iterator<Item = usize>) -> Vec<Held> {
    let mut all = vec![(0, fold.count)];
    let mut now = (0, fold.count);
    for distance in distances {
        let middle = (now.0 + now.1) / 2;
        now = match place & distance {
            0 => (now.0, middle),
            _ => (middle, now.1),
        };
        all.push(now);
    }
    all
}

/// Remainder of `all` blocks without those of one half.
fn without(all: Held, half: Held) -> Held {
    match half.0 == all.0 {
        true => (half.1, all.1),
        false => (all.0, half.0),
    }
}

/// Units of some blocks, of which number n starts at `start(n)`.
fn units(all: Range, start: &impl Fn(usize) -> u64, (first, last): Held) -> Range {
    all.part(start(first), start(last) - start(first))
}

/// Exchanges halves of the held blocks with partners at these distances; returns the sum of the
/// remaining blocks.
fn halve(
    steps: &mut dyn Steps,
    fold: Fold,
    place: usize,
    operand: Range,
    distances: impl Iterator<Item = usize> + Clone,
    start: &impl Fn(usize) -> u64,
) -> Range {
    let blocks = held(fold, place, distances.clone());
    let mut sum = operand;
    for (pair, distance) in blocks.windows(2).zip(distances) {
        let (before, kept) = (pair[0], pair[1]);
        // The held range starts with its first block.
        let of_held = |block: usize| start(block) - start(before.0);
        let given = units(sum, &of_held, without(before, kept));
        let own = units(sum, &of_held, kept);
        let partner = fold.rank(place ^ distance);
        steps.send(partner, given);
        let incoming = steps.scratch(own.length);
        steps.receive(partner, incoming);
        sum = add(steps, place & distance == 0, own, incoming);
    }
    sum
}

/// Sum of the own operand and the received one, in one of the two; the input is only read.
fn add(steps: &mut dyn Steps, own_is_left: bool, own: Range, incoming: Range) -> Range {
    if own_is_left {
        steps.reduce(own, incoming);
        return incoming;
    }
    let sum = match own.space {
        Space::Input => {
            let sum = steps.scratch(own.length);
            steps.copy(own, sum);
            sum
        }
        _ => own,
    };
    steps.reduce(incoming, sum);
    sum
}

/// Halves a message, nearest partner first, and exchanges it backwards: every place that takes part
/// ends with all of `output`.
fn halve_and_double(
    steps: &mut dyn Steps,
    fold: Fold,
    place: usize,
    operand: Range,
    output: Range,
) {
    let blocks = Blocks::Cut {
        count: fold.count,
        units: output.length,
    };
    let start = |number: usize| blocks.start(number);
    let sum = halve(steps, fold, place, operand, distances(fold.count), &start);
    let blocks = held(fold, place, distances(fold.count));
    if let Some(&last) = blocks.last() {
        steps.copy(sum, units(output, &start, last));
    }
    for (pair, distance) in blocks.windows(2).zip(distances(fold.count)).rev() {
        let (wider, known) = (pair[0], pair[1]);
        let partner = fold.rank(place ^ distance);
        steps.send(partner, units(output, &start, known));
        steps.receive(partner, units(output, &start, without(wider, known)));
    }
}

/// `Allreduce` (Rabenseifner).
pub fn allreduce(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let fold = Fold::even_leaves(problem.ranks());
    let length = problem.block(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let Some((place, operand)) = fold.join(steps, rank, own, output) else {
        return;
    };
    halve_and_double(steps, fold, place, operand, output);
    if let Some(other) = fold.other(place) {
        steps.send(other, output);
    }
}

/// `Allreduce` of Open MPI, if the number of ranks is not a power of two: the two ranks of a pair
/// halve their work, before the odd one hands its sum over and leaves.
pub(crate) fn allreduce_shared_fold(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let fold = Fold::odd_leaves(problem.ranks());
    let length = problem.block(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let halves = problem.cut(rank, 2);
    let Some(place) = fold.place(rank) else {
        let even = fold.neighbour(rank);
        steps.send(even, halves.of(own, 0));
        let incoming = steps.scratch(halves.length(1));
        steps.receive(even, incoming);
        let sum = add(steps, false, halves.of(own, 1), incoming);
        steps.send(even, sum);
        return steps.receive(even, output);
    };
    let Some(odd) = fold.other(place) else {
        return halve_and_double(steps, fold, place, own, output);
    };
    let operand = steps.scratch(length);
    steps.send(odd, halves.of(own, 1));
    steps.receive(odd, halves.of(operand, 0));
    steps.reduce(halves.of(own, 0), halves.of(operand, 0));
    steps.receive(odd, halves.of(operand, 1));
    halve_and_double(steps, fold, place, operand, output);
    steps.send(odd, output);
}

/// `Reduce` (Rabenseifner; MPICH): the sums return to the root, along a binomial tree over the
/// places. A root that left its operand to its neighbour takes the block and the place of the first
/// rank.
pub fn reduce(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let fold = Fold::odd_leaves(problem.ranks());
    let (length, root) = (problem.block(rank), problem.root);
    let own = Range::input(0, length);
    let blocks = problem.cut(rank, fold.count);
    let start = |number: usize| blocks.start(number);
    let root_place = fold.place(root);
    let halved = match fold.place(rank) {
        Some(place) => {
            let operand = fold.operand(steps, place, own);
            Some((
                place,
                halve(steps, fold, place, operand, distances(fold.count), &start),
            ))
        }
        None => {
            steps.send(fold.neighbour(rank), own);
            None
        }
    };
    let (place, sum) = match halved {
        Some((0, sum)) if root_place.is_none() => return steps.send(root, sum),
        Some((place, sum)) => (place, Some(sum)),
        None if rank == root => (0, None),
        None => return,
    };
    let rank_at = |place: usize| match place {
        0 if root_place.is_none() => root,
        _ => fold.rank(place),
    };
    let held = held(fold, place, distances(fold.count));
    let collected = match rank == root {
        true => Range::output(0, length),
        false => steps.scratch(length),
    };
    let mine = units(collected, &start, held[held.len() - 1]);
    match sum {
        Some(sum) => steps.copy(sum, mine),
        None => steps.receive(fold.rank(0), mine),
    }
    for (pair, distance) in held.windows(2).zip(distances(fold.count)).rev() {
        let (wider, known) = (pair[0], pair[1]);
        let partner = rank_at(place ^ distance);
        if (place ^ root_place.unwrap_or(0)) & distance != 0 {
            return steps.send(partner, units(collected, &start, known));
        }
        steps.receive(partner, units(collected, &start, without(wider, known)));
    }
}

/// `Reduce_scatter` and `Reduce_scatter_block`: recursive halving.
pub fn reduce_scatter(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let fold = Fold::even_leaves(problem.ranks());
    let blocks = problem.blocks();
    let own = Range::input(0, blocks.total());
    let result = Range::output(0, problem.block(rank));
    let Some((place, operand)) = fold.join(steps, rank, own, result) else {
        return;
    };
    let start = |number: usize| blocks.start(fold.first(number));
    let distances = distances(fold.count).rev();
    let sum = halve(steps, fold, place, operand, distances, &start);
    let length = sum.length - result.length;
    if let Some(other) = fold.other(place) {
        steps.send(other, sum.part(0, length));
    }
    steps.copy(sum.part(length, result.length), result);
}

/// `Reduce_scatter` and `Reduce_scatter_block`, nearest partner first (Open MPI's butterfly): the
/// block that a place holds in the end belongs to the place with its bits reversed, and is sent
/// there. Blocks of one length are permuted before, if all ranks take part.
pub fn butterfly(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let fold = Fold::even_leaves(problem.ranks());
    let blocks = problem.blocks();
    let own = Range::input(0, blocks.total());
    let result = Range::output(0, problem.block(rank));
    let start = |number: usize| blocks.start(fold.first(number));
    let reversed = |place: usize| match fold.count.ilog2() {
        0 => 0,
        bits => place.reverse_bits() >> (usize::BITS - bits),
    };
    let equal = matches!(blocks, Blocks::Equal { .. }) && problem.ranks() == fold.count;
    let in_order = equal && problem.operation == Operation::ReduceScatterBlock;
    if in_order {
        let turned = steps.scratch(own.length);
        for block in 0..fold.count {
            steps.copy(blocks.of(own, block), blocks.of(turned, reversed(block)));
        }
        let sum = halve(steps, fold, rank, turned, distances(fold.count), &start);
        return steps.copy(sum, result);
    }
    let Some(place) = fold.place(rank) else {
        steps.send(fold.neighbour(rank), own);
        return steps.receive(fold.rank(reversed(rank / 2)), result);
    };
    let operand = fold.operand(steps, place, own);
    let sum = halve(steps, fold, place, operand, distances(fold.count), &start);
    // The owners of the held block: the rank of that place, and the one that left its operand to
    // it.
    let owner = reversed(place);
    let first = blocks.start(fold.first(owner));
    let staying = fold.rank(owner);
    for to in [Some(staying), fold.other(owner)].into_iter().flatten() {
        let block = sum.part(blocks.start(to) - first, blocks.length(to));
        match to == rank {
            true => steps.copy(block, result),
            false => steps.send(to, block),
        }
    }
    if staying != rank {
        steps.receive(fold.rank(owner), result);
    }
}
