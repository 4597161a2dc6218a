//! Model of ranks and of their pages, which are read one after the other while the ranks continue.
//!
//! A rank performs one action at a time: it begins a call, the call is done, its effects are
//! counted, it ends. From time to time its ticker writes the counts. A reported deadlock must be
//! one: none of its ranks does anything any more, whatever the others do. Conversely, a job in
//! which no rank can act must be reported as a deadlock.

mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use treepie_base::{Rank, SplitMix64};

use super::*;

const WORLD: Key = 1;

/// Returns the numbers below `count`, in random order.
fn order(random: &mut SplitMix64, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    random.shuffle(&mut order);
    order
}

/// Call of a rank's program.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Call {
    /// A send that is buffered, or that waits for its receive.
    Send {
        to: usize,
        tag: i32,
        waits: bool,
    },
    /// A receive, from any rank if there is no source.
    Receive {
        from: Option<usize>,
        tag: i32,
    },
    /// A collective on the world with this root.
    Reduce {
        root: i32,
    },
    /// No call: it may last for ever.
    Compute,
    Finalize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Stage {
    Outside,
    Begun,
    Done,
    Counted,
}

#[derive(Debug, Clone)]
struct Process {
    program: VecDeque<Call>,
    stage: Stage,
    number: u64,
    sends: Vec<Envelope>,
    channels: Channels,
    reduced: Vec<Collective>,
    /// Data that the ticker wrote last: the call, whether it was active, the counts.
    written: (u64, bool, Channels),
    ticked: u64,
}

#[derive(Debug, Clone)]
struct Model {
    processes: Vec<Process>,
    /// Messages in flight: from, to, tag.
    messages: Vec<(usize, usize, i32)>,
    /// Ranks that have begun each collective, with their root.
    came: BTreeMap<(usize, usize), i32>,
}

/// Returns one element for or from a rank, in the world.
pub(super) fn envelope(partner: Partner, tag: i32) -> Envelope {
    Envelope {
        communicator: Some(WORLD),
        partner,
        tag: Some(tag),
        elements: 1,
    }
}

impl Model {
    /// Creates ranks with matching sends and receives, except for some calls that are omitted,
    /// doubled or changed.
    fn random(random: &mut SplitMix64, any: bool, tags: usize) -> Model {
        let size = 2 + random.below(4);
        let mut programs = vec![VecDeque::new(); size];
        for _ in 0..4 + random.below(12) {
            let (from, to) = (random.below(size), random.below(size));
            let tag = random.below(tags) as i32;
            let waits = random.below(3) == 0;
            match random.below(8) {
                0 => {
                    let root = random.below(2) as i32;
                    for program in &mut programs {
                        program.push_back(Call::Reduce { root });
                    }
                }
                1 => programs[from].push_back(Call::Compute),
                _ if from != to => {
                    programs[from].push_back(Call::Send { to, tag, waits });
                    let from = (!any || random.below(2) == 0).then_some(from);
                    programs[to].push_back(Call::Receive { from, tag });
                }
                _ => (),
            }
        }
        let process = |mut program: VecDeque<Call>| {
            let length = program.len().max(1);
            match random.below(4) {
                0 => drop(program.remove(random.below(length))),
                1 => program.swap(0, random.below(length).min(program.len().saturating_sub(1))),
                2 => program.push_front(Call::Reduce { root: 1 }),
                _ => (),
            }
            program.push_back(Call::Finalize);
            Process {
                program,
                stage: Stage::Outside,
                number: 0,
                sends: Vec::new(),
                channels: Channels::default(),
                reduced: Vec::new(),
                written: (0, false, Channels::default()),
                ticked: 0,
            }
        };
        Model {
            processes: programs
                .into_iter()
                .map(|program| match program.is_empty() {
                    true => VecDeque::from([Call::Compute]),
                    false => program,
                })
                .map(process)
                .collect(),
            messages: Vec::new(),
            came: BTreeMap::new(),
        }
    }

