//! Waves over random programs on a model of MPI, and waves that cannot reach a quiet cut.
use std::collections::BTreeMap;
use std::time::Duration;

use super::*;
use crate::waits::{
    Activity, Channel, Channels, Collective, Communicator, Envelope, Key, Life, Operation, Partner,
    RankState, Stop, Thread, Until,
};
use treepie_base::{Rank, SplitMix64};

/// Call of a program.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Call {
    /// A send; a synchronous one ends when its message is received.
    Send { to: usize, synchronous: bool },
    /// A receive from a rank, or from any.
    Receive(Option<usize>),
    /// A receive that a later [`Call::Wait`] completes.
    Begin(usize),
    /// Polls for a message from any rank until there is one, and receives it.
    Poll,
    /// Completes the oldest active receive.
    Wait,
    /// A collective of all, or of the ranks from 1 on.
    Barrier(Key),
    /// A non-blocking collective.
    BeginBarrier(Key),
    /// Completes the active collective.
    WaitBarrier(Key),
}

const WORLD: Key = 0;
const OTHERS: Key = 1;

/// Calls of all ranks: parts of one sequence in which they can be made one after the other, so that
/// there is no deadlock. `quiet` has the number of calls of each rank before each moment at which
/// no message is in flight.
struct Program {
    calls: Vec<Vec<Call>>,
    quiet: Vec<Vec<usize>>,
}

fn program(size: usize, wildcards: bool, random: &mut SplitMix64) -> Program {
    let mut calls: Vec<Vec<Call>> = vec![Vec::new(); size];
    let mut quiet = vec![vec![0; size]];
    for _ in 0..6 {
        // Receives that are made later, in the order of the messages.
        let mut later: Vec<(usize, usize)> = Vec::new();
        let mut begun: Vec<usize> = Vec::new();
        for _ in 0..random.below(12) {
            let from = random.below(size);
            let to = (from + 1 + random.below(size - 1)) % size;
            let polls = wildcards && random.below(3) == 0;
            let receive = |from| Call::Receive((!wildcards).then_some(from));
            match random.below(6) {
                0 if !wildcards
                    && later.iter().all(|&pair| pair != (from, to))
                    && !begun.contains(&to) =>
                {
                    calls[from].push(Call::Send {
                        to,
                        synchronous: true,
                    });
                    calls[to].push(receive(from));
                }
                1 if !wildcards && !begun.contains(&to) => {
                    calls[to].push(Call::Begin(from));
                    calls[from].push(Call::Send {
                        to,
                        synchronous: false,
                    });
                    begun.push(to);
                }
                2 if !later.is_empty() => {
                    let (from, to) = later.remove(0);
                    calls[to].push(if polls { Call::Poll } else { receive(from) });
                }
                3 => {
                    let members = if random.below(2) == 0 { WORLD } else { OTHERS };
                    let first = members as usize;
                    calls[first..]
                        .iter_mut()
                        .for_each(|calls| calls.push(Call::Barrier(members)));
                }
                _ => {
                    calls[from].push(Call::Send {
                        to,
                        synchronous: false,
                    });
                    later.push((from, to));
                }
            }
        }
        if random.below(3) == 0 {
            calls
                .iter_mut()
                .for_each(|calls| calls.push(Call::BeginBarrier(WORLD)));
        }
        for (from, to) in later {
            calls[to].push(Call::Receive((!wildcards).then_some(from)));
        }
        begun.iter().for_each(|&rank| calls[rank].push(Call::Wait));
        for calls in &mut calls {
            if calls.contains(&Call::BeginBarrier(WORLD)) {
                let begun = calls
                    .iter()
                    .filter(|call| **call == Call::BeginBarrier(WORLD))
                    .count();
                let ended = calls
                    .iter()
                    .filter(|call| **call == Call::WaitBarrier(WORLD))
                    .count();
                if begun > ended {
                    calls.push(Call::WaitBarrier(WORLD));
                }
            }
        }
        quiet.push(calls.iter().map(Vec::len).collect());
    }
    Program { calls, quiet }
}

