//! Trees over the places 0 to n - 1 of a list of ranks, place 0 being the root,
//! and what flows along them.
//!
//! ```text
//!   flat        chain          binary          binomial
//!     0        0-1-2-3           0                 0
//!   / | \                      /   \             / | \
//!  1  2  3                    1     2           4  2  1
//!                            / \   /           /|  |
//!                           3   4 5           6 5  3
//! ```
//!
//! In flat, chain and binomial trees the places below a place follow it without a gap,
//! and its children's in turn, so that a reduction along it keeps their order.

use crate::collective::Builder;
use crate::collective::plan::Range;

/// The shape of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// The root sends to all.
    Flat,
    /// Each sends to the next.
    Chain,
    /// Each sends to two.
    Binary,
    /// Who has the message sends it to one who has not, until all have it.
    Binomial,
    /// 2^d places in a binomial tree, each of which starts a chain of the others (octopus,
    /// k-chains; thesis table 6.2).
    Octopus(u32),
    /// Each gives a share of those below it, in hundredths, to its first child, and so on with the
    /// rest (Bernaschi and Iannello; thesis algorithm 2): 50 is about binomial, little is flat.
    Alpha(u32),
}

/// A place's neighbours in a tree, as ranks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Neighbours {
    /// Towards the root; `None` at the root.
    pub parent: Option<usize>,
    /// Away from the root; for a broadcast, in the order in which they are served
    /// first to last, and last to first for a reduction.
    pub children: Vec<usize>,
}

impl Shape {
    /// The shape that serves a cluster of `members` from its coordinator: few are
    /// served fastest one by one.
    pub fn for_cluster(members: usize) -> Self {
        match members {
            0..=5 => Shape::Flat,
            _ => Shape::Binomial,
        }
    }

    /// The neighbours of place `place` of `ranks`.
    pub fn neighbours(self, ranks: &[usize], place: usize) -> Neighbours {
        let mut children = Vec::new();
        let parent = self.visit(ranks.len(), place, |child| children.push(ranks[child]));
        Neighbours {
            parent: parent.map(|place| ranks[place]),
            children,
        }
    }

    /// The parent of place `place` of `count`; its children are told to `child`, in the order in
    /// which they are served.
    pub fn visit(self, count: usize, place: usize, mut child: impl FnMut(usize)) -> Option<usize> {
        let mut child = |place: usize| {
            if place < count {
                child(place);
            }
        };
        match self {
            Shape::Flat if place == 0 => {
                (1..count).rev().for_each(child);
                None
            }
            Shape::Flat => Some(0),
            Shape::Chain => {
                child(place + 1);
                place.checked_sub(1)
            }
            Shape::Binary => {
                child(2 * place + 1);
                child(2 * place + 2);
                place.checked_sub(1).map(|above| above / 2)
            }
            Shape::Binomial => binomial(count, place, child),
            Shape::Octopus(degree) => octopus(1 << degree, count, place, child),
            Shape::Alpha(hundredths) => alpha(hundredths, count, place, child),
        }
    }
}

/// A place's children are as far from it as the powers of two below its lowest bit, the farthest first.
fn binomial(count: usize, place: usize, child: impl FnMut(usize)) -> Option<usize> {
    let lowest_bit = place & place.wrapping_neg();
    let limit = match place {
        0 => count.next_power_of_two(),
        _ => lowest_bit,
    };
    let distances = (0..limit.trailing_zeros()).rev().map(|bit| 1 << bit);
    distances.map(|distance| place + distance).for_each(child);
    (place > 0).then(|| place - lowest_bit)
}

/// A binomial core of `core` places with a chain behind each.
fn octopus(core: usize, count: usize, place: usize, mut child: impl FnMut(usize)) -> Option<usize> {
    if place >= core {
        child(place + core);
        return Some(place - core);
    }
    let core_count = core.min(count);
    let in_core = |place| {
        if place < core_count {
            child(place);
        }
    };
    let parent = binomial(core_count, place, in_core);
    child(place + core);
    parent
}

