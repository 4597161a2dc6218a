//! Time: lost and late messages, crashes and suspicions.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::process::{Id, Process, Report, Wire};
use crate::views::{Decision, proposal};

/// Microseconds between two checks by a process for missing messages.
const TICK: u64 = 20_000;

/// Events and their times in microseconds.
#[derive(Debug, Clone)]
pub struct Schedule {
    pub n: usize,
    pub k: usize,
    pub seed: u64,
    /// Fraction of the messages that are lost.
    pub loss: f64,
    /// Maximum time of a message.
    pub delay: u64,
    /// Time and source of each broadcast.
    pub broadcasts: Vec<(u64, usize)>,
    /// Time and process.
    pub crashes: Vec<(u64, usize)>,
    /// Time, and the process that all others suspect from about that time.
    pub suspicions: Vec<(u64, usize)>,
    pub slow: Option<Slow>,
    /// True if processes check for missing messages; otherwise, the token only moves with messages.
    pub ticks: bool,
    /// True for iRBP: an excluded process stops. False for RBP: it continues.
    pub mended: bool,
    /// Time from which no events are scheduled.
    pub quiet_from: u64,
    pub end: u64,
}

/// A process that others have cause to suspect: messages between it and all others, except the next
/// on the ring, take longer for some time.
#[derive(Debug, Clone)]
pub struct Slow {
    pub process: usize,
    pub next: usize,
    pub start: u64,
    pub end: u64,
    pub later: u64,
}

/// Result of a schedule.
#[derive(Debug)]
pub struct Outcome {
    pub processes: Vec<Process>,
    pub messages: u64,
    /// Mean seconds from a broadcast to its delivery by all, over those that are delivered.
    pub mean_latency: f64,
    /// Number of views that ended.
    pub views: u32,
    pub was_excluded_alive: bool,
    sent: Vec<Id>,
}

impl Outcome {
    /// The processes that never stopped.
    pub fn correct(&self) -> Vec<&Process> {
        self.processes
            .iter()
            .filter(|process| process.alive)
            .collect()
    }

    /// The broadcasts of processes that never stopped.
    pub fn sent_by_correct(&self) -> Vec<Id> {
        let alive = |id: &&Id| self.processes[id.0].alive;
        self.sent.iter().filter(alive).copied().collect()
    }
}