/// Rank that runs its program.
#[derive(Debug, Clone, Default)]
struct Process {
    at: usize,
    inside: bool,
    stopped: bool,
    /// True if the last call was a poll.
    polled: bool,
    /// As in a page: calls with this number or a higher one may not begin; 0 if all may.
    gate: u64,
    sent: BTreeMap<usize, u64>,
    received: BTreeMap<usize, u64>,
    begun: Vec<usize>,
    done: [u64; 2],
    open: Vec<(Key, u64)>,
}

/// Model of MPI: messages of a pair in order, collectives that end when all have begun.
struct Machine {
    program: Program,
    processes: Vec<Process>,
    /// Messages that were sent, and received, by sender and receiver.
    put: BTreeMap<(usize, usize), u64>,
    taken: BTreeMap<(usize, usize), u64>,
}

impl Machine {
    fn new(program: Program) -> Machine {
        let processes = vec![Process::default(); program.calls.len()];
        Machine {
            program,
            processes,
            put: BTreeMap::new(),
            taken: BTreeMap::new(),
        }
    }

    fn size(&self) -> usize {
        self.processes.len()
    }

    fn count(of: &BTreeMap<(usize, usize), u64>, from: usize, to: usize) -> u64 {
        of.get(&(from, to)).copied().unwrap_or(0)
    }

    fn under_way(&self, from: usize, to: usize) -> u64 {
        Machine::count(&self.put, from, to) - Machine::count(&self.taken, from, to)
    }

    fn call(&self, rank: usize) -> Option<Call> {
        self.program.calls[rank]
            .get(self.processes[rank].at)
            .copied()
    }

    /// Makes the next possible step of a rank.
    fn run(&mut self, rank: usize) {
        let Some(call) = self.call(rank) else { return };
        if self.processes[rank].inside {
            if self.ends(rank, call) {
                let process = &mut self.processes[rank];
                process.inside = false;
                process.at += 1;
            }
            return;
        }
        let process = &mut self.processes[rank];
        let number = process.at as u64 + 1;
        process.stopped = process.gate != 0 && number >= process.gate;
        if !process.stopped && call == Call::Poll {
            process.polled = true;
            if self.ends(rank, Call::Receive(None)) {
                self.processes[rank].at += 1;
            }
        } else if !process.stopped {
            process.polled = false;
            process.inside = true;
            if let Call::Send { to, .. } = call {
                *self.put.entry((rank, to)).or_default() += 1;
            }
        }
    }

    /// True if the call that a rank is in ends; then it is counted.
    fn ends(&mut self, rank: usize, call: Call) -> bool {
        match call {
            Call::Send { to, synchronous } => {
                let taken = Machine::count(&self.taken, rank, to);
                if synchronous && taken < Machine::count(&self.put, rank, to) {
                    return false;
                }
                *self.processes[rank].sent.entry(to).or_default() += 1;
            }
            Call::Poll => return false, // it is never in one
            Call::Receive(from) => {
                let mut sources =
                    (0..self.size()).filter(|&source| from.is_none_or(|f| f == source));
                let found = sources.find(|&source| self.under_way(source, rank) > 0);
                let Some(source) = found else { return false };
                self.take(source, rank);
            }
            Call::Begin(from) => self.processes[rank].begun.push(from),
            Call::Wait => {
                let source = self.processes[rank].begun[0];
                if self.under_way(source, rank) == 0 {
                    return false;
                }
                self.processes[rank].begun.remove(0);
                self.take(source, rank);
            }
            Call::Barrier(key) => {
                let number = self.processes[rank].done[key as usize];
                let there = |other: usize| {
                    let process = &self.processes[other];
                    let now = process.inside && self.call(other) == Some(call);
                    process.done[key as usize] > number
                        || now && process.done[key as usize] == number
                };
                if !(key as usize..self.size()).all(there) {
                    return false;
                }
                self.processes[rank].done[key as usize] += 1;
            }
            Call::BeginBarrier(key) => {
                let process = &mut self.processes[rank];
                process.open.push((key, process.done[key as usize]));
                process.done[key as usize] += 1;
            }
            Call::WaitBarrier(key) => {
                let (_, number) = self.processes[rank].open[0];
                let mut others = self.processes[key as usize..].iter();
                if !others.all(|other| other.done[key as usize] > number) {
                    return false;
                }
                self.processes[rank].open.remove(0);
            }
        }
        true
    }

