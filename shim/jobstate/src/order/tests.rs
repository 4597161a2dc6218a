//! The log, and a proof by test that posting order suffices.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::entry::{Coder, Entry};
use super::log::{BLOCK, compress};
use super::*;

fn call(kind: CallKind) -> Call {
    let requests = matches!(
        kind,
        CallKind::Test | CallKind::Waitany | CallKind::Waitsome
    );
    Call {
        kind,
        communicator: (!requests).then_some(0),
        count: 4,
    }
}

fn log(recorder: Recorder, ended: Ended) -> Log {
    let blocks = recorder.bytes.chunks(BLOCK).map(compress).collect();
    Log::new(blocks, ended).unwrap()
}

fn ended(mut recorder: Recorder) -> Log {
    let totals = recorder.end();
    log(recorder, Ended::Well(totals))
}

fn entries() -> impl Strategy<Value = Entry> {
    let message = || (-3..70_000i32, proptest::option::of(any::<i32>()));
    prop_oneof![
        (0..5u64, message()).prop_map(|(place, (source, tag))| Entry::Match { place, source, tag }),
        any::<u32>().prop_map(|place| Entry::Cancelled {
            place: place.into()
        }),
        any::<u32>().prop_map(|polls| Entry::Nothing(polls.into())),
        Just(Entry::Found(Outcome::Done)),
        Just(Entry::Found(Outcome::Inactive)),
        (0..i32::MAX as u32).prop_map(|index| Entry::Found(Outcome::Index(index))),
        proptest::collection::vec(0..1000u32, 1..9)
            .prop_map(|indices| Entry::Found(Outcome::Indices(indices))),
        message().prop_map(|(source, tag)| Entry::Found(Outcome::Probed { source, tag })),
        any::<u32>().prop_map(Entry::Check),
        Just(Entry::Threads),
        Just(Entry::Window),
    ]
}

proptest! {
    #[test]
    fn entries_are_read_as_they_were_written(written in proptest::collection::vec(entries(), 0..60)) {
        let (mut coder, mut bytes) = (Coder::default(), Vec::new());
        written.iter().for_each(|entry| coder.encode(&mut bytes, entry));
        let log = Log::new(vec![compress(&bytes)], Ended::Early).unwrap();
        let read: Vec<Entry> = log.entries().map(Result::unwrap).collect();
        prop_assert_eq!(read, written);
    }

    #[test]
    fn damaged_blocks_are_errors_or_other_entries_and_never_a_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..200), compressed: bool,
    ) {
        let block = if compressed { compress(&bytes) } else { bytes };
        if let Ok(log) = Log::new(vec![block], Ended::Early) {
            let mut guide = Guide::new(&log);
            for kind in [CallKind::Recv, CallKind::Test, CallKind::Waitsome, CallKind::Iprobe] {
                let _ = guide.post(&call(kind));
                let _ = guide.find(&call(kind));
            }
        }
    }
}

/// Message: its sender and its number there.
type Sent = (i32, u64);

/// MPI's matching at one receiver: messages of one sender do not overtake each other.
struct Model {
    /// Tags of the messages that each sender will still send.
    senders: Vec<VecDeque<i32>>,
    sent: Vec<u64>,
    unexpected: Vec<(i32, i32, Sent)>,
    /// Receives without a message: number, and source and tag unless any matches.
    posted: Vec<(usize, Option<i32>, Option<i32>)>,
    taken: Vec<Option<(i32, i32, Sent)>>,
    /// Source of random choices.
    choices: u64,
}

impl Model {
    fn new(senders: &[Vec<i32>], choices: u64) -> Model {
        Model {
            senders: senders
                .iter()
                .map(|tags| tags.iter().copied().collect())
                .collect(),
            sent: vec![0; senders.len()],
            unexpected: Vec::new(),
            posted: Vec::new(),
            taken: Vec::new(),
            choices: choices | 1,
        }
    }