    /// Makes one step of a rank, if it can make one; of a computing one, if it is `long` enough.
    /// False if it could not.
    fn step(&mut self, me: usize, random: &mut SplitMix64, long: bool) -> bool {
        let Some(&call) = self.processes[me].program.front() else {
            return false;
        };
        let is_done = match self.processes[me].stage {
            Stage::Begun => self.is_done(me, call, random),
            _ => true,
        };
        if call == Call::Compute {
            if long {
                self.processes[me].program.pop_front();
            }
            return long;
        }
        let process = &mut self.processes[me];
        process.stage = match process.stage {
            Stage::Outside => Stage::Begun,
            Stage::Begun if is_done => Stage::Done,
            Stage::Begun => return false,
            Stage::Done => {
                process.count(call);
                Stage::Counted
            }
            Stage::Counted => {
                process.program.pop_front();
                Stage::Outside
            }
        };
        if process.stage == Stage::Begun {
            process.number += 1;
            self.begin(me, call);
        }
        true
    }

    fn begin(&mut self, me: usize, call: Call) {
        match call {
            Call::Send { to, tag, .. } => {
                self.processes[me]
                    .sends
                    .push(envelope(Partner::Rank(Rank(to)), tag));
                self.messages.push((me, to, tag));
            }
            Call::Reduce { root } => {
                let number = self.processes[me].reduced.len();
                self.came.insert((number, me), root);
            }
            Call::Receive { .. } | Call::Compute | Call::Finalize => (),
        }
    }

    /// True if an active call completes now.
    fn is_done(&mut self, me: usize, call: Call, random: &mut SplitMix64) -> bool {
        match call {
            // An equal message that was sent earlier is received earlier.
            Call::Send { to, tag, waits } => !waits || !self.messages.contains(&(me, to, tag)),
            Call::Receive { from, tag } => {
                let fits = |&(sender, to, sent): &(usize, usize, i32)| {
                    to == me && sent == tag && from.is_none_or(|from| from == sender)
                };
                let senders: BTreeSet<usize> = self
                    .messages
                    .iter()
                    .filter(|one| fits(one))
                    .map(|one| one.0)
                    .collect();
                let chosen = senders
                    .iter()
                    .nth(random.below(senders.len().max(1)))
                    .copied();
                let first = self
                    .messages
                    .iter()
                    .position(|one| Some(one.0) == chosen && fits(one));
                first.map(|at| self.messages.remove(at)).is_some()
            }
            Call::Reduce { root } => {
                let number = self.processes[me].reduced.len();
                (0..self.processes.len()).all(|rank| self.came.get(&(number, rank)) == Some(&root))
            }
            Call::Finalize | Call::Compute => false,
        }
    }

    /// Runs the ticker of a rank, as in `record/page/tick.rs`.
    fn tick(&mut self, me: usize) {
        let process = &mut self.processes[me];
        let now = (process.number, process.is_inside());
        if process.ticked == process.number && (process.written.0, process.written.1) != now {
            process.written = (now.0, now.1, process.channels.clone());
        }
        process.ticked = process.number;
    }

    /// Returns the page of a rank at the moment.
    fn page(&self, me: usize) -> RankState {
        let process = &self.processes[me];
        let size = self.processes.len();
        let done = process.reduced.len() as u64;
        let world = Communicator {
            members: Some((0..size).map(Rank).collect()),
            size,
            inter: false,
            done,
            last: process
                .reduced
                .iter()
                .rev()
                .take(8)
                .rev()
                .cloned()
                .collect(),
        };
        let known = process.written.0 == process.number;
        RankState {
            rank: Rank(me),
            host: "here".to_owned(),
            process: 100 + me as u32,
            life: Life::Runs,
            end: None,
            tick: 0,
            threads: vec![process.thread()],
            more_threads: 0,
            communicators: BTreeMap::from([(WORLD, world)]),
            incomplete: Vec::new(),
            channels: known.then(|| process.written.2.clone()),
            stop: None,
        }
    }

