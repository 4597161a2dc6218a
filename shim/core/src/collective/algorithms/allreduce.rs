//! `Allreduce` without a root, over all ranks alike.

use super::halving::Places;
use crate::collective::plan::Range;
use crate::collective::problem::share;
use crate::collective::{Builder, Problem};

/// Recursive doubling (Thakur et al., 2005): partners at distance 1, 2, 4, ...
/// exchange and reduce. Operands stay in the order of ranks.
pub fn recursive_doubling(problem: &Problem, rank: usize, builder: &mut Builder) {
    let places = Places::of(problem.ranks());
    let length = problem.part(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let Some((place, mut reduced)) = places.join(builder, rank, own, output) else {
        return;
    };
    let mut distance = 1;
    while distance < places.count {
        let partner = places.rank(place ^ distance);
        let incoming = builder.scratch(length);
        builder.send(partner, reduced);
        builder.receive(partner, incoming);
        if place & distance == 0 {
            builder.reduce(reduced, incoming);
            reduced = incoming;
        } else {
            // The own operand is the right one; it may be the input, or still be
            // on its way to the partner.
            let sum = builder.scratch(length);
            builder.copy(reduced, sum);
            builder.reduce(incoming, sum);
            reduced = sum;
        }
        distance *= 2;
    }
    builder.copy(reduced, output);
    if let Some(other) = places.other(place) {
        builder.send(other, output);
    }
}

/// A ring (Rabenseifner 2004; Patarasuk and Yuan 2009): each share is reduced on
/// its way round, and goes round once more.
pub fn ring(problem: &Problem, rank: usize, builder: &mut Builder) {
    let ranks = problem.ranks();
    let length = problem.part(rank);
    let (next, previous) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    let before = |distance: usize| share(length, ranks, (rank + 2 * ranks - distance) % ranks);
    let input = |(start, length)| Range::input(start, length);
    let output = |(start, length)| Range::output(start, length);
    if ranks == 1 {
        return builder.copy(Range::input(0, length), Range::output(0, length));
    }
    let mut outgoing = input(before(0));
    for round in 1..ranks {
        let incoming = match round + 1 == ranks {
            true => output(before(round)),
            false => builder.scratch(before(round).1),
        };
        builder.send(next, outgoing);
        builder.receive(previous, incoming);
        builder.reduce(input(before(round)), incoming);
        outgoing = incoming;
    }
    for round in 0..ranks - 1 {
        builder.send(next, output(before(round + ranks - 1)));
        builder.receive(previous, output(before(round + ranks)));
    }
}
