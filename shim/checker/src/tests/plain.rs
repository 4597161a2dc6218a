//! A second engine, slow, but simple enough to be verified by reading. It shares only plans and the
//! parameters of platforms with the first.
//!
//! It has no queue of events. It searches the whole state for the first event that can happen now,
//! and executes it. When there is none, it advances to the next time at which one may happen.

use std::collections::{HashMap, HashSet, VecDeque};
use treepie_base::Cluster;
use treepie_collective::{Action, Distance, Network, Plan};
use treepie_platform::{Contention, Link};

/// End of every rank in seconds; `None` for plans that never end.
pub fn ends(network: &Network, plans: &[Plan], one_port: bool) -> Option<Vec<f64>> {
    let mut world = World {
        network,
        plans,
        one_port,
        now: 0.0,
        ranks: plans.iter().map(Rank::new).collect(),
        messages: Vec::new(),
        awaited: HashMap::new(),
        free: HashMap::new(),
        half: HashMap::new(),
        receivers: (0..plans.len())
            .map(|rank| near(network, plans, rank))
            .collect(),
    };
    loop {
        while world.something_happens() {}
        match world.next_time() {
            Some(next) => world.now = next,
            None => break,
        }
    }
    let has_ended = |rank: &Rank| rank.done.iter().all(|&done| done);
    let all_have = world.ranks.iter().all(has_ended);
    all_have.then(|| world.ranks.iter().map(|rank| rank.end).collect())
}

/// Message by its sender and the sending step, in the order in which simultaneous messages pass a
/// place.
type Key = (usize, usize);

/// Resource that carries one message after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    PortOut(usize),
    PortIn(usize),
    CardOut(usize),
    CardIn(usize),
    Uplink(Cluster),
    Downlink(Cluster),
    Connection(usize, usize),
}

/// Part of a message's path.
#[derive(Debug, Clone, Copy)]
enum Part {
    /// Gate that it occupies for this many seconds, once it is free.
    Through(Gate, f64),
    /// Gate that it shares with others, without delay of its first byte.
    Beside(Gate, f64),
    /// End of its sender's links.
    Leaves,
    /// A latency.
    Flies(f64),
}

struct Message {
    key: Key,
    to: usize,
    tag: u32,
    bytes: u64,
    /// Time at which its step began, and until which that occupies its rank.
    began: f64,
    occupied: f64,
    /// Step that receives it, and time from which that waits for it.
    awaited: Option<(usize, f64)>,
    /// Seconds of its handshake; 0 once it is sent.
    asks: f64,
    /// Remainder of its path; empty when it has arrived.
    way: VecDeque<Part>,
    first_byte: f64,
    last_byte: f64,
}

#[derive(Default)]
struct Rank {
    begun: Vec<bool>,
    done: Vec<bool>,
    /// Active steps whose end is known.
    ends: Vec<(usize, f64)>,
    free: f64,
    end: f64,
    /// First step that may begin.
    next: Option<usize>,
}

struct World<'a> {
    network: &'a Network,
    plans: &'a [Plan],
    one_port: bool,
    now: f64,
    ranks: Vec<Rank>,
    /// Messages that were sent and not received yet, in the order of their keys.
    messages: Vec<Message>,
    /// Receives of messages that were not sent yet, by sender, receiver and tag.
    awaited: HashMap<(usize, usize, u32), (usize, f64)>,
    /// Time at which each gate is free again.
    free: HashMap<Gate, f64>,
    /// Time at which the messages that share a gate, with half of its rate, have passed.
    half: HashMap<Gate, f64>,
    /// For each rank, its receivers in its own cluster.
    receivers: Vec<HashSet<usize>>,
}

