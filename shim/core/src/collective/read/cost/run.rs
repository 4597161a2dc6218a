//! The scripts of all ranks in time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ordered_float::OrderedFloat;

use super::Times;
use super::script::{Move, Scripts};
use crate::collective::Network;
use crate::collective::read::simulate::{Links, Sending};
use crate::platform::Contention;

/// In place of a message or a rank that is not there.
const NONE: u32 = u32::MAX;

/// Which message each receive gets: the n-th from a rank is the n-th that this one sends here.
struct Mail {
    /// Of each rank, the number of its first message.
    sent: Vec<u32>,
    /// Of each rank, the place of its first receive.
    first: Vec<u32>,
    /// The message of each receive; `NONE` where it is not sent, in a part of all.
    received: Vec<u32>,
}

impl Mail {
    fn new(scripts: &Scripts) -> Self {
        let ranks = scripts.ranks();
        let sends = |rank: usize| {
            let moves = scripts.of(rank).moves.iter();
            moves.filter_map(move |one| match one {
                Move::Send { to, .. } => Some(scripts.peer(rank, *to)),
                _ => None,
            })
        };
        let (mut sent, mut first) = (Vec::with_capacity(ranks), Vec::with_capacity(ranks));
        // To each rank, messages by sender: each sender's in their order.
        let mut coming: Vec<Vec<(u32, u32)>> = vec![Vec::new(); ranks];
        let (mut messages, mut receives) = (0, 0);
        for rank in 0..ranks {
            sent.push(messages);
            first.push(receives);
            for to in sends(rank) {
                coming[to].push((rank as u32, messages));
                messages += 1;
            }
            receives += scripts.of(rank).senders.len() as u32;
        }
        let mut received = Vec::with_capacity(receives as usize);
        let mut taken = Vec::new();
        for (rank, coming) in coming.iter().enumerate() {
            taken.clear();
            taken.resize(coming.len(), 0);
            for &from in &scripts.of(rank).senders {
                let from = scripts.peer(rank, from) as u32;
                let start = coming.partition_point(|&(sender, _)| sender < from);
                let next = taken.get_mut(start).map_or(start, |taken| {
                    *taken += 1;
                    start + *taken - 1
                });
                let message = coming.get(next).filter(|&&(sender, _)| sender == from);
                received.push(message.map_or(NONE, |&(_, message)| message));
            }
        }
        Mail {
            sent,
            first,
            received,
        }
    }
}

/// A rank on its way.
#[derive(Clone, Copy, Default)]
struct Rank {
    /// Its next move.
    place: usize,
    /// Messages that it has sent.
    sent: u32,
    /// When it is ready for the next move.
    clock: f64,
    /// When what it has sent last has left.
    settled: f64,
}

/// The state of a run.
struct Run<'a> {
    network: &'a Network,
    scripts: &'a Scripts,
    mail: Mail,
    links: Links<'a>,
    ranks: Vec<Rank>,
    /// When each message is there; not a number before it is sent.
    there: Vec<f64>,
    /// The rank that waits for each message.
    waiting: Vec<u32>,
    /// Ranks by the time of their next move, and of equal times in the order in which they came.
    next: BinaryHeap<Reverse<(OrderedFloat<f64>, u32, u32)>>,
    number: u32,
    /// So many messages each rank sends.
    most: u32,
    times: Times,
    /// How long the uplink and the downlink of each cluster have been occupied.
    access: Vec<[f64; 2]>,
}

