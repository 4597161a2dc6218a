//! Rings: every rank sends to its right neighbour only.

use super::blocks::Blocks;
use super::messages::Messages;

/// The rank at each place of `ranks` sends all blocks but the one of the place
/// `left_out` of that rank's own.
fn to_the_right(
    messages: &mut Messages,
    ranks: &[usize],
    blocks: &Blocks,
    left_out: impl Fn(usize) -> usize,
) {
    let size = ranks.len();
    let filled = blocks.filled() as u64;
    for (place, &from) in ranks.iter().enumerate() {
        let without = left_out(place) % size;
        let count = filled - u64::from(blocks.one(without) > 0);
        let bytes = blocks.around(without + 1, size - 1);
        messages.send_many(from, ranks[(place + 1) % size], count, bytes);
    }
}

/// Allgather: a rank passes on every block but the one that its right neighbour
/// began with.
pub(super) fn allgather(messages: &mut Messages, ranks: &[usize], blocks: &Blocks) {
    to_the_right(messages, ranks, blocks, |place| place + 1);
}

/// Reduce-scatter: the sum for each rank travels round and ends there, so a rank
/// passes on every block but its own.
pub(super) fn reduce_scatter(messages: &mut Messages, ranks: &[usize], blocks: &Blocks) {
    to_the_right(messages, ranks, blocks, |place| place);
}

/// Allreduce of a long message: a reduce-scatter and an allgather of its parts.
pub(super) fn allreduce(messages: &mut Messages, ranks: &[usize], bytes: u64) {
    let parts = Blocks::Parts {
        count: ranks.len(),
        bytes,
    };
    reduce_scatter(messages, ranks, &parts);
    allgather(messages, ranks, &parts);
}
