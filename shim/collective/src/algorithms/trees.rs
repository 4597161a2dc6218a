//! Trees over the places 0 to n - 1 of a list of ranks, place 0 being the root, and the flow of
//! data along them.
//!
//! ```text
//!   flat        chain          binary          binomial    highest-bit      quadrinomial (16 places)
//!     0        0-1-2-3           0                 0            0                 0
//!   / | \                      /   \             / | \        / | \         / / / | \ \
//!  1  2  3                    1     2           4  2  1      1  2  4      12 8 4  3 2 1
//!                            / \   / \         /|  |        /|  |          each of 4, 8, 12 has the
//!                           3   5 4   6       6 5  3       3 5  6          three that follow it
//!                                             |            |
//!                                             7            7
//! ```
//!
//! In flat, chain and binomial trees the descendants of a place follow it without a gap, as do
//! those of each child in order, so that a reduction along the tree keeps their order.

use crate::plan::range::Range;
use crate::problem::Problem;
use crate::steps::Steps;

/// Shape of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// The root sends to all places.
    Flat,
    /// Each place sends to the next.
    Chain,
    /// Each place sends to two: level l has the places from 2^l - 1 on; the places of its first
    /// half are, in order, children of the places of the level above, as are those of its second
    /// half (Open MPI's).
    Binary,
    /// Each place that has the message sends it to one that has not, until all have it: the parent
    /// of a place has its lowest bit cleared.
    Binomial,
    /// Binomial tree in which the parent of a place has its highest bit cleared (Open MPI's): the
    /// descendants of a place are not consecutive.
    HighestBit,
    /// The parent of a place has its lowest non-zero digit to the base 4 cleared (Open MPI's
    /// k-nomial).
    Quadrinomial,
    /// 2^d places in a binomial tree, each of which is the head of a chain of other places
    /// (octopus, k-chains; thesis table 6.2).
    Octopus(u32),
    /// Each place gives its first child a share of its descendants, in hundredths, and continues
    /// with the rest (Bernaschi and Iannello; thesis algorithm 2): 50 is almost binomial, small
    /// shares almost flat.
    Alpha(u32),
    /// The fastest tree if a message arrives this many sends after its own began (the postal
    /// model's lambda; Bar-Noy and Kipnis 1994, thesis 4.1).
    Lambda(u32),
}

/// Neighbours of a place in a tree, as ranks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Neighbours {
    /// Neighbour towards the root; `None` at the root.
    pub parent: Option<usize>,
    /// Neighbours away from the root, in the order of service of a broadcast; a reduction serves
    /// them last to first.
    pub children: Vec<usize>,
}

impl Shape {
    /// Shape for a group of `members` whose links are not known: few are served fastest one by one.
    pub(crate) fn of_unknown_links(members: usize) -> Self {
        match members {
            0..=5 => Shape::Flat,
            _ => Shape::Binomial,
        }
    }

    /// Neighbours of place `place` of `ranks`.
    pub fn neighbours(self, ranks: &[usize], place: usize) -> Neighbours {
        let mut children = Vec::new();
        let parent = self.visit(ranks.len(), place, |child| children.push(ranks[child]));
        Neighbours {
            parent: parent.map(|place| ranks[place]),
            children,
        }
    }

    /// Neighbours of a rank in the tree over all ranks, in their order from the root on.
    pub(crate) fn neighbours_from(self, problem: &Problem, root: usize, rank: usize) -> Neighbours {
        let mut children = Vec::new();
        let place = problem.before(rank, root);
        let parent = self.visit(problem.ranks(), place, |child| {
            children.push(problem.after(root, child));
        });
        Neighbours {
            parent: parent.map(|place| problem.after(root, place)),
            children,
        }
    }