/// Times of all scripts, or of the first `rounds` messages that each rank sends; [`Times::NEVER`]
/// where ranks wait for each other.
pub(super) fn run(network: &Network, scripts: &Scripts, rounds: Option<usize>) -> Times {
    let mail = Mail::new(scripts);
    let last = scripts.ranks() - 1;
    let of_last = scripts.of(last).moves.iter();
    let of_last = of_last.filter(|one| matches!(one, Move::Send { .. }));
    let messages = mail.sent[last] as usize + of_last.count();
    let mut run = Run {
        network,
        scripts,
        mail,
        links: Links::new(network, Sending::Overlapping),
        ranks: vec![Rank::default(); scripts.ranks()],
        there: vec![f64::NAN; messages],
        waiting: vec![NONE; messages],
        next: BinaryHeap::with_capacity(scripts.ranks()),
        number: 0,
        most: rounds.map_or(u32::MAX, |rounds| rounds as u32),
        times: Times {
            end: 0.0,
            left: 0.0,
            busiest: 0.0,
        },
        access: vec![[0.0; 2]; network.clusters()],
    };
    for rank in 0..scripts.ranks() {
        run.go_on(rank);
    }
    while let Some(Reverse((_, _, rank))) = run.next.pop() {
        run.moves(rank as usize);
    }
    let is_done = |(rank, state): (usize, &Rank)| {
        rounds.is_some() || state.place == scripts.of(rank).moves.len()
    };
    let access = run.access.iter().flatten();
    run.times.busiest = access.copied().fold(0.0, f64::max);
    match run.ranks.iter().enumerate().all(is_done) {
        true => run.times,
        false => Times::NEVER,
    }
}

impl Run<'_> {
    fn go_on(&mut self, rank: usize) {
        let at = OrderedFloat(self.ranks[rank].clock);
        self.next.push(Reverse((at, self.number, rank as u32)));
        self.number += 1;
    }

    /// A rank's moves up to the one that others may come before: one message at a time.
    fn moves(&mut self, rank: usize) {
        let script = self.scripts.of(rank);
        let began = self.ranks[rank].clock;
        while let Some(&next) = script.moves.get(self.ranks[rank].place) {
            let state = &mut self.ranks[rank];
            match next {
                Move::Send { .. } if state.clock > began => return self.go_on(rank),
                Move::Send { .. } if state.sent == self.most => break,
                Move::Send { to, bytes } => {
                    state.place += 1;
                    self.send(rank, self.scripts.peer(rank, to), bytes);
                    return self.go_on(rank);
                }
                Move::Await(place) => {
                    let place = (self.mail.first[rank] + place) as usize;
                    let message = self.mail.received[place];
                    if message != NONE {
                        let there = self.there[message as usize];
                        if there.is_nan() {
                            self.waiting[message as usize] = rank as u32;
                            return;
                        }
                        state.clock = state.clock.max(there);
                    }
                }
                Move::Settle => state.clock = state.clock.max(state.settled),
                Move::Compute(bytes) => state.clock += self.network.computing.seconds(bytes),
            }
            self.ranks[rank].place += 1;
        }
        self.times.end = self.times.end.max(self.ranks[rank].clock);
    }

    /// A message on all links of its way; what asks first holds its sender up.
    fn send(&mut self, from: usize, to: usize, bytes: u64) {
        let link = self.network.link(from, to);
        let asking = link.map_or(0.0, |link| link.handshake(bytes));
        let state = &mut self.ranks[from];
        let leaving = self
            .links
            .depart(state.clock + asking, (from, to, bytes), Contention::NONE);
        if asking > 0.0 {
            state.settled = leaving.tail;
        }
        let message = (self.mail.sent[from] + state.sent) as usize;
        state.sent += 1;
        let coming = leaving.after(link.map_or(0.0, |link| link.latency()));
        let there = self
            .links
            .arrive(coming, (from, to, bytes), Contention::NONE)
            .tail;
        self.there[message] = there;
        self.times.left = self.times.left.max(leaving.tail);
        self.times.end = self.times.end.max(there);
        let clusters = self.network.cluster_of();
        let (here, there_cluster) = (clusters[from], clusters[to]);
        if here != there_cluster {
            self.access[here][0] += self.network.uplink(here, bytes);
            self.access[there_cluster][1] += self.network.downlink(there_cluster, bytes);
        }
        let waiting = self.waiting[message];
        if waiting != NONE {
            let state = &mut self.ranks[waiting as usize];
            state.clock = state.clock.max(there);
            self.go_on(waiting as usize);
        }
    }
}
