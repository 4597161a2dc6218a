//! Simulation engine: steps that begin, messages that start and arrive.

use crate::network::links::{Network, Overhead};
use crate::plan::dependencies::Dependencies;
use crate::plan::step::{Action, Plan};
use crate::read::exchanges::{Exchanges, is_after_another};
use crate::read::moved;
use crate::read::simulate::events::{EventKind, Events};
use crate::read::simulate::links::{Links, MessagePath, Passing};
use crate::read::simulate::outcome::{Options, Outcome, Sending, SimulationError};
use crate::read::simulate::timeline::{Bar, Doing};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use treepie_platform::Contention;

/// Runs the plans of all ranks, whose units have `unit_bytes` bytes, on a network.
///
/// # Errors
/// Plans that do not match the ranks, and plans that never end.
pub fn simulate(
    network: &Network,
    plans: &[Plan],
    unit_bytes: u64,
    options: Options,
) -> Result<Outcome, SimulationError> {
    if plans.len() != network.ranks() {
        return Err(SimulationError::Plans {
            plans: plans.len(),
            ranks: network.ranks(),
        });
    }
    let outcome = Engine::new(network, plans, unit_bytes, options).run()?;
    Ok(Outcome {
        seconds: (outcome.seconds).max(moved::seconds_of_plans(network, plans, unit_bytes)),
        ..outcome
    })
}

/// Message. Messages are numbered by sender, and those of a sender by step.
struct Message {
    from: usize,
    to: usize,
    /// Sending step, and time from which it may be sent.
    step: u32,
    sent: Option<f64>,
    bytes: u64,
    /// Receiving step, and time from which it is awaited.
    awaited: Option<(u32, f64)>,
    /// True if it has started, or the answer that starts it is in flight.
    started: bool,
    /// First and last byte at the next place of its path.
    passing: Passing,
    /// True if its last byte has arrived.
    is_there: bool,
}

/// State of one rank.
struct Rank {
    dependencies: Dependencies,
    /// For each step, the number of its incomplete dependencies.
    missing: Vec<u32>,
    /// For each step, the message that it sends or receives.
    messages: Vec<u32>,
    ready: BinaryHeap<Reverse<u32>>,
    left: usize,
    /// Time until which it is occupied.
    busy: f64,
    /// True if an event that wakes it is pending: one is enough.
    waking: bool,
    end: f64,
}

/// Simulation.
pub struct Engine<'a> {
    network: &'a Network,
    plans: &'a [Plan],
    unit_bytes: u64,
    options: Options,
    links: Links<'a>,
    /// Exchanges, if contention is known.
    exchanges: Option<Exchanges<'a>>,
    ranks: Vec<Rank>,
    messages: Vec<Message>,
    events: Events,
    outcome: Outcome,
}