    fn choose(&mut self, below: usize) -> usize {
        self.choices ^= self.choices << 13;
        self.choices ^= self.choices >> 7;
        self.choices ^= self.choices << 17;
        (self.choices % below as u64) as usize
    }

    /// Delivers a message of some sender; false if none is left.
    fn arrive(&mut self) -> bool {
        let left: Vec<usize> = (0..self.senders.len())
            .filter(|&sender| !self.senders[sender].is_empty())
            .collect();
        if left.is_empty() {
            return false;
        }
        let sender = left[self.choose(left.len())];
        let tag = self.senders[sender].pop_front().unwrap();
        let message = (sender as i32, tag, (sender as i32, self.sent[sender]));
        self.sent[sender] += 1;
        let fits = |(_, s, t): &(usize, Option<i32>, Option<i32>)| accepts(*s, *t, &message);
        match self.posted.iter().position(fits) {
            Some(at) => {
                let (number, ..) = self.posted.remove(at);
                self.taken[number] = Some(message);
            }
            None => self.unexpected.push(message),
        }
        true
    }

    fn arrive_some(&mut self) {
        for _ in 0..self.choose(4) {
            self.arrive();
        }
    }

    fn first(&self, source: Option<i32>, tag: Option<i32>) -> Option<usize> {
        self.unexpected
            .iter()
            .position(|message| accepts(source, tag, message))
    }

    fn post(&mut self, source: Option<i32>, tag: Option<i32>) -> usize {
        let number = self.taken.len();
        let at = self.first(source, tag);
        let message = at.map(|at| self.unexpected.remove(at));
        self.taken.push(message);
        if message.is_none() {
            self.posted.push((number, source, tag));
        }
        number
    }

    /// Skips a receive that is not posted.
    fn skip(&mut self) -> usize {
        self.taken.push(None);
        self.taken.len() - 1
    }

    /// Cancels a receive; true if it was in time.
    fn cancel(&mut self, number: usize) -> bool {
        let before = self.posted.len();
        self.posted.retain(|posted| posted.0 != number);
        self.posted.len() < before
    }

    /// Waits for a matching message; returns it.
    fn probe(&mut self, source: Option<i32>, tag: Option<i32>) -> Option<(i32, i32, Sent)> {
        loop {
            if let Some(at) = self.first(source, tag) {
                return Some(self.unexpected[at]);
            }
            if !self.arrive() {
                return None;
            }
        }
    }
}

fn accepts(source: Option<i32>, tag: Option<i32>, message: &(i32, i32, Sent)) -> bool {
    source.is_none_or(|source| source == message.0) && tag.is_none_or(|tag| tag == message.1)
}

/// Action of the receiver.
#[derive(Debug, Clone, Copy)]
enum Step {
    Post(Option<i32>, Option<i32>),
    Cancel(usize),
    Probe(Option<i32>, Option<i32>),
    Poll(Option<i32>, Option<i32>),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let pattern = || {
        (
            proptest::option::of(0..3i32),
            proptest::option::weighted(0.6, 0..2i32),
        )
    };
    let step = prop_oneof![
        6 => pattern().prop_map(|(source, tag)| Step::Post(source, tag)),
        1 => (0..20usize).prop_map(Step::Cancel),
        1 => pattern().prop_map(|(source, tag)| Step::Probe(source, tag)),
        2 => pattern().prop_map(|(source, tag)| Step::Poll(source, tag)),
    ];
    proptest::collection::vec(step, 1..30)
}

/// Observations of the receiver in a run.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    taken: Vec<Option<(i32, i32, Sent)>>,
    probed: Vec<Option<(i32, i32, Sent)>>,
}