/// Xorshift with multiplication (Vigna 2016): the same schedules everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 16) % end.max(1)
    }

    pub fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Schedule {
    /// Nothing is lost, and a broadcast follows when the previous one is ordered.
    pub fn quiet(n: usize, k: usize, broadcasts: usize) -> Self {
        Schedule {
            n,
            k,
            seed: 1,
            loss: 0.0,
            delay: 100,
            broadcasts: (0..broadcasts as u64)
                .map(|number| (1_000 * number, number as usize * 7 % n))
                .collect(),
            crashes: Vec::new(),
            suspicions: Vec::new(),
            slow: None,
            ticks: false,
            mended: true,
            quiet_from: u64::MAX,
            end: u64::MAX,
        }
    }

    /// Figure A.1: broadcasts of random processes, 10 per second on average.
    pub fn poisson(n: usize, k: usize, broadcasts: usize) -> Self {
        let mut random = Random::new(n as u64 * 1_000 + k as u64);
        let mut now = 0.0;
        let next = |_| {
            now -= 1e5 * (1.0 - random.part()).ln();
            (now as u64, random.below(n as u64) as usize)
        };
        Schedule {
            broadcasts: (0..broadcasts).map(next).collect(),
            ..Schedule::quiet(n, k, 0)
        }
    }

    /// Five processes. The first has the token and a broadcast when it is cut off from all except
    /// the second, which also has a broadcast and crashes soon after. Both are suspected: the first
    /// one wrongly.
    pub fn cut_off(seed: u64, mended: bool) -> Self {
        let mut random = Random::new(seed + 1);
        let mut soon = |least: u64| least + random.below(3_000);
        let start = soon(10_000);
        Schedule {
            broadcasts: vec![
                (start + soon(0), 0),
                (start + soon(0), 1),
                (start + soon(5_000), 2),
                (start + soon(60_000), 3),
            ],
            crashes: vec![(start + soon(4_000), 1)],
            suspicions: vec![(start + soon(8_000), 0), (start + soon(8_000), 1)],
            slow: Some(Slow {
                process: 0,
                next: 1,
                start,
                end: start + 30_000,
                later: soon(40_000),
            }),
            n: 5,
            k: 1,
            seed: seed + 77,
            loss: 0.05,
            delay: 1_000,
            ..Schedule::random(seed, mended)
        }
    }

    /// Three to seven processes with lost and delayed messages. One is suspected while it is slow,
    /// or because it has crashed; in some schedules the next one on the ring also crashes.
    pub fn random(seed: u64, mended: bool) -> Self {
        let mut random = Random::new(seed + 1);
        let n = 3 + random.below(5) as usize;
        let victim = random.below(n as u64) as usize;
        let at = random.below(60_000);
        let crashes_too = n >= 5 && random.below(2) == 0;
        let next = (victim + 1) % n;
        let mut crashes = Vec::new();
        let mut suspicions = vec![(at + random.below(20_000), victim)];
        if random.below(3) == 0 {
            crashes.push((at, victim));
        }
        if crashes_too {
            crashes.push((at + random.below(10_000), next));
            suspicions.push((at + 10_000 + random.below(10_000), next));
        }
        Schedule {
            k: 1 + random.below(n as u64 - 1) as usize,
            seed: seed + 77,
            loss: 0.3 * random.part(),
            delay: 200 + random.below(4_000),
            broadcasts: (0..6)
                .map(|_| (random.below(100_000), random.below(n as u64) as usize))
                .collect(),
            crashes,
            suspicions,
            slow: Some(Slow {
                process: victim,
                next,
                start: at,
                end: at + 30_000,
                later: random.below(60_000),
            }),
            ticks: true,
            mended,
            quiet_from: 150_000,
            end: 1_500_000,
            ..Schedule::quiet(n, 1, 0)
        }
    }
}

#[derive(Debug)]
enum Event {
    Broadcast(usize),
    Come(usize, usize, Wire),
    Tick(usize),
    Crash(usize),
    Suspect(usize, usize),
    Decided(usize, u32),
}

struct Simulation<'a> {
    schedule: &'a Schedule,
    random: Random,
    now: u64,
    count: u64,
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    events: BTreeMap<u64, Event>,
    processes: Vec<Process>,
    messages: u64,
    sent: Vec<(Id, u64)>,
    deliveries: BTreeMap<Id, usize>,
    latencies: Vec<f64>,
    /// Consensus is an object here: the first proposal for a view is decided. Chandra and Toueg's
    /// algorithm gives the same result to a majority.
    decisions: BTreeMap<u32, Decision>,
    was_excluded_alive: bool,
}

/// Runs a schedule.
pub fn run(schedule: &Schedule) -> Outcome {
    let process = |number| Process::new(number, schedule.n, schedule.k);
    let mut simulation = Simulation {
        schedule,
        random: Random::new(schedule.seed),
        now: 0,
        count: 0,
        queue: BinaryHeap::new(),
        events: BTreeMap::new(),
        processes: (0..schedule.n).map(process).collect(),
        messages: 0,
        sent: Vec::new(),
        deliveries: BTreeMap::new(),
        latencies: Vec::new(),
        decisions: BTreeMap::new(),
        was_excluded_alive: false,
    };
    simulation.prepare();
    while let Some(Reverse((at, number))) = simulation.queue.pop() {
        simulation.now = at;
        let event = simulation.events.remove(&number).unwrap();
        let may_end = matches!(event, Event::Tick(_)) && at > schedule.quiet_from;
        if at > schedule.end || may_end && simulation.is_settled() {
            break;
        }
        simulation.handle(event);
    }
    let latencies = &simulation.latencies;
    Outcome {
        messages: simulation.messages,
        mean_latency: latencies.iter().sum::<f64>() / latencies.len().max(1) as f64,
        views: simulation.decisions.len() as u32,
        was_excluded_alive: simulation.was_excluded_alive,
        sent: simulation.sent.iter().map(|one| one.0).collect(),
        processes: simulation.processes,
    }
}