    fn take(&mut self, from: usize, to: usize) {
        *self.taken.entry((from, to)).or_default() += 1;
        *self.processes[to].received.entry(from).or_default() += 1;
    }

    fn activity(&self, rank: usize, call: Call) -> Activity {
        let process = &self.processes[rank];
        let envelope = |partner| Envelope {
            communicator: Some(WORLD),
            partner,
            tag: Some(0),
            elements: 1,
        };
        let collective = |key, number| {
            Operation::Collective(Collective {
                communicator: Some(key),
                number,
                operation: "MPI_Barrier".to_owned(),
                root: None,
            })
        };
        let (operation, begun) = match call {
            Call::Send { to, .. } => (Operation::Send(envelope(Partner::Rank(Rank(to)))), false),
            Call::Receive(from) => (
                Operation::Receive(envelope(
                    from.map_or(Partner::Any, |from| Partner::Rank(Rank(from))),
                )),
                false,
            ),
            Call::Wait => (
                Operation::Receive(envelope(Partner::Rank(Rank(process.begun[0])))),
                true,
            ),
            Call::Barrier(key) => (collective(key, process.done[key as usize]), false),
            Call::WaitBarrier(key) => (collective(key, process.open[0].1), true),
            Call::Begin(_) | Call::BeginBarrier(_) | Call::Poll => return Activity::InCall,
        };
        Activity::Waits {
            operations: vec![operation],
            until: Until::All,
            begun,
        }
    }

    /// Returns the content of a rank's page.
    fn page(&self, rank: usize) -> RankState {
        let process = &self.processes[rank];
        let mut with: BTreeMap<Rank, Channel> = BTreeMap::new();
        for (&partner, &sent) in &process.sent {
            with.entry(Rank(partner)).or_default().sent = sent;
        }
        for (&partner, &received) in &process.received {
            with.entry(Rank(partner)).or_default().received = received;
        }
        let communicator = |key: Key| Communicator {
            members: Some((key as usize..self.size()).map(Rank).collect()),
            size: self.size() - key as usize,
            inter: false,
            done: process.done[key as usize],
            last: Vec::new(),
        };
        let keys = (WORLD..=OTHERS).filter(|&key| rank >= key as usize);
        let call = self.call(rank).filter(|_| process.inside);
        // Pages show the operation of a poll also between two polls.
        let asked = process.polled.then_some(Call::Receive(None)).or(call);
        let activity = asked.map_or(Activity::Outside, |call| self.activity(rank, call));
        RankState {
            rank: Rank(rank),
            host: "here".to_owned(),
            process: 1,
            life: Life::Runs,
            end: None,
            tick: 0,
            threads: vec![Thread {
                area: 0,
                number: process.at as u64 + u64::from(process.inside),
                polls: 0,
                procedure: call.map_or(String::new(), |call| format!("{call:?}")),
                is_poll: process.polled,
                inside: process.inside,
                activity,
                since: 0,
                last_sends: Vec::new(),
                sends: 0,
            }],
            more_threads: 0,
            communicators: keys.map(|key| (key, communicator(key))).collect(),
            incomplete: Vec::new(),
            channels: Some(Channels {
                with,
                posted_any: 0,
            }),
            stop: Some(Stop {
                stopped: process.stopped,
                receives: process.begun.len() as u64,
                collectives: process.open.len() as u64,
                refused: None,
                ended: self.call(rank).is_none(),
            }),
        }
    }

