//! Reductions between clusters in which no unit is on its way for more than two
//! latencies, in the lanes of [`super::lanes`].
//!
//! Most of a lane's share is *parted*: each part is reduced in one cluster, which
//! needs a second latency to pass on the result. At the end links would be idle for
//! that latency; so the rest goes *straight*, to wherever it is needed: more bytes,
//! but at a time when nothing else is to be sent.
//!
//! ```text
//!   allreduce, cluster a's link:  | parts to b, c, d | straight to b, c, d | part a reduced, to b, c, d |
//!   reduce to a, cluster b's:     | parts to c, d; straight to a           | part b reduced, to a       |
//! ```

use super::lanes::{self, Lane};
use super::trees::Waiting;
use crate::collective::plan::Range;
use crate::collective::problem::share;
use crate::collective::{Builder, Problem};

/// A lane's share in pieces: those that are parted, each to be reduced in one of
/// several places in turn, and those that go straight.
struct Divided {
    parted: Vec<Range>,
    straight: Vec<Range>,
}

impl Divided {
    /// The last `straight` units of the share go straight.
    fn new(builder: &Builder, share: Range, ways: usize, straight: u64) -> Self {
        let straight = straight.min(share.length);
        let parted = share.length - straight;
        let (parted, straight) = (share.part(0, parted), share.part(parted, straight));
        Divided {
            parted: builder.pieces_for(parted, ways).collect(),
            straight: builder.pieces(straight).collect(),
        }
    }

    /// The parted pieces with where each is reduced, among `ways` places.
    fn parted(&self, ways: usize) -> impl Iterator<Item = (usize, Range)> {
        let pieces = self.parted.iter().copied().enumerate();
        pieces.map(move |(index, piece)| (index % ways, piece))
    }

    /// The same in the order in which place `first` is served first: so that of each round not all
    /// send to the same one at the same time.
    fn parted_from(&self, first: usize, ways: usize) -> impl Iterator<Item = (usize, Range)> {
        self.parted.chunks(ways).flat_map(move |round| {
            let next = move |step: usize| (first + step) % round.len();
            (0..round.len()).map(move |step| (next(step), round[next(step)]))
        })
    }

    /// Units of the longest piece.
    fn longest(&self) -> u64 {
        let pieces = self.parted.iter().chain(&self.straight);
        pieces.map(|piece| piece.length).max().unwrap_or(0)
    }
}

/// Receives a piece from each of `sources`, where `None` stands for this rank's own
/// `piece`, and reduces all in that order into room of its own.
fn reduce_piece(
    builder: &mut Builder,
    waiting: &mut Waiting,
    sources: &[Option<usize>],
    piece: Range,
) -> Range {
    let mut reduced: Option<Range> = None;
    for source in sources {
        let operand = match source {
            // The first operand is only read.
            None if reduced.is_none() => piece,
            None => {
                let own = waiting.next(piece.length);
                builder.copy(piece, own);
                own
            }
            Some(from) => {
                let incoming = waiting.next(piece.length);
                builder.receive_piece(*from, incoming);
                incoming
            }
        };
        if let Some(before) = reduced {
            builder.reduce(before, operand);
        }
        reduced = Some(operand);
    }
    reduced.unwrap_or(piece)
}

/// The ranks of a lane in some clusters, `None` for its own.
fn sources(lane: &Lane, clusters: impl Iterator<Item = usize>) -> Vec<Option<usize>> {
    clusters
        .map(|cluster| (cluster != lane.at).then(|| lane.ranks[cluster]))
        .collect()
}

fn lanes_of(problem: &Problem, rank: usize, builder: &Builder) -> usize {
    let length = problem.part(rank);
    let piece = builder.piece(length);
    lanes::worthwhile(problem.clusters, problem.network, length, piece)
}

/// `Reduce`: parted pieces are reduced in one of the other clusters and go on to
/// the root's.
pub fn reduce(problem: &Problem, rank: usize, builder: &mut Builder) {
    let home = problem.clusters.of(problem.root);
    let others: Vec<usize> = problem.clusters.others(home).collect();
    let lanes = lanes_of(problem, rank, builder);
    lanes::reduce(
        problem,
        rank,
        builder,
        lanes,
        |builder, lane, sum, result| {
            let straight = match others.len() {
                0 | 1 => sum.length,
                far => builder.in_flight() / (far * lanes) as u64,
            };
            let divided = Divided::new(builder, sum, others.len().max(1), straight);
            match result {
                Some(result) => collect(builder, lane, &others, &divided, (sum, result)),
                None => contribute(builder, lane, home, &others, &divided),
            }
        },
    );
}

/// What a lane does outside the root's cluster.
fn contribute(
    builder: &mut Builder,
    lane: &Lane,
    home: usize,
    others: &[usize],
    divided: &Divided,
) {
    let own = others.iter().position(|&other| other == lane.at);
    for (way, piece) in divided.parted_from(own.map_or(0, |own| own + 1), others.len()) {
        if others[way] != lane.at {
            builder.send_piece(lane.ranks[others[way]], piece);
        }
    }
    for &piece in &divided.straight {
        builder.send_piece(lane.ranks[home], piece);
    }
    let sources = sources(lane, others.iter().copied());
    let mut waiting = Waiting::for_pieces(builder, divided.longest(), divided.parted.len());
    for (way, piece) in divided.parted(others.len()) {
        if others[way] == lane.at {
            let reduced = reduce_piece(builder, &mut waiting, &sources, piece);
            builder.send_piece(lane.ranks[home], reduced);
        }
    }
}