fn record(steps: &[Step], mut model: Model) -> (Seen, Log) {
    let mut recorder = Recorder::default();
    let (mut numbers, mut probed) = (Vec::new(), Vec::new());
    let mut cancelled = Vec::new();
    for step in steps {
        model.arrive_some();
        match *step {
            Step::Post(source, tag) => {
                let wildcard = source.is_none() || tag.is_none();
                numbers.push(wildcard.then(|| recorder.post(&call(CallKind::Irecv))));
                model.post(source, tag);
            }
            Step::Cancel(number) => {
                if let Some(Some(recorded)) = numbers.get(number)
                    && model.cancel(number)
                {
                    recorder.cancelled(*recorded);
                    cancelled.push(number);
                }
            }
            Step::Probe(source, tag) => {
                let found = model.probe(source, tag);
                if let Some((from, with, _)) = found {
                    let outcome = Outcome::Probed {
                        source: from,
                        tag: tag.is_none().then_some(with),
                    };
                    recorder.found(&call(CallKind::Probe), outcome);
                }
                probed.push(found);
            }
            Step::Poll(source, tag) => {
                let found = model.first(source, tag).map(|at| model.unexpected[at]);
                let outcome = found.map_or(Outcome::Nothing, |(from, with, _)| Outcome::Probed {
                    source: from,
                    tag: tag.is_none().then_some(with),
                });
                recorder.found(&call(CallKind::Iprobe), outcome);
                probed.push(found);
            }
        }
    }
    while model.arrive() {}
    // They complete in another order than they were posted in.
    for (number, recorded) in numbers.iter().enumerate().rev() {
        if let (Some(recorded), Some((source, tag, _))) = (recorded, model.taken[number]) {
            let any_tag = matches!(posts(steps)[number], (_, None));
            recorder.matched(*recorded, source, any_tag.then_some(tag));
        }
    }
    let seen = Seen {
        taken: model.taken,
        probed,
    };
    (seen, ended(recorder))
}

fn posts(steps: &[Step]) -> Vec<(Option<i32>, Option<i32>)> {
    let post = |step: &Step| match *step {
        Step::Post(source, tag) => Some((source, tag)),
        _ => None,
    };
    steps.iter().filter_map(post).collect()
}

