//! Simulation of the scripts of all ranks.

use crate::network::links::{Distance, Network, Overhead};
use crate::read::cost::script::{Move, Scripts};
use crate::read::cost::times::Times;
use crate::read::exchanges::Exchanges;
use crate::read::simulate::links::{Links, MessagePath};
use crate::read::simulate::outcome::Sending;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use treepie_base::{Cluster, List};
use treepie_platform::Contention;

/// Placeholder for a waiting rank.
const NONE: u32 = u32::MAX;

/// All messages, by sender, with an index by receiver.
struct Mail {
    /// First message of each rank.
    sent: Vec<u32>,
    /// First entry of `coming` for each rank, and the end of all.
    first: Vec<u32>,
    /// Messages and their senders, by receiver, in the order of senders.
    coming: Vec<(u32, u32)>,
}

impl Mail {
    fn new(scripts: &Scripts) -> Self {
        let ranks = scripts.ranks();
        let (mut sent, mut first) = (Vec::with_capacity(ranks), vec![0; ranks + 2]);
        let receivers = |rank: usize| {
            let sent = scripts.of(rank).sent();
            sent.map(move |(to, _)| scripts.peer(rank, to))
        };
        let mut messages = 0;
        for rank in 0..ranks {
            sent.push(messages);
            for to in receivers(rank) {
                messages += 1;
                first[to + 2] += 1;
            }
        }
        for rank in 0..ranks {
            first[rank + 2] += first[rank + 1];
        }
        let mut coming = vec![(0, 0); messages as usize];
        for (rank, &start) in sent.iter().enumerate() {
            for (message, to) in (start..).zip(receivers(rank)) {
                coming[first[to + 1] as usize] = (rank as u32, message);
                first[to + 1] += 1;
            }
        }
        Mail {
            sent,
            first,
            coming,
        }
    }

    /// Message number `nth` from one rank to another; `None` if it is not sent, in a part of all.
    fn message(&self, from: usize, to: usize, nth: u32) -> Option<usize> {
        let coming = &self.coming[self.first[to] as usize..self.first[to + 1] as usize];
        let of_sender = coming.partition_point(|&(sender, _)| (sender as usize) < from);
        let found = coming.get(of_sender + nth as usize);
        found
            .filter(|&&(sender, _)| sender as usize == from)
            .map(|&(_, message)| message as usize)
    }
}

/// State of a rank.
#[derive(Clone, Default)]
struct Rank {
    /// Index of its next move.
    place: usize,
    /// Number of messages that it has sent.
    sent: u32,
    /// Time at which it is ready for the next move.
    clock: f64,
    /// Work on all messages to it, in seconds.
    receiving: f64,
    /// Time at which its last message has left.
    settled: f64,
    /// Messages that interrupt its sends: arrival, and work, in the order of arrival. Times are not
    /// negative, so that their bits are in the same order.
    interrupts: BinaryHeap<Reverse<(u64, u64)>>,
}

impl Rank {
    /// Adds the work on a message that arrives at a time, in seconds.
    fn interrupt(&mut self, there: f64, work: f64) {
        if work > 0.0 {
            let of = |seconds: f64| seconds.to_bits();
            self.interrupts.push(Reverse((of(there), of(work))));
        }
    }

    /// Removes the first message that has arrived, and returns the work on it.
    fn arrived(&mut self) -> Option<f64> {
        let first = self.interrupts.peek_mut()?;
        let Reverse((there, work)) = *first;
        (f64::from_bits(there) <= self.clock).then(|| {
            PeekMut::pop(first);
            f64::from_bits(work)
        })
    }

    /// Does the work on messages that have arrived while it was not waiting; true if there was any.
    fn interrupted(&mut self) -> bool {
        let before = self.clock;
        while let Some(work) = self.arrived() {
            self.clock += work;
        }
        self.clock > before
    }

    /// Waits until a time: the work on messages that arrive before is done meanwhile.
    fn wait_until(&mut self, time: f64) {
        self.clock = self.clock.max(time);
        while self.arrived().is_some() {}
    }
}