    fn pages(&self) -> Vec<RankState> {
        (0..self.size()).map(|rank| self.page(rank)).collect()
    }

    fn let_go(&mut self, ranks: &std::collections::BTreeSet<Rank>) {
        for (rank, process) in self.processes.iter_mut().enumerate() {
            process.gate = match ranks.contains(&Rank(rank)) {
                true if process.stopped => process.at as u64 + 2,
                true => process.gate,
                false => 1,
            };
        }
    }

    /// Runs a wave to its end; each reading costs a millisecond if `clock` runs.
    fn wave(&mut self, patience: Duration, clock: bool, random: &mut SplitMix64) -> Step {
        let mut now = Duration::ZERO;
        let mut wave = Wave::new(self.size(), patience, now);
        self.processes
            .iter_mut()
            .for_each(|process| process.gate = 1);
        for _ in 0..100_000 {
            for _ in 0..random.below(4 * self.size()) {
                let rank = random.below(self.size());
                self.run(rank);
            }
            match wave.look(self.pages(), now) {
                Step::Wait => (),
                Step::Advance(ranks) => self.let_go(&ranks),
                end => return end,
            }
            if clock {
                now += Duration::from_millis(1);
            }
        }
        panic!("the wave does not end: {:?}", self.pages());
    }

    fn run_to_the_end(&mut self, random: &mut SplitMix64) {
        self.processes
            .iter_mut()
            .for_each(|process| process.gate = 0);
        for _ in 0..1_000_000 {
            if (0..self.size()).all(|rank| self.call(rank).is_none()) {
                return;
            }
            let rank = random.below(self.size());
            self.run(rank);
        }
        panic!("the program does not end after the wave");
    }

    /// Checks that no message is in flight, no rank is in a collective or a send, and all members
    /// of each communicator have made the same number of collectives.
    fn assert_quiet(&self, seed: u64) {
        for from in 0..self.size() {
            for to in 0..self.size() {
                assert_eq!(self.under_way(from, to), 0, "{from} to {to}, seed {seed}");
            }
            let process = &self.processes[from];
            let receives = matches!(self.call(from), Some(Call::Receive(_) | Call::Wait));
            assert!(
                process.stopped || process.inside && receives,
                "rank {from}, seed {seed}"
            );
            assert!(process.open.is_empty(), "rank {from}, seed {seed}");
            let last = &self.processes[self.size() - 1];
            let first = usize::from(from == 0);
            assert!(from == 0 || process.done[1] == last.done[1], "seed {seed}");
            assert_eq!(process.done[..=1 - first][0], last.done[0], "seed {seed}");
        }
    }
}

const LONG: Duration = Duration::from_secs(1_000);

#[test]
fn a_thousand_random_waves_stop_at_the_first_quiet_cut_and_nothing_is_lost() {
    let mut quiet = 0;
    for seed in 0..1_000 {
        let mut random = SplitMix64::new(seed);
        let size = 2 + random.below(4);
        let mut machine = Machine::new(program(size, false, &mut random));
        for _ in 0..random.below(150) {
            let rank = random.below(size);
            machine.run(rank);
        }
        // The first known quiet moment that no rank has passed.
        let reached = |moment: &&Vec<usize>| {
            let mut each = moment.iter().zip(&machine.processes);
            each.all(|(&calls, process)| process.at + usize::from(process.inside) <= calls)
        };
        let bound = machine.program.quiet.iter().find(reached).cloned();
        // Without a clock, ranks continue only if it is known that they must.
        match machine.wave(LONG, false, &mut random) {
            Step::Quiet => {
                quiet += 1;
                machine.assert_quiet(seed);
                let bound = bound.unwrap_or_else(|| panic!("beyond the end, seed {seed}"));
                for (process, calls) in machine.processes.iter().zip(bound) {
                    assert!(process.at <= calls, "not the first quiet cut, seed {seed}");
                }
            }
            Step::Drop(Reason::Ends(_)) => (),
            step => panic!("{step:?}, seed {seed}"),
        }
        machine.run_to_the_end(&mut random);
        assert_eq!(machine.put, machine.taken, "seed {seed}");
    }
    assert!(quiet >= 700, "only {quiet} waves got quiet");
}

