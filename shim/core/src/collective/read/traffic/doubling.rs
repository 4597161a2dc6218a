//! Exchanges between ranks at distances 1, 2, 4, ...
//!
//! ```text
//! 6 ranks: 0 and 2 hand over to 1 and 3, the four that stay exchange, 0 and 2 are told
//!   0 -> 1 == 3    4 == 5     (distance 1)       1 -> 0
//!   2 -> 3    1 == 4   3 == 5 (distance 2)       3 -> 2
//! ```

use crate::collective::read::traffic::blocks::Blocks;
use crate::collective::read::traffic::messages::Messages;

/// The ranks that take part where only a power of two can: the others are
/// folded into a neighbour.
pub(super) struct Folded {
    /// The ranks that stay: as many as the largest power of two that fits.
    pub(super) staying: Vec<usize>,
    /// Each rank that leaves, and the rank that acts for it.
    pub(super) leaving: Vec<(usize, usize)>,
}

impl Folded {
    /// Of the first pairs (0, 1), (2, 3), ... the even rank leaves, as in most of MPICH.
    pub(super) fn new(size: usize) -> Self {
        Folded::by_parity(size, 0)
    }

    /// The odd rank of each pair leaves, as in MPICH's reduce.
    pub(super) fn odd(size: usize) -> Self {
        Folded::by_parity(size, 1)
    }

    fn by_parity(size: usize, leaves: usize) -> Self {
        let power = 1 << size.ilog2();
        let pairs = size - power;
        let leaving = (0..pairs).map(|pair| (2 * pair + leaves, 2 * pair + 1 - leaves));
        let leaving: Vec<_> = leaving.collect();
        let acting = leaving.iter().map(|&(_, stays)| stays);
        Folded {
            staying: acting.chain(2 * pairs..size).collect(),
            leaving,
        }
    }
}

/// Every rank of `ranks`, a power of two of them, exchanges with the one at each
/// distance; the rank at `index` sends `bytes(index, distance)`.
fn exchange(messages: &mut Messages, ranks: &[usize], bytes: impl Fn(usize, usize) -> u64) {
    let distances = (0..ranks.len().ilog2()).map(|bit| 1 << bit);
    for distance in distances {
        for (index, &from) in ranks.iter().enumerate() {
            messages.send(from, ranks[index ^ distance], bytes(index, distance));
        }
    }
}

/// Barrier: the last ranks, those above a power of two, report to the first ones,
/// which exchange and then tell them (Open MPI).
pub(super) fn barrier(messages: &mut Messages) {
    let size = messages.size();
    let power = 1 << size.ilog2();
    for last in power..size {
        messages.send(last, last - power, 0);
        messages.send(last - power, last, 0);
    }
    let first: Vec<usize> = (0..power).collect();
    exchange(messages, &first, |_, _| 0);
}

/// Everybody's message is combined and known to all: allreduce of short messages.
pub(super) fn allreduce(messages: &mut Messages, bytes: u64) {
    let folded = Folded::new(messages.size());
    for &(leaves, stays) in &folded.leaving {
        messages.send(leaves, stays, bytes);
        messages.send(stays, leaves, bytes);
    }
    exchange(messages, &folded.staying, |_, _| bytes);
}

/// Allgather among `ranks`, a power of two of them: at distance `d` a rank sends
/// the `d` blocks that its half of the group has so far.
pub(super) fn allgather(messages: &mut Messages, ranks: &[usize], blocks: &Blocks) {
    exchange(messages, ranks, |index, distance| {
        let first = index & !(distance - 1);
        blocks.range(first, first + distance)
    });
}

/// Prefix sums: at each distance, ranks that have a partner exchange what their
/// half has summed up.
pub(super) fn scan(messages: &mut Messages, bytes: u64) {
    let size = messages.size();
    let mut distance = 1;
    while distance < size {
        for from in 0..size {
            let to = from ^ distance;
            if to < size {
                messages.send(from, to, bytes);
            }
        }
        distance *= 2;
    }
}
