//! The events: ranks that may go on, messages that start and that come.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

use super::links::{Links, Passing};
use super::{Bar, Doing, Options, Outcome, Sending, SimulationError};
use crate::collective::plan::{Action, Plan};
use crate::collective::read::exchanges::{Exchanges, is_after_another};
use crate::collective::{Dependencies, Network};
use crate::platform::Contention;

/// A message by sender, receiver and tag.
type Name = (u32, u32, u32);

/// A step of a rank.
type Place = (usize, u32);

#[derive(Debug, Clone, Copy)]
enum What {
    /// The rank may have something to do.
    Wake(usize),
    /// A step ends.
    End(Place),
    /// A message starts from its sender.
    Start(usize),
    /// The first byte of a message comes to its receiver.
    Come(usize, Passing),
    /// Its last byte does.
    There(usize),
}

struct Event {
    at: f64,
    /// Events of one time in the order in which they came up.
    number: u64,
    what: What,
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Event {}

impl Ord for Event {
    /// The earliest is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .at
            .total_cmp(&self.at)
            .then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A message, from whichever side is there first.
struct Message {
    name: Name,
    bytes: u64,
    /// The step that sends it, and since when it may go.
    sent: Option<(u32, f64)>,
    /// The step that receives it, and since when it is awaited.
    awaited: Option<(u32, f64)>,
    /// Whether it has started.
    started: bool,
    /// When its last byte is there.
    there: Option<f64>,
}

/// One rank.
struct Rank {
    dependencies: Dependencies,
    /// For each step, how many it still waits for.
    missing: Vec<u32>,
    ready: BinaryHeap<std::cmp::Reverse<u32>>,
    left: usize,
    /// Until when it is occupied.
    busy: f64,
    /// Whether an event is on its way that wakes it: one is enough.
    waking: bool,
    end: f64,
}

/// A simulation.
pub struct Engine<'a> {
    network: &'a Network,
    plans: &'a [Plan],
    unit_bytes: u64,
    options: Options,
    links: Links<'a>,
    /// Where contention is known.
    exchanges: Option<Exchanges<'a>>,
    ranks: Vec<Rank>,
    messages: Vec<Message>,
    known: HashMap<Name, usize>,
    events: BinaryHeap<Event>,
    number: u64,
    outcome: Outcome,
}

impl<'a> Engine<'a> {
    /// Before the first step.
    pub fn new(network: &'a Network, plans: &'a [Plan], unit_bytes: u64, options: Options) -> Self {
        let mut engine = Engine {
            network,
            plans,
            unit_bytes,
            options,
            links: Links::new(network, options.sending),
            exchanges: Exchanges::of_plans(network, plans),
            ranks: plans.iter().map(Rank::new).collect(),
            messages: Vec::new(),
            known: HashMap::new(),
            events: BinaryHeap::new(),
            number: 0,
            outcome: Outcome::default(),
        };
        for rank in 0..plans.len() {
            engine.at(0.0, What::Wake(rank));
        }
        engine
    }

    fn at(&mut self, at: f64, what: What) {
        self.number += 1;
        let number = self.number;
        self.events.push(Event { at, number, what });
    }

    /// To the end.
    pub fn run(mut self) -> Result<Outcome, SimulationError> {
        while let Some(Event { at, what, .. }) = self.events.pop() {
            match what {
                What::Wake(rank) => {
                    self.ranks[rank].waking = false;
                    self.wake(rank, at);
                }
                What::End((rank, step)) => self.end(rank, step, at),
                What::Start(message) => self.start(message, at),
                What::Come(message, passing) => self.come(message, passing),
                What::There(message) => self.received(message, at),
            }
        }
        for (rank, state) in self.ranks.iter().enumerate() {
            if state.left > 0 {
                let step = state
                    .missing
                    .iter()
                    .position(|&missing| missing != Rank::DONE);
                let step = step.unwrap_or(0);
                return Err(SimulationError::Deadlock { rank, step });
            }
        }
        self.outcome.ends = self.ranks.iter().map(|rank| rank.end).collect();
        self.outcome.seconds = self.outcome.ends.iter().copied().fold(0.0, f64::max);
        self.outcome.messages = self.messages.len();
        let by_start = |one: &Bar, other: &Bar| one.start.total_cmp(&other.start);
        self.outcome.bars.sort_by(by_start);
        Ok(self.outcome)
    }

