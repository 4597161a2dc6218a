//! `Reduce` in which every cluster but the root's reduces a part: the broadcast's exchange
//! ([`super::grid_broadcast::exchange`]), backwards.
//!
//! Each cluster sends the parts of others to them, and what it has reduced to the root: the root's
//! link carries the message once. At the start there is nothing reduced yet for two latencies;
//! meanwhile all send a few pieces straight to the root. Of parts each cluster sends as many as leave room on its
//! link for its results, and no more before the results of earlier ones have left.
//!
//! ```text
//!   cluster b's link:  | c0 d0 s0 | c1 d1 s1 | c2 d2 b0 | c3 d3 b1 | ... | b2 | b3 |
//!                        parts to c and d, straight to a; then b's own parts, reduced, to a
//! ```

use std::collections::VecDeque;

use super::between::inside;
use super::grid_broadcast::coordinators;
use super::trees::{self, Neighbours, Waiting};
use crate::collective::plan::Range;
use crate::collective::{Builder, Problem};

/// The most rounds that results may lag behind.
const MOST_LAG: usize = 200;

/// Pieces that all ranks deal with in the same turn.
struct Round {
    /// One for each of the other clusters to reduce: which of them, and the piece, in the order in which
    /// this cluster deals with them.
    parted: Vec<(usize, Range)>,
    /// One that all send to the root.
    straight: Option<Range>,
}

impl Round {
    fn pieces(&self) -> impl Iterator<Item = Range> {
        let parted = self.parted.iter().map(|&(_, piece)| piece);
        parted.chain(self.straight)
    }
}

/// The message in rounds.
struct Rounds {
    rounds: Vec<Round>,
    /// By how many rounds results follow parts: as many as pass in one latency.
    lag: usize,
    longest: u64,
    /// Number of pieces.
    pieces: usize,
}

impl Rounds {
    /// As the cluster deals with them that sends to `first` of the others first: so that not all send to
    /// the same one at the same time.
    fn new(builder: &Builder, data: Range, others: usize, first: usize) -> Self {
        let straight = match others {
            0 | 1 => data.length,
            far => (builder.in_flight() / far as u64).min(data.length),
        };
        let exchanged = data.part(0, data.length - straight);
        let straight = data.part(exchanged.length, straight);
        let parted: Vec<Range> = builder.pieces_for(exchanged, others).collect();
        let straight: Vec<Range> = builder.pieces(straight).collect();
        let (lag, pieces) = (straight.len(), parted.len() + straight.len());
        let all = parted.iter().chain(&straight);
        let longest = all.map(|piece| piece.length).max().unwrap_or(0);
        let mut straight = straight.into_iter();
        let mut rounds: Vec<Round> = parted
            .chunks(others.max(1))
            .map(|pieces| {
                let next = |step: usize| (first + step) % pieces.len();
                let parted = (0..pieces.len()).map(|step| (next(step), pieces[next(step)]));
                Round {
                    parted: parted.collect(),
                    straight: straight.next(),
                }
            })
            .collect();
        rounds.extend(straight.map(|piece| Round {
            parted: Vec::new(),
            straight: Some(piece),
        }));
        Rounds {
            rounds,
            lag: lag.clamp(1, MOST_LAG),
            longest,
            pieces,
        }
    }

    fn pieces(&self) -> impl Iterator<Item = Range> {
        self.rounds.iter().flat_map(Round::pieces)
    }

    /// Room for what so many ranks send of each piece.
    fn waiting(&self, builder: &mut Builder, sources: usize) -> Waiting {
        Waiting::for_pieces(builder, self.longest, self.pieces * sources)
    }
}

/// `Reduce`.
pub fn exchange(problem: &Problem, rank: usize, builder: &mut Builder) {
    let local = inside(problem, rank);
    let own = Range::input(0, problem.part(rank));
    let coordinators = coordinators(problem);
    let others = &coordinators[1..];
    let speaker = problem.leader(problem.clusters.of(rank));
    let place = others.iter().position(|&other| other == speaker);
    let first = place.map_or(0, |place| place + 1);
    let rounds = Rounds::new(builder, own, others.len(), first);
    if rank == problem.root {
        return collect(builder, &local, others, &rounds);
    }
    match local.parent {
        None => contribute(builder, rank, &local, &coordinators, &rounds),
        Some(parent) => {
            let mut waiting = rounds.waiting(builder, local.children.len());
            for piece in rounds.pieces() {
                let sum = trees::reduce_piece(builder, &local, &mut waiting, piece);
                builder.send_piece(parent, sum);
            }
        }
    }
}

/// What a coordinator does outside the root's cluster.
fn contribute(
    builder: &mut Builder,
    rank: usize,
    local: &Neighbours,
    coordinators: &[usize],
    rounds: &Rounds,
) {
    let (root, others) = (coordinators[0], &coordinators[1..]);
    let mut inside = rounds.waiting(builder, local.children.len());
    let mut coming = rounds.waiting(builder, others.len());
    let mut kept = Waiting::for_pieces(builder, rounds.longest, rounds.lag + 2);
    let mut own: VecDeque<Range> = VecDeque::new();
    let mut last_result = None;
    for turn in 0..rounds.rounds.len() + rounds.lag {
        if let Some(round) = rounds.rounds.get(turn) {
            for &(which, piece) in &round.parted {
                let other = others[which];
                let sum = trees::reduce_piece(builder, local, &mut inside, piece);
                if other != rank {
                    builder.send_piece_after(other, sum, last_result);
                    continue;
                }
                // The room for what comes from inside is needed again before the others' come.
                own.push_back(match sum == piece {
                    true => sum,
                    false => {
                        let place = kept.next(sum.length);
                        builder.copy(sum, place);
                        place
                    }
                });
            }
            if let Some(piece) = round.straight {
                let sum = trees::reduce_piece(builder, local, &mut inside, piece);
                builder.send_piece(root, sum);
            }
        }
        if turn < rounds.lag {
            continue;
        }
        if let Some(mut sum) = own.pop_front() {
            for &other in others.iter().filter(|&&other| other != rank) {
                let incoming = coming.next(sum.length);
                builder.receive_piece(other, incoming);
                builder.reduce(sum, incoming);
                sum = incoming;
            }
            builder.send_piece(root, sum);
            last_result = builder.last_step();
        }
    }
}

/// What the root does: its own cluster's sum is made where the result is wanted, and what others
/// send is added to it.
fn collect(builder: &mut Builder, local: &Neighbours, others: &[usize], rounds: &Rounds) {
    let mut inside = rounds.waiting(builder, local.children.len());
    let mut coming = rounds.waiting(builder, others.len());
    let add = |builder: &mut Builder, waiting: &mut Waiting, from, piece: Range| {
        let incoming = waiting.next(piece.length);
        builder.receive_piece(from, incoming);
        builder.reduce(incoming, Range::output(piece.start, piece.length));
    };
    for piece in rounds.pieces() {
        builder.copy(piece, Range::output(piece.start, piece.length));
        for &child in local.children.iter().rev() {
            add(builder, &mut inside, child, piece);
        }
    }
    for piece in rounds.rounds.iter().filter_map(|round| round.straight) {
        for &other in others {
            add(builder, &mut coming, other, piece);
        }
    }
    for round in &rounds.rounds {
        for &(which, piece) in &round.parted {
            add(builder, &mut coming, others[which], piece);
        }
    }
}