    /// Returns the parent of place `place` of `count`, and passes its children to `child`, in the
    /// order of service.
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
                let width = 1 << (place + 1).ilog2();
                child(place + width);
                child(place + 2 * width);
                (place > 0).then(|| match place + 1 < width + width / 2 {
                    true => place - width / 2,
                    false => place - width,
                })
            }
            Shape::Binomial => binomial(count, place, child),
            Shape::HighestBit => {
                let above = (place > 0).then(|| 1 << place.ilog2());
                let distances = (0..usize::BITS).map(|bit| 1 << bit);
                distances
                    .skip_while(|&distance| distance <= place)
                    .take_while(|&distance| place + distance < count)
                    .for_each(|distance| child(place + distance));
                above.map(|highest| place - highest)
            }
            Shape::Quadrinomial => quadrinomial(count, place, child),
            Shape::Octopus(degree) => octopus(1 << degree, count, place, child),
            Shape::Alpha(hundredths) => {
                let given = |places: usize| places * hundredths as usize / 100;
                parted(given, count, place, child)
            }
            Shape::Lambda(lambda) => parted(|n| postal(n, lambda), count, place, child),
        }
    }
}

/// Binomial tree: the distances of a place's children are the powers of two below its lowest bit,
/// the farthest first.
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

/// Quadrinomial tree: the distances of a place's children are one, two and three times each power
/// of 4 below its lowest digit, the farthest power first.
fn quadrinomial(count: usize, place: usize, mut child: impl FnMut(usize)) -> Option<usize> {
    let lowest_digit = place.trailing_zeros() & !1;
    let limit = match place {
        0 => count
            .next_power_of_two()
            .trailing_zeros()
            .next_multiple_of(2),
        _ => lowest_digit,
    };
    for bit in (0..limit).step_by(2).rev() {
        (1..4).for_each(|digit| child(place + (digit << bit)));
    }
    (place > 0).then(|| place & !(3 << lowest_digit))
}

/// Binomial core of `core` places with a chain behind each.
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