    /// A rank that is free does the first of what it may do.
    fn wake(&mut self, rank: usize, now: f64) {
        while self.ranks[rank].busy <= now {
            let Some(std::cmp::Reverse(step)) = self.ranks[rank].ready.pop() else {
                return;
            };
            let busy = self.begin(rank, step, now);
            self.ranks[rank].busy = now + busy;
        }
        let state = &mut self.ranks[rank];
        if !state.ready.is_empty() && !state.waking {
            state.waking = true;
            let busy = state.busy;
            self.at(busy, What::Wake(rank));
        }
    }

    /// Starts a step; how long its rank is occupied.
    fn begin(&mut self, rank: usize, step: u32, now: f64) -> f64 {
        let action = self.plans[rank].steps()[step as usize].action;
        match action {
            Action::Send { to, tag, range } => {
                let bytes = range.length * self.unit_bytes;
                let message = self.message((rank as u32, to as u32, tag), bytes);
                self.messages[message].sent = Some((step, now));
                let link = self.network.link(rank, to);
                let asks = link.is_some_and(|link| link.handshake(bytes) > 0.0);
                let busy = self.occupied(rank, to, bytes, true);
                if !asks {
                    self.start(message, now);
                    // What is sent at once is out of the way.
                    self.end_after(busy, rank, step, now);
                } else {
                    self.ask(message, now);
                }
                busy
            }
            Action::Receive { from, tag, range } => {
                let bytes = range.length * self.unit_bytes;
                let message = self.message((from as u32, rank as u32, tag), bytes);
                self.messages[message].awaited = Some((step, now));
                if !self.messages[message].started && self.messages[message].sent.is_some() {
                    self.ask(message, now);
                }
                self.received(message, now);
                0.0
            }
            Action::Reduce { left, .. } => {
                self.compute(rank, step, left.length, Doing::Reduce, now)
            }
            Action::Copy { from, .. } => self.compute(rank, step, from.length, Doing::Copy, now),
        }
    }

    fn compute(&mut self, rank: usize, step: u32, units: u64, doing: Doing, now: f64) -> f64 {
        let bytes = units * self.unit_bytes;
        let seconds = match self.options.sending {
            // The formulas of the thesis know no computing.
            Sending::OnePort => 0.0,
            Sending::Overlapping => self.network.computing.seconds(bytes),
        };
        self.end_after(seconds, rank, step, now);
        self.bar(rank, now, now + seconds, doing, None, bytes);
        seconds
    }

    /// `os(m)` or `or(m)`: work, of which there is no more than the closest link takes; what was
    /// measured beyond that is waiting.
    fn occupied(&self, rank: usize, peer: usize, bytes: u64, sending: bool) -> f64 {
        if self.options.sending == Sending::OnePort {
            return 0.0;
        }
        let network = self.network;
        let here = network.cluster_of()[rank];
        let least = match network.on_host(here) {
            Some(closest) => closest.gap(bytes),
            None => network.uplink(here, bytes),
        };
        network.link(rank, peer).map_or(0.0, |link| match sending {
            true => link.send(bytes).min(least),
            false => link.receive(bytes).min(least),
        })
    }

    fn message(&mut self, name: Name, bytes: u64) -> usize {
        let next = self.messages.len();
        let place = *self.known.entry(name).or_insert(next);
        if place == next {
            self.messages.push(Message {
                name,
                bytes,
                sent: None,
                awaited: None,
                started: false,
                there: None,
            });
        }
        place
    }

    /// A message that asks first starts when both sides are there and the answer has come.
    fn ask(&mut self, message: usize, now: f64) {
        let Message {
            name,
            bytes,
            sent,
            awaited,
            ..
        } = self.messages[message];
        let (Some((_, asked)), Some(_)) = (sent, awaited) else {
            return;
        };
        let Some(link) = self.network.link(name.0 as usize, name.1 as usize) else {
            return self.start(message, now);
        };
        // The question was on its way while the receiver was not there yet.
        let saved = (now - asked).min(link.latency());
        let answered = now + (link.handshake(bytes) - saved).max(0.0);
        self.messages[message].started = true;
        self.at(answered, What::Start(message));
    }

