//! Ranks that start collectives and continue: each as far ahead of the others as MPI allows. In any
//! case, all run each call alike, no rank waits in a start, and none waits for ever.

use std::sync::Arc;
use treepie_choice::Candidate;

use proptest::prelude::*;

use super::super::*;
use super::machine::challenger;
use crate::policy::VALUES;
use treepie_collective::Operation;

/// Call of a program, the same on all ranks.
#[derive(Debug, Clone, Copy)]
struct Call {
    key: CellKey,
    /// True if no rank leaves it before all ranks have entered it.
    is_barrier: bool,
    /// True if it creates a persistent request.
    is_persistent: bool,
}

impl Call {
    fn may_wait(&self) -> bool {
        self.is_persistent || self.key.form == Form::Blocking
    }
}

/// Rank with its guard and its progress.
struct Rank {
    guard: Guard,
    /// Number of calls that it has entered.
    entered: usize,
    /// True if it is in a barrier.
    is_inside: bool,
    /// Cells that the guard has left for good, whose calls ranks with even numbers no longer pass
    /// to it, until the first one is started.
    left: Vec<CellKey>,
    has_started: bool,
    /// Its open calls, which it completes at some time.
    open: Vec<(Ticket, u64)>,
    exchanges: usize,
    now: u64,
}

/// Ranks, and their exchanges.
struct Job<'a> {
    calls: &'a [Call],
    ranks: Vec<Rank>,
    /// Values of all ranks that have begun an exchange.
    exchanges: Vec<Vec<Vec<i64>>>,
    decided: Vec<Event>,
    /// Runner of each call, by the first rank that has entered it.
    ways: Vec<Option<Candidate>>,
}

impl<'a> Job<'a> {
    fn new(ranks: usize, calls: &'a [Call]) -> Self {
        let rank = || Rank {
            guard: Guard::new(7, Mode::Adopt, Arc::default(), Arc::default()),
            entered: 0,
            is_inside: false,
            left: Vec::new(),
            has_started: false,
            open: Vec::new(),
            exchanges: 0,
            now: 0,
        };
        Job {
            calls,
            ranks: (0..ranks).map(|_| rank()).collect(),
            exchanges: Vec::new(),
            decided: Vec::new(),
            ways: Vec::new(),
        }
    }

    /// True if all ranks have entered this number of calls.
    fn have_entered(&self, calls: usize) -> bool {
        self.ranks.iter().all(|rank| rank.entered >= calls)
    }

    /// Advances a rank by a call, or lets it leave one; `false` if it must wait for others.
    fn step(&mut self, me: usize, took: u64) -> bool {
        let entered = self.ranks[me].entered;
        if self.ranks[me].is_inside {
            let may_leave = self.have_entered(entered);
            self.ranks[me].is_inside = !may_leave;
            return may_leave;
        }
        let Some(&call) = self.calls.get(entered) else {
            return false;
        };
        let rank = &mut self.ranks[me];
        rank.has_started |= call.is_persistent || call.key.form == Form::Nonblocking;
        if me.is_multiple_of(2) && !rank.has_started && rank.left.contains(&call.key) {
            rank.entered += 1;
            rank.is_inside = call.is_barrier;
            if self.ways.len() == entered {
                self.ways.push(None);
            }
            return true;
        }
        match rank.guard.due(call.may_wait()) {
            Due::Nothing => (),
            Due::Begin => {
                while let Some(key) = rank.guard.undecided() {
                    let count = if key.operation == Operation::Barrier {
                        0
                    } else {
                        2
                    };
                    let all = (0..count).map(|at| challenger(at, Some(500)));
                    rank.guard.offer(key, all.collect());
                }
                let values = rank.guard.begin(rank.now);
                if self.exchanges.len() == rank.exchanges {
                    self.exchanges.push(Vec::new());
                }
                self.exchanges[rank.exchanges].push(values);
                rank.exchanges += 1;
            }
            Due::Complete => {
                let told = &self.exchanges[rank.exchanges - 1];
                if told.len() < self.ranks.len() {
                    assert!(call.may_wait(), "it waits where it starts one");
                    return false;
                }
                let least = |at| told.iter().map(|values| values[at]).min();
                let least: Option<Vec<i64>> = (0..VALUES).map(least).collect();
                let rank = &mut self.ranks[me];
                let events = rank.guard.complete(&least.expect("all told"), 100);
                if me == 0 {
                    self.decided.extend(events);
                }
            }
        }
        self.enter(me, call, took);
        true
    }

    fn enter(&mut self, me: usize, call: Call, took: u64) {
        let rank = &mut self.ranks[me];
        rank.now += took;
        let now = rank.now;
        let ticket = match call.is_persistent {
            true => Err(rank.guard.make_persistent(call.key)),
            false => Ok(rank.guard.enter(call.key, || now)),
        };
        let way = ticket.map_or_else(|way| way, |ticket| ticket.candidate());
        match self.ways.get(rank.entered) {
            None => self.ways.push(way),
            Some(first) => {
                let name = |way: Option<Candidate>| way.map(|one| one.to_string());
                assert_eq!(name(*first), name(way), "rank {me}");
            }
        }
        rank.entered += 1;
        let Ok(ticket) = ticket else {
            return;
        };
        // A plan takes a third of the time.
        let took = match way {
            Some(_) => 1000 + took,
            None => 3000 + took,
        };
        match call.key.form {
            Form::Blocking => {
                rank.now += took;
                rank.guard.leave(&ticket, rank.now);
                rank.is_inside = call.is_barrier;
                if ticket.is_for_good {
                    rank.left.push(call.key);
                }
            }
            Form::Nonblocking | Form::Persistent => rank.open.push((ticket, took)),
        }
    }