impl<'a> Engine<'a> {
    /// Creates a simulation in the state before the first step.
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
            events: Events::default(),
            outcome: Outcome::default(),
        };
        engine.number_messages();
        for rank in 0..plans.len() {
            engine.wake_when_free(rank, 0.0);
        }
        engine
    }

    /// Numbers all messages, and finds the step that receives each.
    fn number_messages(&mut self) {
        let mut numbers = HashMap::new();
        for (from, plan) in self.plans.iter().enumerate() {
            for (step, place) in plan.steps().iter().zip(0..) {
                let Action::Send { to, tag, range } = step.action else {
                    continue;
                };
                let number = self.messages.len() as u32;
                numbers.insert((from, to, tag), number);
                self.ranks[from].messages[place as usize] = number;
                self.messages.push(Message {
                    from,
                    to,
                    step: place,
                    sent: None,
                    bytes: range.length * self.unit_bytes,
                    awaited: None,
                    started: false,
                    passing: Passing::default(),
                    is_there: false,
                });
            }
        }
        for (to, plan) in self.plans.iter().enumerate() {
            for (place, step) in plan.steps().iter().enumerate() {
                if let Action::Receive { from, tag, .. } = step.action
                    && let Some(&number) = numbers.get(&(from, to, tag))
                {
                    self.ranks[to].messages[place] = number;
                }
            }
        }
    }

    /// Runs the simulation to its end.
    pub fn run(mut self) -> Result<Outcome, SimulationError> {
        while let Some((at, what)) = self.events.pop() {
            match what {
                EventKind::There(message) => self.there(message, at),
                EventKind::End((rank, step)) => self.finish(rank, step, at),
                EventKind::Start(message) => self.start(message, at),
                EventKind::Near(message) => self.near(message),
                EventKind::Come(message) => self.come(message),
                EventKind::Wake(rank) => self.wake(rank, at),
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

    /// Begins the first steps that a rank may execute, while it is free and no other event comes
    /// first.
    fn wake(&mut self, rank: usize, now: f64) {
        while self.ranks[rank].busy <= now && !self.events.are_before(now, EventKind::Wake(rank)) {
            let Some(Reverse(step)) = self.ranks[rank].ready.pop() else {
                break;
            };
            self.begin(rank, step, now);
        }
        self.ranks[rank].waking = false;
        self.wake_when_free(rank, now);
    }

    fn wake_when_free(&mut self, rank: usize, now: f64) {
        let state = &mut self.ranks[rank];
        if !state.ready.is_empty() && !state.waking {
            state.waking = true;
            let free = state.busy.max(now);
            self.events.at(free, EventKind::Wake(rank));
        }
    }

    fn begin(&mut self, rank: usize, step: u32, now: f64) {
        let message = self.ranks[rank].messages[step as usize] as usize;
        match self.plans[rank].steps()[step as usize].action {
            Action::Send { .. } => self.send(message, now),
            Action::Receive { .. } => self.receive(message, step, now),
            Action::Reduce { left, .. } => {
                self.compute(rank, step, left.length, Doing::Reduce, now);
            }
            Action::Copy { from, .. } => self.compute(rank, step, from.length, Doing::Copy, now),
        }
    }

    fn compute(&mut self, rank: usize, step: u32, units: u64, doing: Doing, now: f64) {
        let bytes = units * self.unit_bytes;
        let seconds = match self.options.sending {
            // The formulas of the thesis do not include computing.
            Sending::OnePort => 0.0,
            Sending::Overlapping => self.network.computing.seconds(bytes),
        };
        let end = now + seconds;
        self.ranks[rank].busy = end;
        self.bar(rank, now, end, doing, None, bytes);
        self.ends_at(end, rank, step, now);
    }

    fn send(&mut self, message: usize, now: f64) {
        let sent = &mut self.messages[message];
        sent.sent = Some(now);
        let &mut Message {
            from,
            to,
            step,
            bytes,
            ..
        } = sent;
        let link = self.network.link(from, to);
        let asks = link.is_some_and(|link| link.handshake(bytes) > 0.0);
        let end = now + self.occupied(from, to, bytes, Overhead::Send);
        self.ranks[from].busy = end;
        if asks {
            return self.ask(message, now);
        }
        self.start(message, now);
        // An eager message no longer depends on its sender.
        self.ends_at(end, from, step, now);
    }

    fn receive(&mut self, message: usize, step: u32, now: f64) {
        // A message that no rank sends never arrives.
        let Some(awaited) = self.messages.get_mut(message) else {
            return;
        };
        awaited.awaited.get_or_insert((step, now));
        match awaited.is_there {
            true => self.take(message, now),
            false => self.ask(message, now),
        }
    }

    fn occupied(&self, rank: usize, peer: usize, bytes: u64, by: Overhead) -> f64 {
        match self.options.sending {
            Sending::OnePort => 0.0,
            Sending::Overlapping => self.network.occupied(rank, peer, bytes, by),
        }
    }

    /// Starts a message with a rendezvous when both sides are ready and the answer has arrived.
    fn ask(&mut self, message: usize, now: f64) {
        let asking = &mut self.messages[message];
        let (Some(asked), Some(_), false) = (asking.sent, asking.awaited, asking.started) else {
            return;
        };
        asking.started = true;
        let (handshake, latency) = match self.network.link(asking.from, asking.to) {
            Some(link) => (link.handshake(asking.bytes), link.latency()),
            None => (0.0, 0.0),
        };
        // The request was in flight before the receiver was ready.
        let saved = (now - asked).min(latency);
        let answered = now + (handshake - saved).max(0.0);
        self.events.at(answered, EventKind::Start(message));
    }

    fn start(&mut self, message: usize, now: f64) {
        let way = self.way(message);
        let passing = self.links.depart(now, &way);
        let started = &mut self.messages[message];
        started.started = true;
        started.passing = passing.after(way.latency);
        let &mut Message {
            from,
            to,
            step,
            bytes,
            sent,
            ..
        } = started;
        let head = started.passing.head;
        if way.handshake > 0.0 {
            let began = sent.unwrap_or(now);
            let done = began + self.occupied(from, to, bytes, Overhead::Send);
            self.events
                .at(passing.tail.max(done), EventKind::End((from, step)));
        }
        if self.network.cluster_of()[from] != self.network.cluster_of()[to] {
            self.outcome.bytes_between += bytes;
        }
        let (start, end) = (passing.head, passing.tail);
        self.bar(from, start, end, Doing::Send, Some(to), bytes);
        match way.is_far() {
            true => self.events.at(head, EventKind::Near(message)),
            false => self.events.at(head, EventKind::Come(message)),
        }
    }

    /// Occupied times of a message.
    fn way(&self, message: usize) -> MessagePath {
        let Message {
            from,
            to,
            step,
            bytes,
            ..
        } = self.messages[message];
        let met = self.exchanges.as_ref().map(|exchanges| {
            let is_after_another = is_after_another(&self.plans[from], step);
            exchanges.contention(from, to, is_after_another)
        });
        let met = met.unwrap_or(Contention::NONE);
        self.links.way((from, to, bytes), met)
    }

    fn near(&mut self, message: usize) {
        let way = self.way(message);
        let passing = self.links.enter(self.messages[message].passing, &way);
        self.messages[message].passing = passing;
        self.events.at(passing.head, EventKind::Come(message));
    }

    fn come(&mut self, message: usize) {
        let way = self.way(message);
        let passing = self.links.arrive(self.messages[message].passing, &way);
        self.messages[message].passing = passing;
        let Message {
            from, to, bytes, ..
        } = self.messages[message];
        let (start, end) = (passing.head, passing.tail);
        self.bar(to, start, end, Doing::Receive, Some(from), bytes);
        self.events.at(end, EventKind::There(message));
    }

    /// Makes the receive of an awaited message executable for its rank.
    fn there(&mut self, message: usize, now: f64) {
        self.messages[message].is_there = true;
        let Message { to, awaited, .. } = self.messages[message];
        if let Some((step, _)) = awaited {
            self.ranks[to].ready.push(Reverse(step));
            self.wake_when_free(to, now);
        }
    }

    /// Receives a message that has arrived and is awaited.
    fn take(&mut self, message: usize, now: f64) {
        let Message {
            from,
            to,
            bytes,
            awaited,
            passing,
            ..
        } = self.messages[message];
        let Some((step, since)) = awaited else {
            return;
        };
        let work = self.occupied(to, from, bytes, Overhead::Receive);
        // A message that is received while it arrives ends with its last byte.
        let state = &mut self.ranks[to];
        state.busy = (state.busy.max(since) + work).max(passing.tail);
        let end = state.busy;
        self.ends_at(end, to, step, now);
    }

    /// Ends a step: immediately, before its rank executes others, if it takes no time.
    fn ends_at(&mut self, end: f64, rank: usize, step: u32, now: f64) {
        match end > now {
            true => self.events.at(end, EventKind::End((rank, step))),
            false => self.finish(rank, step, now),
        }
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
                state.ready.push(Reverse(next));
            }
        }
        self.wake_when_free(rank, now);
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
    /// Placeholder for a number of missing steps.
    const DONE: u32 = u32::MAX;

    /// Placeholder for the number of a message.
    const NONE: u32 = u32::MAX;

    fn new(plan: &Plan) -> Self {
        let dependencies = Dependencies::new(plan);
        Rank {
            missing: dependencies.pending().to_vec(),
            messages: vec![Rank::NONE; plan.steps().len()],
            ready: dependencies.ready().map(Reverse).collect(),
            left: plan.steps().len(),
            busy: 0.0,
            waking: false,
            end: 0.0,
            dependencies,
        }
    }
}
