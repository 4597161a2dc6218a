//! Ranks that start persistent requests in different orders. In any case, the k-th start of a
//! request is run alike on all, and none waits for an exchange that another has not begun.

use std::sync::Arc;
use treepie_choice::Candidate;

use proptest::prelude::*;

use super::super::*;
use super::machine::challenger;
use treepie_collective::Operation;

/// Request on one rank.
struct Request {
    guard: Guard,
    starts: usize,
    /// Call to complete before it is started again, and its duration.
    open: Option<(Ticket, u64)>,
    exchanges: usize,
}

/// Actions of all ranks with a request.
#[derive(Default)]
struct Told {
    /// Values of all ranks that have begun an exchange.
    exchanges: Vec<Vec<Vec<i64>>>,
    /// Runner of each start, by the first rank that has started it.
    ways: Vec<Option<Candidate>>,
    decided: Vec<Vec<String>>,
}

struct Job {
    key: CellKey,
    of_communicator: Guard,
    earlier: Vec<RequestHistory>,
    ranks: Vec<Vec<Request>>,
    told: Vec<Told>,
    now: u64,
    /// Duration with the native MPI, and with a plan.
    took: [u64; 2],
}

fn key() -> CellKey {
    CellKey::new(Operation::Allreduce, 0, Some(64), false).of_form(Form::Persistent)
}

impl Job {
    fn new(ranks: usize, requests: usize, took: [u64; 2]) -> Self {
        let mut job = Job {
            key: key(),
            of_communicator: Guard::new(7, Mode::Adopt, Arc::default(), Arc::default()),
            earlier: (0..ranks).map(|_| RequestHistory::default()).collect(),
            ranks: (0..ranks).map(|_| Vec::new()).collect(),
            told: Vec::new(),
            now: 0,
            took,
        };
        for _ in 0..requests {
            assert!(job.make(), "a trial");
        }
        job
    }

    /// Creates a request on all ranks, whatever their progress with earlier ones; true if plans are
    /// tried.
    fn make(&mut self) -> bool {
        let key = self.key;
        let told: Vec<_> = self.earlier.iter_mut().map(|one| one.make(key)).collect();
        if told.iter().any(Option::is_some) {
            let least = |at: usize| {
                let values = told.iter().map(|one| one.as_ref().expect("all tell")[at]);
                values.min()
            };
            let least: Option<Vec<i64>> = (0..VALUES_OF_REQUEST).map(least).collect();
            let least = least.expect("of all");
            self.earlier
                .iter_mut()
                .for_each(|one| one.agree(&key, &least));
        }
        let predicted = [challenger(0, Some(500))];
        let guards = self.earlier.iter().map(|one| {
            let agreed = one.agreed(&key);
            self.of_communicator.of_request(&key, &predicted, &agreed)
        });
        let guards: Vec<Option<Guard>> = guards.collect();
        let are_tried = guards[0].is_some();
        assert!(guards.iter().all(|one| one.is_some() == are_tried));
        for (rank, guard) in self.ranks.iter_mut().zip(guards) {
            rank.extend(guard.map(|guard| Request {
                guard,
                starts: 0,
                open: None,
                exchanges: 0,
            }));
        }
        self.told.extend(are_tried.then(Told::default));
        are_tried
    }

    /// Starts an inactive request of a rank, or completes one that all have started.
    fn step(&mut self, me: usize, at: usize) {
        let starts = self.ranks[me][at].starts;
        let have_all = self.ranks.iter().all(|rank| rank[at].starts >= starts);
        let request = &mut self.ranks[me][at];
        match request.open.take() {
            None => self.start(me, at),
            Some((ticket, took)) if have_all => request.guard.took(&ticket, took, Work::default()),
            open => request.open = open,
        }
    }

    fn start(&mut self, me: usize, at: usize) {
        let (ranks, now) = (self.ranks.len(), self.now);
        let (request, told) = (&mut self.ranks[me][at], &mut self.told[at]);
        match request.guard.due(true) {
            Due::Nothing => (),
            Due::Begin => {
                while let Some(key) = request.guard.undecided() {
                    request.guard.offer(key, vec![challenger(0, Some(500))]);
                }
                let values = request.guard.begin(now);
                assert_eq!(values.len(), VALUES_OF_REQUEST);
                if told.exchanges.len() == request.exchanges {
                    told.exchanges.push(Vec::new());
                    told.decided.push(Vec::new());
                }
                told.exchanges[request.exchanges].push(values);
                request.exchanges += 1;
            }
            Due::Complete => {
                let number = request.exchanges - 1;
                let all = &told.exchanges[number];
                assert_eq!(all.len(), ranks, "a rank has not begun it");
                let least = |at: usize| all.iter().map(|values| values[at]).min();
                let least: Option<Vec<i64>> = (0..VALUES_OF_REQUEST).map(least).collect();
                let events = request.guard.complete(&least.expect("of all"), 1_000);
                self.earlier[me].add(&self.key, request.guard.outcome());
                told.decided[number].push(format!("{events:?}"));
                let first = &told.decided[number][0];
                assert!(told.decided[number].iter().all(|one| one == first));
            }
        }
        let ticket = request.guard.enter(self.key, || now);
        let way = ticket.candidate();
        if told.ways.len() == request.starts {
            told.ways.push(way);
        }
        let name = |way: Option<Candidate>| way.map(|way| way.to_string());
        assert_eq!(name(told.ways[request.starts]), name(way), "disagree");
        let took = self.took[usize::from(way.is_some())];
        request.starts += 1;
        request.open = Some((ticket, took));
        self.now += took;
    }

