//! `Alltoall`, `Alltoallv` and `Alltoallw`.

use crate::schedule::plan::Range;
use crate::schedule::problem::Amount;
use crate::schedule::{Builder, Problem};

/// Where the blocks to and from each rank are: those of the input, and of the
/// output.
fn blocks(problem: &Problem) -> (Vec<Range>, Vec<Range>) {
    let ranks = problem.ranks();
    let (sent, received) = match problem.amount {
        Amount::Each(units) => (vec![*units; ranks], vec![*units; ranks]),
        Amount::Parts(parts) => (parts.clone(), parts.clone()),
        Amount::Exchanged { sent, received } => (sent.clone(), received.clone()),
    };
    let in_order = |lengths: Vec<u64>, range: fn(u64, u64) -> Range| {
        let mut start = 0;
        let next = |length| {
            start += length;
            range(start - length, length)
        };
        lengths.into_iter().map(next).collect()
    };
    (
        in_order(sent, Range::input),
        in_order(received, Range::output),
    )
}

/// Everyone sends to all others at once, each to the next rank first, so that not
/// all send to the same one.
pub fn flat(problem: &Problem, rank: usize, builder: &mut Builder) {
    let ranks = problem.ranks();
    let (input, output) = blocks(problem);
    for distance in 1..ranks {
        let from = (rank + ranks - distance) % ranks;
        builder.receive(from, output[from]);
    }
    for distance in 1..ranks {
        let to = (rank + distance) % ranks;
        builder.send(to, input[to]);
    }
    builder.copy(input[rank], output[rank]);
}

/// Bruck et al. (1997), for short blocks: in round k all blocks whose distance
/// has bit k go 2^k ranks further, together.
pub fn bruck(problem: &Problem, rank: usize, builder: &mut Builder) {
    let ranks = problem.ranks();
    let block = problem.part(rank);
    let (input, output) = blocks(problem);
    // Place i: the block that has still `i` ranks to go, of those that came here.
    let held = builder.scratch(ranks as u64 * block);
    let at = |place: usize| held.part(place as u64 * block, block);
    for distance in 0..ranks {
        builder.copy(input[(rank + distance) % ranks], at(distance));
    }
    let mut step = 1;
    while step < ranks {
        let moved: Vec<usize> = (0..ranks).filter(|place| place & step != 0).collect();
        let outgoing = builder.scratch(moved.len() as u64 * block);
        let incoming = builder.scratch(moved.len() as u64 * block);
        let slot = |index: usize| (index as u64 * block, block);
        for (index, &place) in moved.iter().enumerate() {
            builder.copy(at(place), outgoing.part(slot(index).0, slot(index).1));
        }
        builder.send((rank + step) % ranks, outgoing);
        builder.receive((rank + ranks - step) % ranks, incoming);
        for (index, &place) in moved.iter().enumerate() {
            builder.copy(incoming.part(slot(index).0, slot(index).1), at(place));
        }
        step *= 2;
    }
    for distance in 0..ranks {
        builder.copy(at(distance), output[(rank + ranks - distance) % ranks]);
    }
}