#[test]
fn waves_over_programs_that_receive_from_anybody_end_quiet_or_with_the_program() {
    let mut quiet = 0;
    for seed in 0..300 {
        let mut random = SplitMix64::new(seed);
        let size = 2 + random.below(4);
        let mut machine = Machine::new(program(size, true, &mut random));
        for _ in 0..random.below(100) {
            let rank = random.below(size);
            machine.run(rank);
        }
        match machine.wave(LONG, true, &mut random) {
            Step::Quiet => {
                quiet += 1;
                machine.assert_quiet(seed);
            }
            Step::Drop(Reason::Ends(_)) => (),
            step => panic!("{step:?}, seed {seed}"),
        }
        machine.run_to_the_end(&mut random);
        assert_eq!(machine.put, machine.taken, "seed {seed}");
    }
    assert!(quiet >= 100, "only {quiet} waves got quiet");
}

/// Creates a machine of ranks with these calls.
fn machine(calls: &[&[Call]]) -> Machine {
    let calls = calls.iter().map(|calls| calls.to_vec()).collect();
    Machine::new(Program {
        calls,
        quiet: Vec::new(),
    })
}

#[test]
fn a_wave_that_does_not_get_quiet_is_dropped_with_the_channel_named() {
    let barriers = [Call::Barrier(WORLD); 500];
    let send = Call::Send {
        to: 1,
        synchronous: false,
    };
    let sender: Vec<Call> = [send].into_iter().chain(barriers).collect();
    let mut machine = machine(&[&sender, &barriers]);
    let mut random = SplitMix64::new(1);
    for _ in 0..40 {
        let rank = random.below(2);
        machine.run(rank);
    }
    let step = machine.wave(Duration::from_millis(100), true, &mut random);
    let Step::Drop(reason) = step else {
        panic!("{step:?}")
    };
    assert_eq!(
        reason.to_string(),
        "not quiet within 0.1 s: 1 message (0 bytes) from rank 0 to rank 1 was sent and not received"
    );
}

#[test]
fn a_rank_that_makes_no_call_is_named() {
    let mut machine = machine(&[&[Call::Barrier(WORLD)], &[Call::Barrier(WORLD)]]);
    machine.processes[0].gate = 1;
    machine.run(0);
    let mut wave = Wave::new(2, Duration::from_secs(1), Duration::ZERO);
    // The ranks that are behind may continue, and there are none.
    assert_eq!(wave.look(machine.pages(), Duration::ZERO), Step::Wait);
    let step = wave.look(machine.pages(), Duration::from_millis(1));
    assert_eq!(step, Step::Advance(std::collections::BTreeSet::new()));
    let Step::Drop(reason) = wave.look(machine.pages(), Duration::from_secs(2)) else {
        panic!("not dropped");
    };
    assert_eq!(
        reason.to_string(),
        "not quiet within 1 s: no call was made by rank 1"
    );
}

#[test]
fn what_a_cut_can_t_include_is_named_and_a_rank_that_is_gone_ends_the_wave() {
    let machine = machine(&[&[Call::Barrier(WORLD)], &[Call::Barrier(WORLD)]]);
    let mut wave = Wave::new(2, LONG, Duration::ZERO);
    let mut pages = machine.pages();
    let only = pages[..1].to_vec();
    if let Some(stop) = &mut pages[1].stop {
        stop.refused = Some("has 2 windows (one-sided)".to_owned());
    }
    let Step::Drop(reason) = wave.look(pages, Duration::ZERO) else {
        panic!("not dropped")
    };
    let text = "rank 1 has 2 windows (one-sided), which no cut includes";
    assert_eq!(reason.to_string(), text);
    assert_eq!(
        wave.look(only, Duration::ZERO),
        Step::Drop(Reason::Ends(Rank(1)))
    );
}
