//! Exchanges that halve the data: reduce-scatter, and Rabenseifner's long
//! reductions, which begin with one.
//!
//! ```text
//! 4 ranks, nearest first: whose part of a message of 4 parts is where
//!            0 == 1   2 == 3           0 == 2   1 == 3
//!   rank 0   keeps 0-1, sends 2-3      keeps 0, sends 1
//!   rank 1   keeps 2-3, sends 0-1      keeps 2, sends 3
//!   rank 2   keeps 0-1, sends 2-3      keeps 1, sends 0
//!   rank 3   keeps 2-3, sends 0-1      keeps 3, sends 2
//! ```

use std::ops::Range;

use crate::collective::native::Host;
use crate::collective::read::traffic::blocks::Blocks;
use crate::collective::read::traffic::doubling::Folded;
use crate::collective::read::traffic::messages::Messages;

/// One exchange of one rank, all as positions among those that take part.
struct Half {
    index: usize,
    partner: usize,
    /// Parts that the partner goes on with.
    sent: Range<usize>,
    /// Parts that this rank goes on with.
    kept: Range<usize>,
}

/// Which partners come first and so exchange most.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    NearestFirst,
    FarthestFirst,
}

/// All exchanges among `count` participants, a power of two.
fn halves(count: usize, order: Order) -> impl Iterator<Item = Half> {
    let bits = count.ilog2();
    (0..count).flat_map(move |index| {
        let mut held = 0..count;
        (0..bits).map(move |step| {
            let bit = match order {
                Order::NearestFirst => step,
                Order::FarthestFirst => bits - 1 - step,
            };
            let middle = held.start.midpoint(held.end);
            let (lower, upper) = (held.start..middle, middle..held.end);
            let in_upper = index >> bit & 1 == 1;
            let (sent, kept) = if in_upper {
                (lower, upper)
            } else {
                (upper, lower)
            };
            held = kept.clone();
            Half {
                index,
                partner: index ^ (1 << bit),
                sent,
                kept,
            }
        })
    })
}

/// Reduce-scatter: those that stay halve what is left at each exchange, and hand
/// its block to each rank that left.
pub(super) fn reduce_scatter(messages: &mut Messages, blocks: &Blocks) {
    let size = messages.size();
    let folded = Folded::new(size);
    let everything = blocks.range(0, size);
    for &(leaves, stays) in &folded.leaving {
        messages.send(leaves, stays, everything);
        messages.send(stays, leaves, blocks.one(leaves));
    }
    let pairs = folded.leaving.len();
    let first_of = |position: usize| position + position.min(pairs);
    for half in halves(folded.staying.len(), Order::FarthestFirst) {
        let bytes = blocks.range(first_of(half.sent.start), first_of(half.sent.end));
        messages.send(
            folded.staying[half.index],
            folded.staying[half.partner],
            bytes,
        );
    }
}

/// Reduce-scatter by halves, nearest partner first: what a rank holds in the end
/// belongs to the one whose bits are its own in reverse, and is sent there; or the
/// blocks are `put_in_order` before, where all ranks take part.
pub(super) fn butterfly(messages: &mut Messages, blocks: &Blocks, put_in_order: bool) {
    let size = messages.size();
    let Folded { staying, leaving } = Folded::new(size);
    let (everything, pairs) = (blocks.range(0, size), leaving.len());
    for &(leaves, stays) in &leaving {
        messages.send(leaves, stays, everything);
    }
    let first_of = |position: usize| position + position.min(pairs);
    for half in halves(staying.len(), Order::NearestFirst) {
        let bytes = blocks.range(first_of(half.sent.start), first_of(half.sent.end));
        messages.send(staying[half.index], staying[half.partner], bytes);
    }
    if put_in_order && leaving.is_empty() {
        return;
    }
    let bits = staying.len().ilog2();
    for (index, &holder) in staying.iter().enumerate() {
        let owner = reversed(index, bits);
        messages.send(holder, staying[owner], blocks.one(staying[owner]));
        if let Some(&(leaves, _)) = leaving.get(owner) {
            messages.send(holder, leaves, blocks.one(leaves));
        }
    }
}

/// The lowest `bits` bits of `index`, in reverse.
fn reversed(index: usize, bits: u32) -> usize {
    (0..bits).fold(0, |result, bit| result << 1 | index >> bit & 1)
}

/// Allreduce of a long message: reduce-scatter by halves, and the same exchanges
/// backwards, in which each rank sends what it has kept.
/// Ranks above a power of two are folded in as `host` does it.
pub(super) fn reduce_scatter_allgather(messages: &mut Messages, bytes: u64, host: Host) {
    let mut folded = Folded::new(messages.size());
    if host == Host::OpenMpi {
        fold_by_halves(messages, &mut folded, bytes);
    } else {
        for &(leaves, stays) in &folded.leaving {
            messages.send(leaves, stays, bytes);
            messages.send(stays, leaves, bytes);
        }
    }
    let staying = &folded.staying;
    let parts = Blocks::Parts {
        count: staying.len(),
        bytes,
    };
    for half in halves(staying.len(), Order::NearestFirst) {
        let (from, to) = (staying[half.index], staying[half.partner]);
        messages.send(from, to, parts.range(half.sent.start, half.sent.end));
        messages.send(from, to, parts.range(half.kept.start, half.kept.end));
    }
}

/// In Open MPI's allreduce the odd rank of a pair leaves: both exchange halves, it
/// hands over what it combined, and is told the result.
fn fold_by_halves(messages: &mut Messages, folded: &mut Folded, bytes: u64) {
    let halves = Blocks::Parts { count: 2, bytes };
    for (pair, (leaves, stays)) in folded.leaving.iter_mut().enumerate() {
        (*stays, *leaves) = (2 * pair, 2 * pair + 1);
        folded.staying[pair] = *stays;
        messages.send(*stays, *leaves, halves.one(1));
        messages.send(*leaves, *stays, halves.one(0));
        messages.send(*leaves, *stays, halves.one(1));
        messages.send(*stays, *leaves, bytes);
    }
}

/// Reduce of a long message: reduce-scatter by halves, then the exchanges
/// backwards, in which only the ranks on the far side from the root send. A root that
/// was folded into its neighbour first takes the part and the place of the first rank
/// (MPICH).
pub(super) fn reduce_scatter_gather(messages: &mut Messages, root: usize, bytes: u64) {
    let folded = Folded::odd(messages.size());
    for &(leaves, stays) in &folded.leaving {
        messages.send(leaves, stays, bytes);
    }
    let staying = folded.staying;
    let parts = Blocks::Parts {
        count: staying.len(),
        bytes,
    };
    for half in halves(staying.len(), Order::NearestFirst) {
        let (from, to) = (staying[half.index], staying[half.partner]);
        messages.send(from, to, parts.range(half.sent.start, half.sent.end));
    }
    let mut gathering = staying;
    let root_at = match gathering.iter().position(|&rank| rank == root) {
        Some(place) => place,
        None => {
            messages.send(gathering[0], root, parts.one(0));
            gathering[0] = root;
            0
        }
    };
    for half in halves(gathering.len(), Order::NearestFirst) {
        // Bits above this exchange were settled before; those below come later.
        let distance = half.index ^ half.partner;
        let same_above = (half.index ^ root_at) < 2 * distance;
        let same_here = half.index & distance == root_at & distance;
        if same_above && !same_here {
            let (from, to) = (gathering[half.index], gathering[half.partner]);
            messages.send(from, to, parts.range(half.kept.start, half.kept.end));
        }
    }
}