fn replay(steps: &[Step], mut model: Model, log: &Log, probed_before: &Seen) -> Seen {
    let mut guide = Guide::new(log);
    let mut probed = Vec::new();
    for step in steps {
        model.arrive_some();
        match *step {
            Step::Post(source, tag) if source.is_none() || tag.is_none() => {
                match guide.post(&call(CallKind::Irecv)).unwrap() {
                    Posting::Matched { source, tag: any } => model.post(Some(source), any.or(tag)),
                    Posting::Cancelled => model.skip(),
                    Posting::Unmatched | Posting::Beyond => model.post(source, tag),
                };
            }
            Step::Post(source, tag) => drop(model.post(source, tag)),
            // Those that were cancelled were not posted; the others are not cancelled.
            Step::Cancel(_) => (),
            Step::Probe(source, tag) => {
                if probed_before.probed[probed.len()].is_none() {
                    probed.push(model.probe(source, tag).filter(|_| false));
                    continue;
                }
                let found = guide.find(&call(CallKind::Probe)).unwrap().unwrap();
                let Outcome::Probed { source, tag: any } = found else {
                    panic!("{found}")
                };
                probed.push(model.probe(Some(source), any.or(tag)));
            }
            Step::Poll(_, tag) => match guide.find(&call(CallKind::Iprobe)).unwrap().unwrap() {
                Outcome::Probed { source, tag: any } => {
                    probed.push(model.probe(Some(source), any.or(tag)));
                }
                _ => probed.push(None),
            },
        }
    }
    while model.arrive() {}
    guide.end().unwrap();
    Seen {
        taken: model.taken,
        probed,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn receives_with_what_they_matched_in_posting_order_take_the_same_messages_in_any_interleaving(
        senders in proptest::collection::vec(proptest::collection::vec(0..2i32, 0..12), 3),
        steps in steps(),
        choices: (u64, u64, u64),
    ) {
        let (seen, log) = record(&steps, Model::new(&senders, choices.0));
        for choices in [choices.1, choices.2] {
            let again = replay(&steps, Model::new(&senders, choices), &log, &seen);
            prop_assert_eq!(&again, &seen);
        }
    }
}

/// Returns a log of two receives, some polls, and a call for one of several requests.
fn small(sources: [i32; 2], polls: u32, index: u32) -> Log {
    let mut recorder = Recorder::default();
    let numbers = [0, 1].map(|_| recorder.post(&call(CallKind::Irecv)));
    for _ in 0..polls {
        recorder.found(&call(CallKind::Test), Outcome::Nothing);
    }
    recorder.found(&call(CallKind::Test), Outcome::Done);
    recorder.found(&call(CallKind::Waitany), Outcome::Index(index));
    recorder.matched(numbers[1], sources[1], None);
    recorder.matched(numbers[0], sources[0], Some(9));
    ended(recorder)
}

#[test]
fn a_guide_gives_what_was_recorded_and_is_content_at_the_end() {
    let mut guide = Guide::new(&small([5, 3], 2, 1));
    let matched = |source, tag| Ok(Posting::Matched { source, tag });
    assert_eq!(guide.post(&call(CallKind::Irecv)), matched(5, Some(9)));
    assert_eq!(guide.post(&call(CallKind::Irecv)), matched(3, None));
    for outcome in [Outcome::Nothing, Outcome::Nothing, Outcome::Done] {
        assert_eq!(guide.find(&call(CallKind::Test)), Ok(Some(outcome)));
    }
    let found = guide.find(&call(CallKind::Waitany));
    assert_eq!(found, Ok(Some(Outcome::Index(1))));
    assert_eq!(guide.end(), Ok(()));
}

#[test]
fn another_way_is_told_with_both_orders_and_what_was_before() {
    let log = small([5, 3], 0, 1);
    let mut guide = Guide::new(&log);
    guide.post(&call(CallKind::Irecv)).unwrap();
    let diverged = guide.find(&call(CallKind::Waitany)).unwrap_err();
    assert_eq!(
        diverged.to_string(),
        "event 1: the program has taken another way than in the recorded run\n  \
         recorded: a call that found done\n  \
         now:      MPI_Waitany of 4 requests\n  \
         before:   MPI_Irecv of 4 elements on communicator 0: a message with tag 9 from rank 5"
    );
    let left = Guide::new(&log).end().unwrap_err();
    assert_eq!(
        (&*left.recorded, &*left.now),
        ("4 more events", "MPI_Finalize")
    );
    let mut guide = Guide::new(&log);
    let post = |guide: &mut Guide| guide.post(&call(CallKind::Recv));
    assert!(post(&mut guide).is_ok() && post(&mut guide).is_ok());
    let third = post(&mut guide).unwrap_err();
    assert_eq!(third.recorded, "no further receive with a wildcard");
}

#[test]
fn another_communicator_is_told_at_the_next_check() {
    let mut recorder = Recorder::default();
    for number in 0..2000 {
        recorder.post(&call(CallKind::Recv));
        recorder.matched(number, 1, None);
    }
    let log = ended(recorder);
    let mut guide = Guide::new(&log);
    let elsewhere = Call {
        communicator: Some(1),
        ..call(CallKind::Recv)
    };
    let other = (0..2000).find_map(|number| {
        let call = if number == 700 {
            elsewhere
        } else {
            call(CallKind::Recv)
        };
        guide.post(&call).err()
    });
    assert_eq!(other.unwrap().event, 1024);
}

#[test]
fn a_log_of_a_rank_that_ended_early_leads_as_far_as_it_goes() {
    let mut recorder = Recorder::default();
    let numbers = [0, 1].map(|_| recorder.post(&call(CallKind::Recv)));
    recorder.matched(numbers[0], 2, None);
    let mut guide = Guide::new(&log(recorder, Ended::Early));
    let first = guide.post(&call(CallKind::Recv)).unwrap();
    assert_eq!(
        first,
        Posting::Matched {
            source: 2,
            tag: None
        }
    );
    assert_eq!(guide.post(&call(CallKind::Recv)), Ok(Posting::Beyond));
    assert_eq!(guide.find(&call(CallKind::Test)), Ok(None));
    assert_eq!(guide.end(), Ok(()));
}

#[test]
fn two_runs_part_at_the_first_receive_that_differs_then_at_the_first_outcome_then_at_polls() {
    let base = small([5, 3], 2, 1);
    assert_eq!(
        parting([&base, &small([5, 3], 2, 1)], EmptyPolls::Compared),
        None
    );
    let receive = parting([&base, &small([5, 4], 2, 0)], EmptyPolls::Compared);
    let what = ["a message from rank 3", "a message from rank 4"].map(str::to_owned);
    assert_eq!(receive, Some(Parting::Receive { number: 2, what }));
    let outcome = parting([&base, &small([5, 3], 7, 0)], EmptyPolls::Ignored);
    let what = ["the request at 1", "the request at 0"].map(str::to_owned);
    assert_eq!(outcome, Some(Parting::Outcome { number: 2, what }));
    let polls = parting([&base, &small([5, 3], 7, 1)], EmptyPolls::Compared);
    let what = ["done, after 2 empty polls", "done, after 7 empty polls"].map(str::to_owned);
    assert_eq!(polls, Some(Parting::Outcome { number: 1, what }));
    assert_eq!(
        parting([&base, &small([5, 3], 7, 1)], EmptyPolls::Ignored),
        None
    );
}

/// Returns a log of these entries, of a rank that posted this number of receives if it reached its
/// end.
fn encoded(entries: &[Entry], posted: Option<u64>) -> Log {
    let (mut coder, mut bytes) = (Coder::default(), Vec::new());
    entries
        .iter()
        .for_each(|entry| coder.encode(&mut bytes, entry));
    let totals = |posted| {
        Ended::Well(Totals {
            posted,
            ..Totals::default()
        })
    };
    let blocks = bytes.chunks(BLOCK).map(compress).collect();
    Log::new(blocks, posted.map_or(Ended::Early, totals)).unwrap()
}

#[test]
fn runs_are_compared_in_time_by_their_entries_whatever_the_numbers_in_these() {
    let cancelled = |place| Entry::Cancelled { place };
    let far = encoded(&[cancelled(1 << 18)], None);
    assert_eq!(parting([&far, &far], EmptyPolls::Compared), None);
    let beyond = encoded(&[cancelled(1 << 40), cancelled(0)], None);
    assert_eq!(parting([&beyond, &beyond], EmptyPolls::Compared), None);
    let spread: Vec<Entry> = (0..20_000)
        .map(|number| cancelled((1 << 20) - 50 * number))
        .collect();
    let spread = encoded(&spread, None);
    assert_eq!(parting([&spread, &spread], EmptyPolls::Compared), None);

    let [most, fewer] =
        [u64::MAX, u64::MAX - 1].map(|posted| encoded(&[cancelled(1)], Some(posted)));
    assert_eq!(parting([&most, &most], EmptyPolls::Compared), None);
    let what = ["no message", "(the run has ended)"].map(str::to_owned);
    let number = u64::MAX;
    let expected = Parting::Receive { number, what };
    assert_eq!(
        parting([&most, &fewer], EmptyPolls::Compared),
        Some(expected)
    );
}

#[test]
fn a_match_takes_less_than_two_bytes() {
    let mut recorder = Recorder::default();
    let (mut state, matches) = (1u64, 100_000);
    let (mut blocks, mut entries) = (Vec::new(), Vec::new());
    for number in 0..matches {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        recorder.post(&call(CallKind::Recv));
        recorder.matched(number, (state % 64) as i32, None);
        if entries.len() + recorder.bytes.len() > BLOCK {
            blocks.push(compress(&std::mem::take(&mut entries)));
        }
        entries.append(&mut recorder.bytes);
    }
    blocks.push(compress(&entries));
    let log = Log::new(blocks, Ended::Early).unwrap();
    assert_eq!(log.counts.matches, matches);
    assert!(log.counts.bytes < 2 * matches, "{:?}", log.counts);
}
