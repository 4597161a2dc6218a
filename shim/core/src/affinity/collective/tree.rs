//! Trees with a root: the star and the binomial tree.
//!
//! ```text
//! binomial tree of 8 ranks, root 0        what each edge carries when scattering
//!        0                                0->4: 4..8   0->2: 2..4   0->1: 1..2
//!      / | \                              4->6: 6..8   4->5: 5..6   2->3: 3..4
//!     4  2  1                             6->7: 7..8
//!    /|  |
//!   6 5  3
//!   |
//!   7
//! ```

use super::messages::Messages;

/// Whether data flows from the root (broadcast, scatter) or to it (reduce,
/// gather): the same edges, turned round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    FromRoot,
    ToRoot,
}

fn along(messages: &mut Messages, flow: Flow, parent: usize, child: usize, bytes: u64) {
    match flow {
        Flow::FromRoot => messages.send(parent, child, bytes),
        Flow::ToRoot => messages.send(child, parent, bytes),
    }
}

/// A star: the root and each other rank. `bytes(first, count)` are the bytes for
/// the `count` ranks that follow each other from `root + first` on.
pub(super) fn linear(
    messages: &mut Messages,
    root: usize,
    flow: Flow,
    bytes: impl Fn(usize, usize) -> u64,
) {
    let size = messages.size();
    for distance in 1..size {
        let child = (root + distance) % size;
        along(messages, flow, root, child, bytes(distance, 1));
    }
}

/// A binomial tree: seen from the root, the parent of a rank has the lowest set
/// bit cleared, and a rank with lowest set bit `b` leads the `b` ranks from it on.
/// `bytes` is as in [`linear`].
pub(super) fn binomial(
    messages: &mut Messages,
    root: usize,
    flow: Flow,
    bytes: impl Fn(usize, usize) -> u64,
) {
    let size = messages.size();
    for distance in 1..size {
        let lowest_bit = 1 << distance.trailing_zeros();
        let parent = (root + distance - lowest_bit) % size;
        let child = (root + distance) % size;
        let led = lowest_bit.min(size - distance);
        along(messages, flow, parent, child, bytes(distance, led));
    }
}

/// A chain: each rank to the next, the whole message (a linear scan).
pub(super) fn chain(messages: &mut Messages, bytes: u64) {
    for rank in 1..messages.size() {
        messages.send(rank - 1, rank, bytes);
    }
}