/// State of a run.
struct Run<'a> {
    network: &'a Network,
    scripts: &'a Scripts,
    mail: Mail,
    /// True if no message goes between clusters that are far apart: for those, ranks wait longer
    /// than the work on messages takes.
    is_near: bool,
    links: Links<'a>,
    /// Exchanges, if contention is known.
    exchanges: Option<&'a Exchanges<'a>>,
    /// Links that the last message occupied, and its work.
    last: Option<(Kind, MessagePath, Work)>,
    ranks: Vec<Rank>,
    /// Time at which each message has arrived, and is received; NaN before it is sent.
    there: Vec<f64>,
    /// Rank that waits for each message.
    waiting: Vec<u32>,
    next: BinaryHeap<Reverse<Next>>,
    number: u32,
    /// Numbers of messages of each rank to count: the first rounds, and all.
    rounds: [u32; 2],
    /// Times of the first rounds, and of all.
    times: [Times; 2],
    /// Seconds for which the uplink and the downlink of each cluster have been occupied in both.
    access: [List<Cluster, [f64; 2]>; 2],
}

/// Messages that occupy links alike: distance, number of levels inside hosts that their ranks
/// share, clusters of the two ranks, bytes, and contention.
type Kind = (Distance, usize, [Cluster; 2], u64, Contention);

/// Seconds that a message occupies its ranks.
#[derive(Debug, Clone, Copy)]
struct Work {
    sending: f64,
    receiving: f64,
}

/// A rank with the time of its next message; equal times are in the order of insertion. One number
/// is enough, as times are not negative.
type Next = u128;

/// Times of all scripts; [`Times::NEVER`] if ranks wait for each other.
pub(super) fn run(
    network: &Network,
    scripts: &Scripts,
    exchanges: Option<&Exchanges<'_>>,
) -> Times {
    let [_, all] = run_rounds(network, scripts, exchanges, [u32::MAX; 2]);
    all
}

/// Times of the first messages of each rank, for two numbers of messages; the larger number is run.
pub(super) fn run_rounds(
    network: &Network,
    scripts: &Scripts,
    exchanges: Option<&Exchanges<'_>>,
    rounds: [u32; 2],
) -> [Times; 2] {
    let mail = Mail::new(scripts);
    let messages = mail.coming.len();
    let nothing = Times {
        end: 0.0,
        left: 0.0,
        busiest: 0.0,
    };
    let access: List<Cluster, [f64; 2]> = vec![[0.0; 2]; network.clusters()].into();
    let mut run = Run {
        network,
        scripts,
        mail,
        is_near: network.is_near() || network.clusters() == 1,
        links: Links::new(network, Sending::Overlapping),
        exchanges,
        last: None,
        ranks: vec![Rank::default(); scripts.ranks()],
        there: vec![f64::NAN; messages],
        waiting: vec![NONE; messages],
        next: BinaryHeap::with_capacity(scripts.ranks()),
        number: 0,
        rounds,
        times: [nothing; 2],
        access: [access.clone(), access],
    };
    for rank in 0..scripts.ranks() {
        run.go_on(rank);
    }
    while let Some(Reverse(next)) = run.next.pop() {
        run.send(next as u32 as usize);
    }
    for (times, access) in run.times.iter_mut().zip(&run.access) {
        times.busiest = access.iter().flatten().copied().fold(0.0, f64::max);
    }
    let is_done = |(rank, state): (usize, &Rank)| {
        state.sent == rounds[1] || state.place == scripts.of(rank).moves.len()
    };
    match run.ranks.iter().enumerate().all(is_done) {
        true => run.times,
        false => [Times::NEVER; 2],
    }
}