    /// Completes one of a rank's open calls, the oldest or the newest.
    fn complete(&mut self, me: usize, is_oldest: bool) {
        let rank = &mut self.ranks[me];
        let ended = match is_oldest && !rank.open.is_empty() {
            true => Some(rank.open.remove(0)),
            false => rank.open.pop(),
        };
        if let Some((ticket, took)) = ended {
            rank.now += took;
            rank.guard.took(&ticket, took, Work::default());
        }
    }

    fn is_over(&self) -> bool {
        self.have_entered(self.calls.len())
    }
}

fn started(operation: Operation, bytes: u64) -> Call {
    let key = CellKey::new(operation, 0, Some(bytes), false);
    Call {
        key: key.of_form(Form::Nonblocking),
        is_barrier: false,
        is_persistent: false,
    }
}

fn persistent(operation: Operation, bytes: u64) -> Call {
    Call {
        is_persistent: true,
        ..started(operation, bytes)
    }
}

fn blocking(operation: Operation, is_barrier: bool) -> Call {
    Call {
        key: CellKey::new(operation, 0, Some(8), false),
        is_barrier,
        is_persistent: false,
    }
}

const STARTED: [Operation; 3] = [Operation::Allreduce, Operation::Bcast, Operation::Scan];

/// Returns programs: blocking ones, and runs of started collectives, with or without occasional
/// blocking ones.
fn program() -> impl Strategy<Value = Vec<Call>> {
    let part = (0..3_usize, 1..3_u64, 1..400_usize, 0..5_u8).prop_map(|(at, size, count, end)| {
        let mut calls = vec![started(STARTED[at], 64 * size); count];
        match end {
            0 => calls.push(blocking(Operation::Allreduce, true)),
            1 => calls.push(blocking(Operation::Bcast, false)),
            2 => calls.push(blocking(Operation::Barrier, true)),
            3 => calls.push(persistent(STARTED[at], 64 * size)),
            _ => (),
        }
        calls
    });
    let parts = prop::collection::vec(part, 5..40);
    (0..800_usize, parts).prop_map(|(before, parts)| {
        let barriers = vec![blocking(Operation::Barrier, true); before];
        [barriers, parts.concat()].concat()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn ranks_that_run_ahead_of_each_other_run_each_call_alike_and_none_waits_for_ever(
        calls in program(),
        ranks in 2..6_usize,
        turns in prop::collection::vec((0..6_usize, 1..300_usize, 0..50_u64, 0..5_u8), 20..200),
    ) {
        let mut job = Job::new(ranks, &calls);
        let mut turns = turns.into_iter().cycle();
        while !job.is_over() {
            let (me, most, took, completed) = turns.next().expect("it is endless");
            let me = me % ranks;
            for _ in 0..most {
                if !job.step(me, took) {
                    break;
                }
                if completed > 0 {
                    job.complete(me, completed > 1);
                }
            }
            let is_stuck = (0..ranks).all(|rank| !job.step(rank, took));
            prop_assert!(!is_stuck || job.is_over(), "all wait");
        }
    }
}

/// A rank may start everything, and complete nothing, before another has started anything.
#[test]
fn a_rank_that_starts_thousands_waits_for_nobody() {
    let calls = vec![started(Operation::Bcast, 64); 20_000];
    let mut job = Job::new(3, &calls);
    for me in 0..3 {
        while job.ranks[me].entered < calls.len() {
            assert!(job.step(me, 1));
        }
    }
    assert!(job.decided.is_empty() && job.exchanges.len() == 1);
    assert!(job.ways.iter().all(Option::is_none));
}

#[test]
fn a_plan_is_adopted_for_started_ones_where_blocking_ones_come_between() {
    let mut calls = Vec::new();
    for _ in 0..60 {
        calls.extend(vec![started(Operation::Allreduce, 64); 100]);
        calls.push(blocking(Operation::Barrier, true));
    }
    calls.push(persistent(Operation::Allreduce, 64));
    let mut job = Job::new(3, &calls);
    while !job.is_over() {
        for me in 0..3 {
            job.step(me, 5);
            job.complete(me, true);
        }
    }
    let of_started = |event: &&Event| match event {
        Event::Cell(key, _, state) => key.form == Form::Nonblocking && *state == State::Adopted,
        Event::Different | Event::Failed => false,
    };
    assert_eq!(
        job.decided.iter().filter(of_started).count(),
        1,
        "{:?}",
        job.decided
    );
    assert!(job.ways[5_000].is_some() && job.ways[calls.len() - 1].is_some());
}

/// Collectives that are not complete at an exchange do not count in it.
#[test]
fn what_is_never_completed_is_no_proof() {
    let mut calls = Vec::new();
    for _ in 0..80 {
        calls.extend(vec![started(Operation::Allreduce, 64); 100]);
        calls.push(blocking(Operation::Barrier, true));
    }
    let mut job = Job::new(2, &calls);
    while !job.is_over() {
        for me in 0..2 {
            let entered = job.ranks[me].entered;
            job.step(me, 5);
            let is_new = job.ranks[me].entered > entered;
            let by_native = is_new && !calls[entered].is_barrier && job.ways[entered].is_none();
            // Rank 1 completes no collective that the plan ran.
            if me == 0 || by_native {
                job.complete(me, false);
            }
        }
    }
    let summaries = job.ranks[0].guard.summaries();
    let judged = summaries
        .iter()
        .filter(|one| one.key.form == Form::Nonblocking);
    assert!(judged.clone().count() > 0);
    for one in judged {
        assert_eq!((one.won, one.lost), (0, 0), "{one:?}");
        assert_ne!(one.state, State::Adopted);
    }
}