impl World<'_> {
    fn something_happens(&mut self) -> bool {
        self.a_message_is_answered()
            || self.a_message_goes_on()
            || self.a_step_ends()
            || self.a_rank_goes_on()
    }

    /// Next time at which an event may happen that cannot happen now.
    fn next_time(&self) -> Option<f64> {
        let messages = self.messages.iter().flat_map(|message| {
            let here = [message.first_byte, message.last_byte];
            self.answered(message).into_iter().chain(here)
        });
        let ranks = self.ranks.iter().flat_map(|rank| {
            let ends = rank.ends.iter().map(|&(_, end)| end);
            ends.chain([rank.free])
        });
        let later = messages.chain(ranks).filter(|&at| at > self.now);
        later.reduce(f64::min)
    }

    /// Time of the answer to a rendezvous: the request takes a latency, or the whole handshake if
    /// that is shorter, and the receiver answers when it waits for the message.
    fn answered(&self, message: &Message) -> Option<f64> {
        if message.asks == 0.0 {
            return None;
        }
        let (_, since) = message.awaited?;
        let latency = self.network.link(message.key.0, message.to)?.latency();
        let question = latency.min(message.asks);
        Some(since.max(message.began + question) + message.asks - question)
    }

    fn a_message_is_answered(&mut self) -> bool {
        let is_answered = |message| self.answered(message).is_some_and(|at| at <= self.now);
        match self.messages.iter().position(is_answered) {
            Some(place) => self.goes(place),
            None => return false,
        }
        true
    }

    /// Sends a message on its way.
    fn goes(&mut self, place: usize) {
        let way = self.way(&self.messages[place]);
        let message = &mut self.messages[place];
        message.way = way;
        message.first_byte = self.now;
        message.last_byte = self.now;
        if message.asks == 0.0 {
            let (from, step) = message.key;
            self.ranks[from].ends.push((step, message.occupied));
            message.way.retain(|part| !matches!(part, Part::Leaves));
        }
        message.asks = 0.0;
    }

    /// Advances a message whose first byte is before a part of its path.
    fn a_message_goes_on(&mut self) -> bool {
        let goes_on =
            |message: &&mut Message| message.first_byte <= self.now && !message.way.is_empty();
        let Some(message) = self.messages.iter_mut().find(goes_on) else {
            return false;
        };
        match message.way.pop_front().unwrap() {
            Part::Through(gate, seconds) => {
                let free = self.free.entry(gate).or_default();
                message.first_byte = message.first_byte.max(*free);
                *free = message.first_byte + seconds;
                message.last_byte = message.last_byte.max(*free);
            }
            Part::Beside(gate, seconds) => {
                let free = self.free.entry(gate).or_default();
                *free = free.max(message.first_byte) + seconds;
                let all = *free;
                let far = self.half.entry(gate).or_default();
                *far = far.max(message.first_byte) + 2.0 * seconds;
                message.last_byte = message.last_byte.max(far.min(all));
            }
            Part::Leaves => {
                let (from, step) = message.key;
                let end = message.last_byte.max(message.occupied);
                self.ranks[from].ends.push((step, end));
            }
            Part::Flies(seconds) => {
                message.first_byte += seconds;
                message.last_byte += seconds;
            }
        }
        true
    }

    /// First step of a rank whose message has arrived, and which waits for it.
    fn arrived(&self, rank: usize) -> Option<usize> {
        let has_arrived = |message: &&Message| {
            let goes = message.asks == 0.0 && message.way.is_empty();
            goes && message.last_byte <= self.now && message.to == rank
        };
        let arrived = self.messages.iter().filter(has_arrived);
        let steps = arrived.filter_map(|message| message.awaited.map(|(step, _)| step));
        steps.min()
    }

    /// Receives the message for which a rank's step waits.
    fn takes(&mut self, rank: usize, step: usize) {
        let is_it = |message: &Message| {
            message.to == rank && message.awaited.is_some_and(|(awaits, _)| awaits == step)
        };
        let place = self.messages.iter().position(is_it).unwrap();
        let message = self.messages.remove(place);
        let (step, since) = message.awaited.unwrap();
        let work = self.work(message.to, message.key.0, message.bytes, Link::receive);
        let receiver = &mut self.ranks[message.to];
        // The work is done while it arrives, if the rank is free then.
        let begins = (message.last_byte - work).max(since).max(receiver.free);
        receiver.free = begins + work;
        receiver.ends.push((step, receiver.free));
    }

    fn a_step_ends(&mut self) -> bool {
        for (rank, plan) in self.ranks.iter_mut().zip(self.plans) {
            if let Some(place) = rank.ends.iter().position(|&(_, end)| end <= self.now) {
                let (step, end) = rank.ends.remove(place);
                rank.done[step] = true;
                rank.end = rank.end.max(end);
                rank.look_for_next(plan);
                return true;
            }
        }
        false
    }

    /// Begins the first step that the lowest free rank may begin, or receives, whichever is first
    /// in its list.
    fn a_rank_goes_on(&mut self) -> bool {
        let may = |&rank: &usize| {
            let state = &self.ranks[rank];
            state.free <= self.now && (state.next.is_some() || self.arrived(rank).is_some())
        };
        let Some(rank) = (0..self.ranks.len()).find(may) else {
            return false;
        };
        match (self.arrived(rank), self.ranks[rank].next) {
            (Some(arrived), Some(next)) if arrived < next => self.takes(rank, arrived),
            (Some(arrived), None) => self.takes(rank, arrived),
            _ => self.begins(rank),
        }
        true
    }

    /// Begins the first step that a rank may begin.
    fn begins(&mut self, rank: usize) {
        let state = &mut self.ranks[rank];
        let step = state.next.take().unwrap();
        state.begun[step] = true;
        match self.plans[rank].steps()[step].action {
            Action::Send { to, tag, range } => self.sends((rank, step), to, tag, range.length),
            Action::Receive { from, tag, .. } => self.awaits(from, rank, tag, step),
            Action::Reduce { left: range, .. } | Action::Copy { from: range, .. } => {
                let seconds = match self.one_port {
                    true => 0.0,
                    false => self.network.computing.seconds(range.length),
                };
                state.free = self.now + seconds;
                state.ends.push((step, state.free));
            }
        }
        self.ranks[rank].look_for_next(&self.plans[rank]);
    }

    fn sends(&mut self, key: Key, to: usize, tag: u32, bytes: u64) {
        let occupied = self.now + self.work(key.0, to, bytes, Link::send);
        self.ranks[key.0].free = occupied;
        let link = self.network.link(key.0, to);
        let message = Message {
            key,
            to,
            tag,
            bytes,
            began: self.now,
            occupied,
            awaited: self.awaited.remove(&(key.0, to, tag)),
            asks: link.map_or(0.0, |link| link.handshake(bytes)),
            way: VecDeque::new(),
            first_byte: self.now,
            last_byte: self.now,
        };
        let asks = message.asks > 0.0;
        let place = self.messages.partition_point(|other| other.key < key);
        self.messages.insert(place, message);
        if !asks {
            self.goes(place);
        }
    }

    fn awaits(&mut self, from: usize, to: usize, tag: u32, step: usize) {
        let awaited = (step, self.now);
        let is_it = |sent: &&mut Message| (sent.key.0, sent.to, sent.tag) == (from, to, tag);
        match self.messages.iter_mut().find(is_it) {
            Some(sent) => sent.awaited = Some(awaited),
            None => {
                self.awaited.insert((from, to, tag), awaited);
            }
        }
    }

    /// `os(m)` or `or(m)`; the work in it is limited to the gap of the closest link of the rank.
    fn work(&self, rank: usize, peer: usize, bytes: u64, of: fn(&Link, u64) -> f64) -> f64 {
        let here = self.network.cluster_of()[rank];
        let closest = match self.network.on_host(here) {
            Some(link) => link.gap(bytes),
            None => self.network.uplink(here, bytes),
        };
        match self.network.link(rank, peer) {
            Some(link) if !self.one_port => of(link, bytes).min(closest),
            _ => 0.0,
        }
    }

    /// All parts of a message's path.
    fn way(&self, message: &Message) -> VecDeque<Part> {
        use Gate::*;
        use Part::*;
        let (network, to, bytes) = (self.network, message.to, message.bytes);
        let (from, step) = message.key;
        let met = self.met(from, to, step);
        let link = network.link(from, to);
        let gap = met.gamma * link.map_or(0.0, |link| link.gap(bytes)) + met.delay(bytes);
        let flies = Flies(met.gamma * link.map_or(0.0, Link::latency));
        let [here, there] = [from, to].map(|rank| network.cluster_of()[rank]);
        let [host, other] = [from, to].map(|rank| network.host_of()[rank]);
        let distance = match self.one_port {
            true => Distance::Host,
            false => network.distance(from, to),
        };
        let card = |cluster| {
            let known = network.between_hosts(cluster);
            known.map_or(0.0, |link| link.gap(bytes)).min(gap)
        };
        match distance {
            Distance::Host => VecDeque::from(vec![
                Through(PortOut(from), gap),
                Leaves,
                flies,
                Through(PortIn(to), gap),
            ]),
            Distance::Cluster => VecDeque::from(vec![
                Through(CardOut(host), gap),
                Leaves,
                flies,
                Through(CardIn(other), gap),
            ]),
            Distance::Grid => VecDeque::from(vec![
                Beside(CardOut(host), card(here)),
                Through(Uplink(here), network.uplink(here, bytes)),
                Through(Connection(from, to), gap),
                Leaves,
                flies,
                Through(Downlink(there), network.downlink(there, bytes)),
                Beside(CardIn(other), card(there)),
            ]),
        }
    }

    /// Contention of a message of a total exchange inside a cluster: from a rank that sends to more
    /// than two thirds of the others there, to one that receives from as many.
    fn met(&self, from: usize, to: usize, step: usize) -> Contention {
        let clusters = self.network.cluster_of();
        let here = clusters[from];
        let Some(known) = self.network.contention(here) else {
            return Contention::NONE;
        };
        let members = || (0..clusters.len()).filter(|&rank| clusters[rank] == here);
        let others = members().count() - 1;
        let senders = || members().filter(|&rank| self.receivers[rank].contains(&to));
        let is_part = clusters[to] == here
            && 3 * self.receivers[from].len() > 2 * others
            && 3 * senders().count() > 2 * others;
        let plan = &self.plans[from];
        let mut needs = plan.needs(&plan.steps()[step]).iter();
        let is_after_another =
            needs.any(|&need| receiver(plan.steps()[need as usize].action).is_some());
        match (is_part, is_after_another) {
            (false, _) => Contention::NONE,
            (true, false) => known,
            (true, true) => Contention {
                delta: 0.0,
                ..known
            },
        }
    }
}

/// Receivers of a rank in its own cluster.
fn near(network: &Network, plans: &[Plan], rank: usize) -> HashSet<usize> {
    let clusters = network.cluster_of();
    let steps = plans[rank].steps().iter();
    let receivers = steps.filter_map(|step| receiver(step.action));
    receivers
        .filter(|&to| clusters[to] == clusters[rank])
        .collect()
}

fn receiver(action: Action) -> Option<usize> {
    match action {
        Action::Send { to, .. } => Some(to),
        _ => None,
    }
}

impl Rank {
    fn new(plan: &Plan) -> Self {
        let mut rank = Rank {
            begun: vec![false; plan.steps().len()],
            done: vec![false; plan.steps().len()],
            ..Rank::default()
        };
        rank.look_for_next(plan);
        rank
    }

    fn look_for_next(&mut self, plan: &Plan) {
        let may_begin = |&step: &usize| {
            let needs = plan.needs(&plan.steps()[step]);
            !self.begun[step] && needs.iter().all(|&need| self.done[need as usize])
        };
        self.next = (0..plan.steps().len()).find(may_begin);
    }
}