/// What a lane does in the root's cluster: from its `sum` and the others' to the
/// `result`.
fn collect(
    builder: &mut Builder,
    lane: &Lane,
    others: &[usize],
    divided: &Divided,
    (sum, result): (Range, Range),
) {
    let into = |range: Range| result.part(range.start - sum.start, range.length);
    let everyone = sources(lane, std::iter::once(lane.at).chain(others.iter().copied()));
    let pieces = divided.parted.len() + divided.straight.len() * others.len();
    let mut waiting = Waiting::for_pieces(builder, divided.longest(), pieces);
    for &piece in &divided.straight {
        let reduced = reduce_piece(builder, &mut waiting, &everyone, piece);
        builder.copy(reduced, into(piece));
    }
    for (way, piece) in divided.parted(others.len().max(1)) {
        let two = [None, Some(lane.ranks[others[way]])];
        let reduced = reduce_piece(builder, &mut waiting, &two, piece);
        builder.copy(reduced, into(piece));
    }
}

/// What of `length` units should go straight in an allreduce among `clusters`: the
/// parted units keep a link busy for (C - 1) / C of them before the first results
/// can come; straight units, (C - 1) times each, fill the rest of a latency.
pub fn straight_of_allreduce(in_flight: u64, clusters: usize, length: u64) -> u64 {
    let others = clusters as u64 - 1;
    if others == 0 {
        return length;
    }
    let needed = in_flight.saturating_mul(clusters as u64) / others;
    (needed.saturating_sub(length) / others).min(length)
}

/// `Allreduce`: each lane's parted pieces are reduced in one cluster each and sent
/// to all others; lanes hand results round in their clusters.
pub fn allreduce(problem: &Problem, rank: usize, builder: &mut Builder) {
    let clusters = problem.clusters;
    let length = problem.part(rank);
    let lanes = lanes_of(problem, rank, builder);
    let straight = straight_of_allreduce(builder.in_flight(), clusters.count(), length);
    let members = clusters.members(clusters.of(rank));
    let sum = lanes::reduce_inside(problem, rank, builder, lanes);
    let output = |lane: usize| {
        let (start, length) = share(length, lanes, lane);
        Range::output(start, length)
    };
    let divide = |builder: &Builder, range| {
        Divided::new(builder, range, clusters.count(), straight / lanes as u64)
    };
    if let (Some(sum), Some(place)) = (sum, members.iter().position(|&member| member == rank)) {
        let lane = Lane::new(problem, rank, place, sum.length);
        let (given, taken) = (divide(builder, sum), divide(builder, output(place)));
        exchange(builder, &lane, &given, &taken);
        for piece in complete(&lane, &taken) {
            for &member in members.iter().filter(|&&member| member != rank) {
                builder.send_piece(member, piece);
            }
        }
    }
    for (place, &member) in members.iter().enumerate().take(lanes) {
        if member != rank {
            let far = Lane::new(problem, member, place, output(place).length);
            let taken = divide(builder, output(place));
            for piece in complete(&far, &taken) {
                builder.receive_piece(member, piece);
            }
        }
    }
}

/// Between clusters: all that this rank sends and receives there.
fn exchange(builder: &mut Builder, lane: &Lane, given: &Divided, taken: &Divided) {
    let count = lane.ranks.len();
    let far = |distance: usize| lane.ranks[(lane.at + distance) % count];
    // An MPI may send what waits for one rank before what has waited longer for another: nothing
    // goes straight before the last part has been handed over.
    let mut parted = None;
    for (way, piece) in given.parted_from(lane.at + 1, count) {
        if way != lane.at {
            builder.send_piece(lane.ranks[way], piece);
            parted = builder.last_step();
        }
    }
    for &piece in &given.straight {
        for distance in 1..count {
            builder.send_piece_after(far(distance), piece, parted);
        }
    }
    let everyone = sources(lane, 0..count);
    let pieces = (given.parted.len() + given.straight.len() * count).max(count);
    let mut waiting = Waiting::for_pieces(builder, given.longest(), pieces);
    for ((way, piece), &result) in given.parted(count).zip(&taken.parted) {
        if way == lane.at {
            let reduced = reduce_piece(builder, &mut waiting, &everyone, piece);
            builder.copy(reduced, result);
            for distance in 1..count {
                builder.send_piece(far(distance), result);
            }
        }
    }
    for (&piece, &result) in given.straight.iter().zip(&taken.straight) {
        let reduced = reduce_piece(builder, &mut waiting, &everyone, piece);
        builder.copy(reduced, result);
    }
    for (way, piece) in taken.parted(count) {
        if way != lane.at {
            builder.receive_piece(lane.ranks[way], piece);
        }
    }
}

/// The pieces of a lane's result in about the order in which they are complete.
fn complete(lane: &Lane, taken: &Divided) -> Vec<Range> {
    let count = lane.ranks.len();
    let of = |own: bool| {
        let pieces = taken
            .parted(count)
            .filter(move |&(way, _)| (way == lane.at) == own);
        pieces.map(|(_, piece)| piece)
    };
    of(true)
        .chain(taken.straight.iter().copied())
        .chain(of(false))
        .collect()
}