/// The thesis's algorithm 2: a set of n places gives the last round(alpha n) of them to a child, who
/// leads them, until it is alone.
fn alpha(
    hundredths: u32,
    count: usize,
    place: usize,
    mut child: impl FnMut(usize),
) -> Option<usize> {
    let given = |places: usize| (places * hundredths as usize / 100).clamp(1, places - 1);
    let (mut first, mut places, mut parent) = (0, count, None);
    while place != first {
        let kept = places - given(places);
        if place < first + kept {
            places = kept;
        } else {
            parent = Some(first);
            (first, places) = (first + kept, places - kept);
        }
    }
    while places > 1 {
        places -= given(places);
        child(place + places);
    }
    parent
}

/// The ranks of `0..count` from `root` on, round.
pub fn rotated(count: usize, root: usize) -> Vec<usize> {
    (0..count).map(|place| round(place + root, count)).collect()
}

/// A place less than twice `count`, counted round. A division each time is felt where a plan is chosen.
pub fn round(place: usize, count: usize) -> usize {
    match place < count {
        true => place,
        false => place - count,
    }
}

/// `first`, and the others in their order.
pub fn led_by(first: usize, members: &[usize]) -> Vec<usize> {
    let others = members.iter().copied().filter(|&rank| rank != first);
    std::iter::once(first).chain(others).collect()
}

/// The message in `data` comes from the parent and goes to the children, piece by
/// piece.
pub fn broadcast(builder: &mut Builder, at: &Neighbours, data: Range) {
    let pieces = builder.pieces(data);
    broadcast_pieces(builder, at, pieces);
}

/// The same for a message that is cut already.
pub fn broadcast_pieces(
    builder: &mut Builder,
    at: &Neighbours,
    pieces: impl Iterator<Item = Range>,
) {
    for piece in pieces {
        if let Some(parent) = at.parent {
            builder.receive_piece(parent, piece);
        }
        for &child in &at.children {
            builder.send_piece(child, piece);
        }
    }
}

/// At most this many pieces wait to be reduced at a rank.
const MOST_WAITING: u64 = 256;

/// Room for pieces that are on their way to be reduced, used round and round.
pub struct Waiting {
    room: Range,
    piece: u64,
    slots: u64,
    next: u64,
}

impl Waiting {
    /// Room for messages of `length` units that come from `sources` ranks.
    pub fn new(builder: &mut Builder, length: u64, sources: usize) -> Self {
        let piece = builder.piece(length).min(length);
        let pieces = match piece {
            0 => 0,
            _ => length.div_ceil(piece),
        };
        Waiting::for_pieces(builder, piece, pieces as usize * sources)
    }

    /// Room for `pieces` pieces of up to `piece` units, as far as they need be there
    /// at the same time.
    pub fn for_pieces(builder: &mut Builder, piece: u64, pieces: usize) -> Self {
        // Two at least: what was reduced so far, and what comes next.
        let slots = (pieces as u64).clamp(2, MOST_WAITING);
        Waiting {
            room: builder.scratch(slots * piece),
            piece,
            slots,
            next: 0,
        }
    }

    /// Room for the next piece, of `length` units.
    pub fn next(&mut self, length: u64) -> Range {
        let slot = self.next % self.slots;
        self.next += 1;
        self.room.part(slot * self.piece, length)
    }
}

/// What the children send is reduced with `own`, piece by piece, and goes to the
/// parent, or to `result` at the root. The rank's own operand comes first, then
/// the children's, the last child's first.
pub fn reduce(builder: &mut Builder, at: &Neighbours, own: Range, result: Option<Range>) {
    let mut waiting = Waiting::new(builder, own.length, at.children.len());
    let mut done = 0;
    for piece in builder.pieces(own) {
        let reduced = reduce_piece(builder, at, &mut waiting, piece);
        if let Some(parent) = at.parent {
            builder.send_piece(parent, reduced);
        }
        if let Some(result) = result {
            builder.copy(reduced, result.part(done, piece.length));
        }
        done += piece.length;
    }
}

/// What the children send of one piece, reduced with the rank's own.
pub fn reduce_piece(
    builder: &mut Builder,
    at: &Neighbours,
    waiting: &mut Waiting,
    piece: Range,
) -> Range {
    let mut reduced = piece;
    for &child in at.children.iter().rev() {
        let incoming = waiting.next(piece.length);
        builder.receive_piece(child, incoming);
        builder.reduce(reduced, incoming);
        reduced = incoming;
    }
    reduced
}
