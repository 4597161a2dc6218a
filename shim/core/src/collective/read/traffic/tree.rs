//! Trees with a root: the star, binomial and binary trees, the chain.
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

use crate::collective::read::traffic::messages::Messages;

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

/// The whole message along any tree: `parent(distance)` is the distance from the
/// root of the parent of the rank at `distance`, which is not 0.
pub(super) fn whole(
    messages: &mut Messages,
    root: usize,
    flow: Flow,
    bytes: u64,
    parent: impl Fn(usize) -> usize,
) {
    let size = messages.size();
    for distance in 1..size {
        let parent = (root + parent(distance)) % size;
        let child = (root + distance) % size;
        along(messages, flow, parent, child, bytes);
    }
}

/// Parent with the highest set bit cleared.
pub(super) fn highest_bit_cleared(distance: usize) -> usize {
    distance & !(1 << distance.ilog2())
}

/// Parent with the lowest digit that is not 0, to the base 4, cleared.
pub(super) fn lowest_base_4_digit_cleared(distance: usize) -> usize {
    let digit = distance.trailing_zeros() & !1;
    distance & !(3 << digit)
}

/// Parent in a binary tree whose levels are filled from the root on: level l has
/// the ranks from 2^l - 1 on, and its first half hangs, in order, below the ranks
/// of the level above, its second half again.
///
/// ```text
///        0
///      /   \
///     1     2
///    / \   / \
///   3   5 4   6
/// ```
pub(super) fn binary(distance: usize) -> usize {
    let level = (distance + 1).ilog2();
    let (first, above) = ((1 << level) - 1, 1 << (level - 1));
    (above - 1) + (distance - first) % above
}

/// Reduction in a binary tree in which all ranks below one precede it, half of
/// them each; the last rank has the result and sends it to `root`.
pub(super) fn in_order_binary(messages: &mut Messages, root: usize, bytes: u64) {
    let last = messages.size() - 1;
    below(messages, 0, last, bytes);
    messages.send(last, root, bytes);
}

/// What the ranks `first..top`, all below `top`, send.
fn below(messages: &mut Messages, first: usize, top: usize, bytes: u64) {
    let half = (top + 1 - first) / 2;
    for (first, end) in [(first, first + half), (first + half, top)] {
        if first < end {
            messages.send(end - 1, top, bytes);
            below(messages, first, end - 1, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::collective::read::traffic::tree::*;

    #[test]
    fn parents_are_those_of_the_drawings() {
        let parents = |of: fn(usize) -> usize| (1..10).map(of).collect::<Vec<_>>();
        assert_eq!(parents(binary), [0, 0, 1, 2, 1, 2, 3, 4, 5]);
        assert_eq!(parents(highest_bit_cleared), [0, 0, 1, 0, 1, 2, 3, 0, 1]);
        assert_eq!(
            parents(lowest_base_4_digit_cleared),
            [0, 0, 0, 0, 4, 4, 4, 0, 8]
        );
    }
}
