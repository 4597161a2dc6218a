//! Rings: every rank sends to its right neighbour only.

use std::num::NonZeroU64;

use crate::collective::read::traffic::blocks::Blocks;
use crate::collective::read::traffic::messages::Messages;

/// The rank at each place of `ranks` sends all blocks but the one of the place
/// `left_out` of that rank's own; each in one message, or in pieces of so many bytes.
fn to_the_right(
    messages: &mut Messages,
    ranks: &[usize],
    blocks: &Blocks,
    piece: Option<NonZeroU64>,
    left_out: impl Fn(usize) -> usize,
) {
    let size = ranks.len();
    let calls = messages.calls.max(1);
    let pieces = |index: usize| match (blocks.one(index), piece) {
        (0, _) => 0,
        (_, None) => 1,
        (bytes, Some(piece)) => (bytes / calls).div_ceil(piece.get()).max(1),
    };
    let all: u64 = (0..size).map(pieces).sum();
    for (place, &from) in ranks.iter().enumerate() {
        let without = left_out(place) % size;
        let count = all - pieces(without);
        let bytes = blocks.around(without + 1, size - 1);
        messages.send_many(from, ranks[(place + 1) % size], count, bytes);
    }
}

/// Allgather: a rank passes on every block but the one that its right neighbour
/// began with, whole or in pieces of so many bytes.
pub(super) fn allgather(
    messages: &mut Messages,
    ranks: &[usize],
    blocks: &Blocks,
    piece: Option<NonZeroU64>,
) {
    to_the_right(messages, ranks, blocks, piece, |place| place + 1);
}

/// Reduce-scatter: the sum for each rank travels round and ends there, so a rank
/// passes on every block but its own.
pub(super) fn reduce_scatter(messages: &mut Messages, ranks: &[usize], blocks: &Blocks) {
    to_the_right(messages, ranks, blocks, None, |place| place);
}

/// Allreduce of a long message: a reduce-scatter and an allgather of its parts.
pub(super) fn allreduce(messages: &mut Messages, ranks: &[usize], bytes: u64) {
    let parts = Blocks::Parts {
        count: ranks.len(),
        bytes,
    };
    reduce_scatter(messages, ranks, &parts);
    allgather(messages, ranks, &parts, None);
}