    fn start(&mut self, message: usize, now: f64) {
        let Message {
            name, bytes, sent, ..
        } = self.messages[message];
        self.messages[message].started = true;
        let (from, to) = (name.0 as usize, name.1 as usize);
        let met = self.met_by(message);
        let way = self.links.way((from, to, bytes), met);
        let passing = self.links.depart(now, &way);
        let coming = passing.after(way.latency);
        self.at(coming.head, What::Come(message, coming));
        if let (true, Some((step, _))) = (way.handshake > 0.0, sent) {
            self.at(passing.tail, What::End((from, step)));
        }
        if self.network.cluster_of()[from] != self.network.cluster_of()[to] {
            self.outcome.bytes_between += bytes;
        }
        self.bar(
            from,
            passing.head,
            passing.tail,
            Doing::Send,
            Some(to),
            bytes,
        );
    }

    /// The contention that a message meets which was sent.
    fn met_by(&self, message: usize) -> Contention {
        let Message { name, sent, .. } = self.messages[message];
        let (Some(exchanges), Some((step, _))) = (&self.exchanges, sent) else {
            return Contention::NONE;
        };
        let (from, to) = (name.0 as usize, name.1 as usize);
        exchanges.contention(from, to, is_after_another(&self.plans[from], step))
    }

    fn come(&mut self, message: usize, passing: Passing) {
        let Message { name, bytes, .. } = self.messages[message];
        let (from, to) = (name.0 as usize, name.1 as usize);
        let way = self.links.way((from, to, bytes), self.met_by(message));
        let there = self.links.arrive(passing, &way);
        self.messages[message].there = Some(there.tail);
        self.bar(
            to,
            there.head,
            there.tail,
            Doing::Receive,
            Some(from),
            bytes,
        );
        self.at(there.tail, What::There(message));
    }

    /// A message that is there and awaited is taken by its rank.
    fn received(&mut self, message: usize, now: f64) {
        let Message {
            name,
            bytes,
            awaited,
            there,
            ..
        } = self.messages[message];
        let (Some((step, since)), Some(there)) = (awaited, there) else {
            return;
        };
        if there > now {
            return;
        }
        let (from, to) = (name.0 as usize, name.1 as usize);
        let work = self.occupied(to, from, bytes, false);
        // What is received while it comes in ends with its last byte.
        let ready = there.max(since);
        let begun = self.ranks[to].busy.max(ready - work);
        let done = (begun + work).max(now);
        self.ranks[to].busy = begun + work;
        self.at(done, What::End((to, step)));
    }

    /// What a rank does by itself ends; at once, before it does anything else, where that takes
    /// no time.
    fn end_after(&mut self, seconds: f64, rank: usize, step: u32, now: f64) {
        match seconds > 0.0 {
            true => self.at(now + seconds, What::End((rank, step))),
            false => self.finish(rank, step, now),
        }
    }

    fn end(&mut self, rank: usize, step: u32, now: f64) {
        self.finish(rank, step, now);
        self.wake(rank, now);
    }

    fn finish(&mut self, rank: usize, step: u32, now: f64) {
        let state = &mut self.ranks[rank];
        state.left -= 1;
        state.end = state.end.max(now);
        state.missing[step as usize] = Rank::DONE;
        for &next in state.dependencies.successors(step) {
            let missing = &mut state.missing[next as usize];
            *missing -= 1;
            if *missing == 0 {
                state.ready.push(std::cmp::Reverse(next));
            }
        }
    }

    fn bar(
        &mut self,
        rank: usize,
        start: f64,
        end: f64,
        doing: Doing,
        peer: Option<usize>,
        bytes: u64,
    ) {
        if self.options.timeline {
            self.outcome.bars.push(Bar {
                rank,
                start,
                end,
                doing,
                peer,
                bytes,
            });
        }
    }
}

impl Rank {
    /// In place of a number of missing steps.
    const DONE: u32 = u32::MAX;

    fn new(plan: &Plan) -> Self {
        let dependencies = Dependencies::new(plan);
        Rank {
            missing: dependencies.pending().to_vec(),
            ready: dependencies.ready().map(std::cmp::Reverse).collect(),
            left: plan.steps().len(),
            busy: 0.0,
            waking: false,
            end: 0.0,
            dependencies,
        }
    }
}
