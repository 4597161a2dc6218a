//! Recursive halving, and Rabenseifner's reductions on top of it (Rabenseifner 1997; Thakur, Rabenseifner and Gropp
//! 2005, whose numbering for other numbers of ranks than powers of two this is).
//!
//! ```text
//!   four places, shares a to d     distance 1             distance 2
//!     0  abcd                      0+1  ab                0+1+2+3  a     then back the same way (Allreduce),
//!     1  abcd                      0+1  cd                0+1+2+3  c     or straight to the root (Reduce)
//!     2  abcd                      2+3  ab                0+1+2+3  b
//!     3  abcd                      2+3  cd                0+1+2+3  d
//! ```
//!
//! With the nearest first, what is added up always comes from ranks that follow each other: operands stay in their order.
//! With the farthest first, place n ends with share n, as a `Reduce_scatter` wants it.

use crate::collective::plan::{Range, Space};
use crate::collective::problem::share;
use crate::collective::{Builder, Problem};

/// As many places as the greatest power of two that there are ranks for: of the lowest ranks pairs of neighbours
/// start as one, of which the odd one takes part.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    /// Number of places.
    pub count: usize,
    pairs: usize,
}

impl Places {
    /// Places for so many ranks.
    pub fn of(ranks: usize) -> Self {
        let count = 1 << ranks.ilog2();
        Places {
            count,
            pairs: ranks - count,
        }
    }

    /// The place of a rank; `None` for one that leaves it to the next.
    fn place(self, rank: usize) -> Option<usize> {
        match rank < 2 * self.pairs {
            true => (rank % 2 == 1).then_some(rank / 2),
            false => Some(rank - self.pairs),
        }
    }

    /// The rank at a place.
    pub fn rank(self, place: usize) -> usize {
        match place < self.pairs {
            true => 2 * place + 1,
            false => place + self.pairs,
        }
    }

    /// The rank that leaves its operand to this place, and gets its result from there.
    pub fn other(self, place: usize) -> Option<usize> {
        (place < self.pairs).then_some(2 * place)
    }

    /// The lowest rank whose operand starts at a place, or the number of ranks behind the last place.
    fn first(self, place: usize) -> usize {
        place + place.min(self.pairs)
    }

    /// The place of a rank and its operand; `None` for a rank that leaves its input to the next, and gets its
    /// result from there.
    pub fn join(
        self,
        builder: &mut Builder,
        rank: usize,
        own: Range,
        result: Range,
    ) -> Option<(usize, Range)> {
        let Some(place) = self.place(rank) else {
            builder.send(rank + 1, own);
            builder.receive(rank + 1, result);
            return None;
        };
        Some((place, self.operand(builder, place, own)))
    }

    /// The operand of a place: that of its rank, and of the one before it in a pair.
    fn operand(self, builder: &mut Builder, place: usize, own: Range) -> Range {
        let Some(other) = self.other(place) else {
            return own;
        };
        let sum = builder.scratch(own.length);
        builder.copy(own, sum);
        let left = builder.scratch(own.length);
        builder.receive(other, left);
        builder.reduce(left, sum);
        sum
    }
}

/// Which shares a place holds: from the first on, and before the last.
type Shares = (usize, usize);

/// The shares that a place holds at first and after each exchange over `distances`.
fn held(places: Places, place: usize, distances: impl Iterator<Item = usize>) -> Vec<Shares> {
    let mut all = vec![(0, places.count)];
    let mut now = (0, places.count);
    for distance in distances {
        let middle = (now.0 + now.1) / 2;
        now = match place & distance {
            0 => (now.0, middle),
            _ => (middle, now.1),
        };
        all.push(now);
    }
    all
}

/// The nearest first, and the farthest first.
fn distances(places: Places) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator + Clone {
    (0..places.count.ilog2()).map(|bit| 1 << bit)
}

/// The units of some shares, of which number n starts at `start(n)`.
fn units(all: Range, start: &impl Fn(usize) -> u64, (first, last): Shares) -> Range {
    all.part(start(first), start(last) - start(first))
}