    /// Reads all pages, in any order; meanwhile ranks continue.
    fn look(&mut self, random: &mut SplitMix64) -> Vec<RankState> {
        let mut pages = Vec::new();
        for rank in order(random, self.processes.len()) {
            for _ in 0..random.below(8) {
                self.turn(random);
            }
            pages.push(self.page(rank));
        }
        pages
    }

    /// Lets one rank act, if it can.
    fn turn(&mut self, random: &mut SplitMix64) {
        let rank = random.below(self.processes.len());
        match random.below(4) {
            0 => self.tick(rank),
            _ => drop(self.step(rank, random, false)),
        }
    }

    /// Lets enough time pass that every rank that can act does, except for computing.
    fn pause(&mut self, random: &mut SplitMix64) {
        for _ in 0..6 {
            for rank in order(random, self.processes.len()) {
                self.step(rank, random, false);
                self.tick(rank);
            }
        }
    }

    /// Continues until no rank can act; true if one did.
    fn run_out(&mut self, random: &mut SplitMix64, long: bool) -> bool {
        let mut moved = false;
        loop {
            let order = order(random, self.processes.len()).into_iter();
            let steps = order.filter(|&rank| self.step(rank, random, long));
            if steps.count() == 0 {
                return moved;
            }
            moved = true;
        }
    }

    fn is_over(&self) -> bool {
        let last = |process: &Process| process.program.front() == Some(&Call::Finalize);
        self.processes.iter().all(last)
    }

    fn computes(&self) -> bool {
        let now = |process: &Process| process.program.front() == Some(&Call::Compute);
        self.processes.iter().any(now)
    }
}

impl Process {
    fn is_inside(&self) -> bool {
        self.stage != Stage::Outside
    }

    fn count(&mut self, call: Call) {
        match call {
            Call::Send { to, .. } => self.channels.with.entry(Rank(to)).or_default().sent += 1,
            Call::Receive { from: None, .. } => self.channels.posted_any += 1,
            Call::Receive {
                from: Some(from), ..
            } => {
                self.channels.with.entry(Rank(from)).or_default().posted += 1;
            }
            Call::Reduce { root } => {
                let call = self.collective(root);
                self.reduced.push(call);
            }
            Call::Compute | Call::Finalize => (),
        }
    }

    fn collective(&self, root: i32) -> Collective {
        Collective {
            communicator: Some(WORLD),
            number: self.reduced.len() as u64,
            operation: "MPI_Reduce".to_owned(),
            root: Some(root),
        }
    }

    fn thread(&self) -> Thread {
        let inside = self.is_inside();
        let mut last_sends = self.sends.clone();
        let call = self.program.front().filter(|_| inside);
        let waits = |operation| Activity::Waits {
            operations: vec![operation],
            until: Until::All,
            begun: false,
        };
        let activity = match call {
            None | Some(Call::Compute) => Activity::Outside,
            Some(&Call::Send { to, tag, .. }) => {
                last_sends.pop();
                waits(Operation::Send(envelope(Partner::Rank(Rank(to)), tag)))
            }
            Some(&Call::Receive { from, tag }) => {
                let partner = from.map_or(Partner::Any, |from| Partner::Rank(Rank(from)));
                waits(Operation::Receive(envelope(partner, tag)))
            }
            Some(&Call::Reduce { root }) => waits(Operation::Collective(self.collective(root))),
            Some(Call::Finalize) => Activity::Finalizes,
        };
        Thread {
            area: 0,
            number: self.number,
            polls: 0,
            procedure: "MPI_X".to_owned(),
            is_poll: false,
            inside,
            activity,
            since: 0,
            sends: last_sends.len() as u64,
            last_sends,
        }
    }
}

/// True if one of these ranks acts, whatever computing ranks do meanwhile.
fn goes_on(model: &Model, ranks: &[Rank], random: &mut SplitMix64) -> bool {
    let mut model = model.clone();
    let at = |model: &Model| -> Vec<(u64, Stage)> {
        let process = |rank: &Rank| &model.processes[rank.0];
        let state = |process: &Process| (process.number, process.stage);
        ranks.iter().map(process).map(state).collect()
    };
    let before = at(&model);
    model.run_out(random, true);
    at(&model) != before
}