/// Tree in which a set of n places gives the last `given(n)` of them to a child, which leads them,
/// until one place is left (the thesis's algorithm 2, for any number).
fn parted(
    given: impl Fn(usize) -> usize,
    count: usize,
    place: usize,
    mut child: impl FnMut(usize),
) -> Option<usize> {
    let given = |places: usize| given(places).clamp(1, places - 1);
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

/// N(t), the number of places that have the message after t sends, until all of them have it: N(t)
/// = N(t - 1) + N(t - lambda), from N(t) = 1 below lambda.
fn postal_reach(places: usize, lambda: u32) -> Vec<usize> {
    let lambda = lambda.max(1) as usize;
    let mut reached = vec![1; lambda];
    while reached[reached.len() - 1] < places {
        let now = reached.len();
        reached.push(reached[now - 1] + reached[now - lambda]);
    }
    reached
}

/// Number of places, of `places`, that the first child leads: as many as it can reach by the time
/// that the last one has the message.
fn postal(places: usize, lambda: u32) -> usize {
    let reached = postal_reach(places, lambda);
    reached[reached.len().saturating_sub(lambda.max(1) as usize + 1)]
}

/// Number of sends until all places of a [lambda tree](Shape::Lambda) have the message.
pub(crate) fn postal_rounds(places: usize, lambda: u32) -> usize {
    postal_reach(places, lambda).len() - 1
}

/// A place less than twice `count`, modulo `count`. Divisions would measurably slow down the choice
/// of a plan.
pub fn round(place: usize, count: usize) -> usize {
    match place < count {
        true => place,
        false => place - count,
    }
}

/// `first`, followed by the others in their order.
pub(crate) fn led_by(first: usize, members: &[usize]) -> Vec<usize> {
    let others = members.iter().copied().filter(|&rank| rank != first);
    std::iter::once(first).chain(others).collect()
}

/// Receives the message in `data` from the parent and sends it to the children, segment by segment.
pub fn broadcast(steps: &mut dyn Steps, at: &Neighbours, data: Range) {
    let segments = steps.segments(data);
    broadcast_segments(steps, at, segments);
}

/// Broadcasts a message that is already cut into segments.
pub(crate) fn broadcast_segments(
    steps: &mut dyn Steps,
    at: &Neighbours,
    segments: impl Iterator<Item = Range>,
) {
    for segment in segments {
        if let Some(parent) = at.parent {
            steps.receive_segment(parent, segment);
        }
        for &child in &at.children {
            steps.send_segment(child, segment);
        }
    }
}

/// Maximum number of segments that are received ahead of their reduction.
const MOST_SLOTS: u64 = 256;

/// Scratch buffer for segments that are received for reduction, used round-robin.
pub struct Slots {
    scratch: Range,
    segment: u64,
    count: u64,
    next: u64,
}

impl Slots {
    /// Slots for messages of `length` units from `sources` ranks.
    pub fn new(steps: &mut dyn Steps, length: u64, sources: usize) -> Self {
        let segment = steps.segment(length).min(length);
        let segments = match segment {
            0 => 0,
            _ => length.div_ceil(segment),
        };
        Slots::for_segments(steps, segment, segments as usize * sources)
    }

    /// Slots for `segments` segments of up to `segment` units, limited to the number that is needed
    /// at the same time.
    pub(crate) fn for_segments(steps: &mut dyn Steps, segment: u64, segments: usize) -> Self {
        // At least two: the partial sum, and the next operand.
        let count = (segments as u64).clamp(2, MOST_SLOTS);
        Slots {
            scratch: steps.scratch(count * segment),
            segment,
            count,
            next: 0,
        }
    }

    /// Slot of the next segment, of `length` units.
    pub fn next(&mut self, length: u64) -> Range {
        let slot = self.next % self.count;
        self.next += 1;
        self.scratch.part(slot * self.segment, length)
    }
}

/// Reduces the children's segments with `own`, and sends the sums to the parent, or puts them into
/// `result` at the root. The rank's own operand comes first, then the children's, the last child's
/// first.
pub fn reduce(steps: &mut dyn Steps, at: &Neighbours, own: Range, result: Option<Range>) {
    let mut slots = Slots::new(steps, own.length, at.children.len());
    let mut done = 0;
    for segment in steps.segments(own) {
        let reduced = reduce_segment(steps, at, &mut slots, segment);
        if let Some(parent) = at.parent {
            steps.send_segment(parent, reduced);
        }
        if let Some(result) = result {
            steps.copy(reduced, result.part(done, segment.length));
        }
        done += segment.length;
    }
}

/// Sum of the children's operands of one segment and the rank's own.
pub fn reduce_segment(
    steps: &mut dyn Steps,
    at: &Neighbours,
    slots: &mut Slots,
    segment: Range,
) -> Range {
    let mut reduced = segment;
    for &child in at.children.iter().rev() {
        let incoming = slots.next(segment.length);
        steps.receive_segment(child, incoming);
        steps.reduce(reduced, incoming);
        reduced = incoming;
    }
    reduced
}

/// Receives a segment from each of `sources`, where `None` is this rank's own `segment`, and
/// reduces all in that order into a slot; returns the range of the result.
pub(crate) fn reduce_sources(
    steps: &mut dyn Steps,
    slots: &mut Slots,
    sources: impl IntoIterator<Item = Option<usize>>,
    segment: Range,
) -> Range {
    let mut reduced: Option<Range> = None;
    for source in sources {
        let operand = match source {
            // The first operand is only read.
            None if reduced.is_none() => segment,
            None => {
                let own = slots.next(segment.length);
                steps.copy(segment, own);
                own
            }
            Some(from) => {
                let incoming = slots.next(segment.length);
                steps.receive_segment(from, incoming);
                incoming
            }
        };
        if let Some(before) = reduced {
            steps.reduce(before, operand);
        }
        reduced = Some(operand);
    }
    reduced.unwrap_or(segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_are_those_of_the_drawings_and_children_agree_with_them() {
        let parents = |shape: Shape| -> Vec<usize> {
            (1..10)
                .map(|place| shape.visit(10, place, |_| ()).unwrap())
                .collect()
        };
        assert_eq!(parents(Shape::Binary), [0, 0, 1, 2, 1, 2, 3, 4, 5]);
        assert_eq!(parents(Shape::HighestBit), [0, 0, 1, 0, 1, 2, 3, 0, 1]);
        assert_eq!(parents(Shape::Quadrinomial), [0, 0, 0, 0, 4, 4, 4, 0, 8]);
        use Shape::*;
        for shape in [
            Flat,
            Chain,
            Binary,
            Binomial,
            HighestBit,
            Quadrinomial,
            Octopus(2),
            Alpha(25),
        ] {
            for count in 1..70 {
                let mut edges = 0;
                for place in 0..count {
                    shape.visit(count, place, |child| {
                        assert_eq!(shape.visit(count, child, |_| ()), Some(place), "{shape:?}");
                        edges += 1;
                    });
                }
                assert_eq!(edges, count - 1, "{shape:?} of {count}");
            }
        }
    }
}