impl Simulation<'_> {
    fn at(&mut self, time: u64, event: Event) {
        self.count += 1;
        self.queue.push(Reverse((time, self.count)));
        self.events.insert(self.count, event);
    }

    /// True if all that still take part are in one view and have delivered the same messages, with
    /// none left.
    fn is_settled(&self) -> bool {
        let mut alive = self.processes.iter().filter(|process| process.alive);
        let Some(first) = alive.next() else {
            return true;
        };
        let is_like = |other: &Process| {
            other.view == first.view
                && other.reports.is_none()
                && other.delivered == first.delivered
        };
        let all = |process: &Process| {
            let ordered = process.orders.values().filter(|order| order.id.is_some());
            ordered.count() == process.delivered.len() && process.unordered().is_empty()
        };
        all(first) && alive.all(|other| is_like(other) && all(other))
    }

    fn prepare(&mut self) {
        let schedule = self.schedule;
        for &(time, source) in &schedule.broadcasts {
            self.at(time, Event::Broadcast(source));
        }
        for &(time, process) in &schedule.crashes {
            self.at(time, Event::Crash(process));
        }
        for &(time, suspect) in &schedule.suspicions {
            for process in (0..schedule.n).filter(|&one| one != suspect) {
                let later = self.random.below(3_000);
                self.at(time + later, Event::Suspect(process, suspect));
            }
        }
        if schedule.ticks {
            for process in 0..schedule.n {
                let first = self.random.below(TICK);
                self.at(first, Event::Tick(process));
            }
        }
    }

    /// Sends to another process. Messages that end a view are sent until they arrive, and so are
    /// never lost.
    fn send(&mut self, from: usize, to: usize, wire: Wire) {
        self.messages += 1;
        let is_sure = matches!(wire, Wire::Reform(_) | Wire::Report(..));
        if !is_sure && self.random.part() < self.schedule.loss {
            return;
        }
        let mut delay = 1 + self.random.below(self.schedule.delay);
        if let Some(slow) = &self.schedule.slow
            && (slow.process == from || slow.process == to)
            && from != slow.next
            && to != slow.next
            && (slow.start..slow.end).contains(&self.now)
        {
            delay += slow.later;
        }
        self.at(self.now + delay, Event::Come(from, to, wire));
    }

    fn send_all(&mut self, from: usize, wire: &Wire) {
        for to in self.processes[from].members.clone() {
            if to != from {
                self.send(from, to, wire.clone());
            }
        }
    }

    fn handle(&mut self, event: Event) {
        let number = match event {
            Event::Broadcast(number)
            | Event::Come(_, number, _)
            | Event::Tick(number)
            | Event::Crash(number)
            | Event::Suspect(number, _)
            | Event::Decided(number, _) => number,
        };
        if !self.processes[number].alive {
            return;
        }
        match event {
            Event::Broadcast(_) => self.broadcast(number),
            Event::Come(from, _, wire) => self.come(from, number, wire),
            Event::Tick(_) => self.tick(number),
            Event::Crash(_) => self.processes[number].alive = false,
            Event::Suspect(_, suspect) => {
                self.processes[number].suspects.insert(suspect);
                if self.processes[number].members.contains(&suspect) {
                    self.reform(number);
                }
            }
            Event::Decided(_, view) => self.decided(number, view),
        }
        self.go_on(number, false);
    }

    fn broadcast(&mut self, source: usize) {
        let id = (source, self.sent.len() as u32);
        self.sent.push((id, self.now));
        self.processes[source].data.insert(id);
        self.send_all(source, &Wire::Data(id));
    }

    /// Delivers, and orders a message if this process has the token.
    fn go_on(&mut self, number: usize, may_move: bool) {
        if self.processes[number].reports.is_some() {
            return self.propose(number);
        }
        loop {
            let delivered = self.processes[number].advance();
            self.note(&delivered);
            let Some((place, order)) = self.processes[number].give_order(may_move) else {
                return;
            };
            let view = self.processes[number].view;
            self.send_all(number, &Wire::Order(view, place, order));
            if may_move {
                return;
            }
        }
    }

    fn note(&mut self, delivered: &[Id]) {
        for &id in delivered {
            let by = self.deliveries.entry(id).or_default();
            *by += 1;
            if *by == self.schedule.n {
                let sent = self.sent[id.1 as usize].1;
                self.latencies.push((self.now - sent) as f64 * 1e-6);
            }
        }
    }

    fn come(&mut self, from: usize, to: usize, wire: Wire) {
        let process = &mut self.processes[to];
        if !process.members.contains(&from) {
            return;
        }
        match wire {
            Wire::Data(id) => _ = process.data.insert(id),
            Wire::Order(view, number, order) if view == process.view => {
                process.orders.entry(number).or_insert(order);
            }
            Wire::Ask(view, number) if view == process.view => {
                let order = process.orders.get(&number).copied();
                if let Some(order) = order {
                    let data = order.id.filter(|id| process.data.contains(id));
                    if let Some(id) = data {
                        self.send(to, from, Wire::Data(id));
                    }
                    self.send(to, from, Wire::Order(view, number, order));
                }
            }
            Wire::Reform(view) if view == process.view => self.reform(to),
            Wire::Report(view, report) if view == process.view => {
                self.reform(to);
                if let Some(reports) = &mut self.processes[to].reports {
                    reports.insert(from, report);
                }
            }
            _ => {}
        }
    }

    /// Sends or requests lost messages again.
    fn tick(&mut self, number: usize) {
        self.at(self.now + TICK, Event::Tick(number));
        let process = &self.processes[number];
        let (view, held, unordered) = (process.view, process.held, process.unordered());
        for id in unordered {
            self.send_all(number, &Wire::Data(id));
        }
        if let Some((place, order)) = self.processes[number].last_given() {
            let data = order.id.map(Wire::Data);
            for wire in data.into_iter().chain([Wire::Order(view, place, order)]) {
                self.send(number, order.next, wire);
            }
        }
        self.send_all(number, &Wire::Ask(view, held));
        self.go_on(number, true);
    }

    /// Ends the view of a process: notifies all, and reports its state.
    fn reform(&mut self, number: usize) {
        let process = &mut self.processes[number];
        if process.reports.is_some() {
            return;
        }
        let (view, report): (u32, Report) = (process.view, process.report());
        process.reports = Some(BTreeMap::from([(number, report.clone())]));
        self.send_all(number, &Wire::Reform(view));
        self.send_all(number, &Wire::Report(view, report));
    }

    fn propose(&mut self, number: usize) {
        if self.processes[number].has_proposed {
            return;
        }
        let Some(proposal) = proposal(&self.processes[number]) else {
            return;
        };
        let view = self.processes[number].view;
        self.processes[number].has_proposed = true;
        if self.decisions.contains_key(&view) {
            return;
        }
        self.decisions.insert(view, proposal);
        for member in self.processes[number].members.clone() {
            let later = 1 + self.random.below(2 * self.schedule.delay);
            self.at(self.now + later, Event::Decided(member, view));
        }
    }

    fn decided(&mut self, number: usize, view: u32) {
        let decision = self.decisions[&view].clone();
        let mended = self.schedule.mended;
        let process = &mut self.processes[number];
        if !decision.members.contains(&number) {
            self.was_excluded_alive = true;
            match mended {
                true => process.alive = false,
                // RBP: it is not notified, and continues as if the view had not ended.
                false => process.reports = None,
            }
            return;
        }
        let delivered = process.install(view + 1, decision.members, &decision.known);
        self.note(&delivered);
        // A remaining process may be suspected by now.
        let process = &self.processes[number];
        if process
            .members
            .iter()
            .any(|one| process.suspects.contains(one))
        {
            self.reform(number);
        }
    }
}