    fn state(&self, at: usize) -> State {
        self.ranks[0][at].guard.summaries()[0].state
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn requests_that_are_started_in_other_orders_are_run_alike_and_no_start_waits(
        ranks in 2..5_usize,
        requests in 1..4_usize,
        plan in 100..2_000_u64,
        turns in prop::collection::vec((0..5_usize, 0..4_usize, 1..40_usize), 50..200),
    ) {
        let mut job = Job::new(ranks, requests, [1_000, plan]);
        for (me, at, many) in turns.into_iter().cycle().take(3_000) {
            let made = job.told.len();
            if many == 1 && made < 9 {
                job.make();
            }
            for _ in 0..many {
                job.step(me % ranks, (requests + at) % made);
            }
        }
    }
}

/// Each rank in a different order: faster plans are adopted, slower ones are not, and those that
/// become slower are revoked.
#[test]
fn a_faster_plan_is_adopted_for_a_request_that_is_only_ever_started() {
    let run = |job: &mut Job, starts: usize| {
        for turn in 0..2 * starts {
            for (me, at) in [(0, 0), (0, 1), (1, 1), (1, 0), (2, 0), (2, 1)] {
                job.step(me, at);
            }
            assert!(turn < 2 || job.ranks[2][1].starts > 0);
        }
    };
    let mut faster = Job::new(3, 2, [10_000, 5_000]);
    run(&mut faster, 5_000);
    assert_eq!([faster.state(0), faster.state(1)], [State::Adopted; 2]);
    assert!(faster.told[1].ways[4_000].is_some());
    faster.took = [10_000, 40_000];
    run(&mut faster, 20_000);
    assert_eq!([faster.state(0), faster.state(1)], [State::TakenBack; 2]);
    let mut slower = Job::new(3, 2, [10_000, 20_000]);
    run(&mut slower, 5_000);
    assert_eq!([slower.state(0), slower.state(1)], [State::Dropped; 2]);
}

/// A rank that is one exchange behind the others knows less than they do: their knowledge is not
/// agreed.
#[test]
fn a_request_begins_with_what_those_before_it_have_come_to_where_all_ranks_know_it() {
    let run = |job: &mut Job, ranks: &[usize], turns: usize| {
        for _ in 0..2 * turns {
            ranks.iter().for_each(|&me| job.step(me, 0));
        }
    };
    let first = |job: &Job, request: usize| job.told[request].ways[0].is_some();
    let mut job = Job::new(3, 1, [10_000, 5_000]);
    run(&mut job, &[0, 1, 2], 5_000);
    assert_eq!(job.state(0), State::Adopted);
    assert!(job.make());
    (0..3).for_each(|me| job.step(me, 1));
    assert!(first(&job, 1), "adopted, as all know");

    let mut job = Job::new(3, 1, [10_000, 5_000]);
    let state = |job: &Job, me: usize| {
        job.ranks[me][0]
            .guard
            .summaries()
            .first()
            .map(|one| one.state)
    };
    loop {
        job.step(0, 0);
        if state(&job, 0) == Some(State::Adopted) {
            break;
        }
        job.step(1, 0);
        job.step(2, 0);
    }
    assert_ne!(state(&job, 1), Some(State::Adopted));
    assert!(job.make());
    (0..3).for_each(|me| job.step(me, 1));
    assert!(!first(&job, 1), "a rank does not know it yet");

    let mut slower = Job::new(3, 1, [10_000, 20_000]);
    run(&mut slower, &[0, 1, 2], 5_000);
    assert_eq!(slower.state(0), State::Dropped);
    assert!(!slower.make(), "left to the MPI");
}

#[test]
fn what_does_not_show_that_all_have_started_is_not_tried() {
    let of_communicator = Guard::new(7, Mode::Adopt, Arc::default(), Arc::default());
    let tries = |operation, bytes, per_mille| {
        let key = CellKey::new(operation, 0, bytes, false).of_form(Form::Persistent);
        let predicted = [challenger(0, Some(per_mille))];
        of_communicator
            .of_request(&key, &predicted, &RequestOutcome::Open)
            .is_some()
    };
    assert!(tries(Operation::Allreduce, Some(64), 500));
    assert!(!tries(Operation::Allreduce, Some(64), 950));
    assert!(!tries(Operation::Allreduce, Some(0), 500));
    assert!(!tries(Operation::Bcast, Some(64), 500));
}