impl Run<'_> {
    /// Executes a rank's moves up to the next message that it sends, which others may precede.
    fn go_on(&mut self, rank: usize) {
        let script = self.scripts.of(rank);
        let state = &mut self.ranks[rank];
        while let Some(&next) = script.moves.get(state.place) {
            match next {
                Move::Send { .. } if state.sent == self.rounds[1] => break,
                Move::Send { .. } => return self.send_later(rank),
                Move::Await(place) => {
                    let (from, nth) = script.senders[place as usize];
                    let from = self.scripts.peer(rank, from);
                    if let Some(message) = self.mail.message(from, rank, nth) {
                        let there = self.there[message];
                        if there.is_nan() {
                            self.waiting[message] = rank as u32;
                            return;
                        }
                        state.wait_until(there);
                    }
                }
                Move::Settle => state.wait_until(state.settled),
                Move::Compute(bytes) => state.clock += self.network.computing.seconds(bytes),
            }
            state.place += 1;
        }
        self.times[1].end = self.times[1].end.max(state.clock);
    }

    /// Plans the next message of a rank, which is ready for it.
    fn send_later(&mut self, rank: usize) {
        let at = u128::from(self.ranks[rank].clock.to_bits());
        let place = u64::from(self.number) << 32 | rank as u64;
        self.next.push(Reverse(at << 64 | u128::from(place)));
        self.number += 1;
    }

    /// Occupied times of a message: often equal to those of the previous one, between the same
    /// clusters.
    fn way(
        &mut self,
        (from, to, bytes): (usize, usize, u64),
        is_after_another: bool,
    ) -> (MessagePath, Work) {
        let clusters = [from, to].map(|rank| self.network.cluster_of()[rank]);
        let contention = self.exchanges.map_or(Contention::NONE, |exchanges| {
            exchanges.contention(from, to, is_after_another)
        });
        let distance = self.network.distance(from, to);
        let shared = self.network.levels_shared(from, to);
        let kind = (distance, shared, clusters, bytes, contention);
        match self.last {
            Some((last, way, work)) if last == kind => (way.of(from, to), work),
            _ => {
                let way = self.links.way((from, to, bytes), contention);
                let network = self.network;
                let work = Work {
                    sending: network.occupied(from, to, bytes, Overhead::Send),
                    receiving: network.occupied(to, from, bytes, Overhead::Receive),
                };
                self.last = Some((kind, way, work));
                (way, work)
            }
        }
    }

    /// Sends a rank's next message over all links of its path; one with a rendezvous delays its
    /// sender.
    fn send(&mut self, from: usize) {
        let state = &mut self.ranks[from];
        if state.interrupted() {
            return self.send_later(from);
        }
        let Some(&Move::Send {
            to,
            bytes,
            is_after_another,
        }) = self.scripts.of(from).moves.get(state.place)
        else {
            return;
        };
        let to = self.scripts.peer(from, to);
        let (way, work) = self.way((from, to, bytes), is_after_another);
        let state = &mut self.ranks[from];
        let leaving = self.links.depart(state.clock + way.handshake, &way);
        state.clock += work.sending;
        if way.handshake > 0.0 {
            state.settled = leaving.tail;
        }
        let sent = state.sent;
        let message = (self.mail.sent[from] + sent) as usize;
        state.sent += 1;
        state.place += 1;
        let coming = self.links.enter(leaving.after(way.latency), &way);
        let there = self.links.arrive(coming, &way).tail;
        // It is not received before the work on all earlier messages is done; the work on a message
        // that is received while it arrives ends with its last byte.
        let receiver = &mut self.ranks[to];
        receiver.receiving += work.receiving;
        let there = there.max(receiver.receiving);
        if self.is_near {
            receiver.interrupt(there, work.receiving);
        }
        self.there[message] = there;
        let clusters = self.network.cluster_of();
        for count in usize::from(sent >= self.rounds[0])..2 {
            let (times, access) = (&mut self.times[count], &mut self.access[count]);
            times.left = times.left.max(leaving.tail);
            times.end = times.end.max(there);
            access[clusters[from]][0] += way.uplink;
            access[clusters[to]][1] += way.downlink;
        }
        self.go_on(from);
        let waiting = self.waiting[message];
        if waiting != NONE {
            self.go_on(waiting as usize);
        }
    }
}
