//! Shifts by 1, 2, 4, ... ranks: `ceil(log2 size)` rounds for any number of ranks.
//!
//! ```text
//! allgather of 5 ranks: which blocks rank 0 has
//!   0     | from 1: 1 | from 2: 2 3 | from 4: 4
//! ```

use crate::collective::read::traffic::blocks::Blocks;
use crate::collective::read::traffic::messages::Messages;

fn shifts(size: usize) -> impl Iterator<Item = usize> {
    (0..usize::BITS)
        .map(|bit| 1 << bit)
        .take_while(move |&shift| shift < size)
}

/// Dissemination: in each round, a rank signals the one that many ranks further.
pub(super) fn barrier(messages: &mut Messages) {
    let size = messages.size();
    for shift in shifts(size) {
        for rank in 0..size {
            messages.send(rank, (rank + shift) % size, 0);
        }
    }
}

/// Allgather: in each round, a rank sends the blocks that it has, from its own
/// on, backwards; in the last round only as many as are missing there.
pub(super) fn allgather(messages: &mut Messages, blocks: &Blocks) {
    let size = messages.size();
    for shift in shifts(size) {
        for rank in 0..size {
            let to = (rank + size - shift) % size;
            messages.send(rank, to, blocks.around(rank, shift.min(size - shift)));
        }
    }
}

/// Alltoall of equal blocks: in each round, a rank sends forwards all blocks
/// whose way to their receiver has that bit set.
pub(super) fn alltoall(messages: &mut Messages, block: u64) {
    let size = messages.size();
    for shift in shifts(size) {
        let travelling = (1..size).filter(|distance| distance & shift != 0).count();
        let bytes = block.saturating_mul(travelling as u64);
        for rank in 0..size {
            messages.send(rank, (rank + shift) % size, bytes);
        }
    }
}