/// Exchanges halves of what is held with partners at these distances; gives the sum of the shares that are
/// left.
fn halve(
    builder: &mut Builder,
    places: Places,
    place: usize,
    operand: Range,
    distances: impl Iterator<Item = usize> + Clone,
    start: &impl Fn(usize) -> u64,
) -> Range {
    let shares = held(places, place, distances.clone());
    let mut sum = operand;
    for (pair, distance) in shares.windows(2).zip(distances) {
        let (before, kept) = (pair[0], pair[1]);
        let given = match kept.0 == before.0 {
            true => (kept.1, before.1),
            false => (before.0, kept.0),
        };
        // What is held starts with its first share.
        let of_held = |share: usize| start(share) - start(before.0);
        let (given, own) = (units(sum, &of_held, given), units(sum, &of_held, kept));
        let partner = places.rank(place ^ distance);
        builder.send(partner, given);
        let incoming = builder.scratch(own.length);
        builder.receive(partner, incoming);
        sum = match place & distance {
            0 => {
                builder.reduce(own, incoming);
                incoming
            }
            // The input is only read.
            _ if own.space == Space::Input => {
                let sum = builder.scratch(own.length);
                builder.copy(own, sum);
                builder.reduce(incoming, sum);
                sum
            }
            _ => {
                builder.reduce(incoming, own);
                own
            }
        };
    }
    sum
}

/// The first unit of each of `places` equal shares of `length` units.
fn equal_shares(length: u64, places: Places) -> impl Fn(usize) -> u64 {
    move |number| share(length, places.count, number).0
}

/// `Allreduce`: halves are exchanged until each has the sum of one share, and back until all have all.
pub fn allreduce(problem: &Problem, rank: usize, builder: &mut Builder) {
    let places = Places::of(problem.ranks());
    let length = problem.part(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let Some((place, operand)) = places.join(builder, rank, own, output) else {
        return;
    };
    let start = equal_shares(length, places);
    let sum = halve(builder, places, place, operand, distances(places), &start);
    let shares = held(places, place, distances(places));
    let [.., last] = shares[..] else {
        return;
    };
    builder.copy(sum, units(output, &start, last));
    for (pair, distance) in shares.windows(2).zip(distances(places)).rev() {
        let (wider, known) = (pair[0], pair[1]);
        let missing = match known.0 == wider.0 {
            true => (known.1, wider.1),
            false => (wider.0, known.0),
        };
        let partner = places.rank(place ^ distance);
        builder.send(partner, units(output, &start, known));
        builder.receive(partner, units(output, &start, missing));
    }
    if let Some(other) = places.other(place) {
        builder.send(other, output);
    }
}

/// `Reduce`: the root collects the sums of all shares.
pub fn reduce(problem: &Problem, rank: usize, builder: &mut Builder) {
    let places = Places::of(problem.ranks());
    let length = problem.part(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let start = equal_shares(length, places);
    // The share that a place ends with.
    let left = |place: usize| {
        let shares = held(places, place, distances(places));
        units(output, &start, shares[shares.len() - 1])
    };
    match places.place(rank) {
        None => builder.send(rank + 1, own),
        Some(place) => {
            let operand = places.operand(builder, place, own);
            let sum = halve(builder, places, place, operand, distances(places), &start);
            match rank == problem.root {
                true => builder.copy(sum, left(place)),
                false => builder.send(problem.root, sum),
            }
        }
    }
    if rank == problem.root {
        for place in (0..places.count).filter(|&place| places.rank(place) != rank) {
            builder.receive(places.rank(place), left(place));
        }
    }
}

/// `Reduce_scatter` and `Reduce_scatter_block`.
pub fn reduce_scatter(problem: &Problem, rank: usize, builder: &mut Builder) {
    let places = Places::of(problem.ranks());
    let own = Range::input(0, problem.total());
    let result = Range::output(0, problem.part(rank));
    let Some((place, operand)) = places.join(builder, rank, own, result) else {
        return;
    };
    let start = |number: usize| problem.start(places.first(number));
    let farthest_first = distances(places).rev().collect::<Vec<usize>>();
    let distances = farthest_first.into_iter();
    let sum = halve(builder, places, place, operand, distances, &start);
    let length = sum.length - result.length;
    if let Some(other) = places.other(place) {
        builder.send(other, sum.part(0, length));
    }
    builder.copy(sum.part(length, result.length), result);
}
