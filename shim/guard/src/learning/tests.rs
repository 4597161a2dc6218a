//! Simulated jobs that are run repeatedly.

use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

use super::*;
use treepie_base::Rank;
use treepie_base::proof::Verdict;
use treepie_placement::worth::Worth;

const SHAPE: u64 = 7;

/// Job, and the results learnt about it.
struct Job {
    experience: Experience,
    random: TestRng,
    /// Seconds of each way to run it.
    seconds: fn(Arm) -> f64,
    /// Standard deviation of the logarithm of its seconds.
    noise: f64,
    now: u64,
}

impl Job {
    fn new(seconds: fn(Arm) -> f64, noise: f64, seed: u8) -> Job {
        Job {
            experience: Experience::default(),
            random: TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]),
            seconds,
            noise,
            now: 1_000_000,
        }
    }

    fn uniform(&mut self) -> f64 {
        (f64::from(self.random.next_u32()) + 0.5) / 4_294_967_296.0
    }

    fn next(&mut self) -> Next {
        let lot = self.uniform() < 0.5;
        next(&self.experience, SHAPE, self.now, lot)
    }

    /// Runs it once; returns its arm and its seconds.
    fn run(&mut self) -> (Arm, f64) {
        let mut next = self.next();
        if next.knowledge == Knowledge::Counted {
            let judgement = self.judgement(Worth::Gain);
            self.experience.judgements = vec![judgement];
            next = self.next();
        }
        let (radius, angle) = (self.uniform(), self.uniform());
        let normal = (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos();
        let seconds = (self.seconds)(next.arm) * (self.noise * normal).exp();
        self.ended(&next, End::Seconds(seconds));
        (next.arm, seconds)
    }

    fn judgement(&self, worth: Worth) -> Judgement {
        let candidates = [
            Candidate::Permute(Rank::list([1, 0])),
            Candidate::Bind(vec![0, 1].into()),
        ];
        // A repeated count gives the same traffic.
        let before = self.experience.judgement(SHAPE);
        Judgement {
            shape: SHAPE,
            made: self.now,
            since: before.map_or(self.now, |before| before.since),
            worth,
            saved: 0.5,
            in_mpi: None,
            candidates: match worth {
                Worth::Gain => candidates.to_vec(),
                _ => Vec::new(),
            },
        }
    }

    fn ended(&mut self, next: &Next, end: End) {
        self.now += 100;
        self.experience.runs.push(Run {
            name: format!("run {}", self.now),
            began: self.now,
            shape: SHAPE,
            arm: next.arm,
            counted: next.counts,
            end,
        });
    }

    fn runs(&mut self, count: usize) -> Vec<Arm> {
        (0..count).map(|_| self.run().0).collect()
    }
}

fn twice_as_fast(arm: Arm) -> f64 {
    match arm {
        Arm::Plain => 10.0,
        Arm::Permute => 5.0,
        Arm::Bind => 10.0,
    }
}

#[test]
fn a_large_gain_is_used_from_the_second_run_on_and_proven_by_the_way() {
    let mut job = Job::new(twice_as_fast, 0.03, 1);
    let arms = job.runs(1_200);
    assert_eq!(arms[0], Arm::Plain);
    assert_eq!(arms[1..80], [Arm::Permute; 79]);
    // Each takes 5 s more, which is one hundredth of the time of 100 runs.
    let plain = arms[1..].iter().filter(|arm| **arm == Arm::Plain).count();
    assert!((9..=13).contains(&plain), "{plain}");
    let Knowledge::Compared {
        standing, evidence, ..
    } = job.next().knowledge
    else {
        panic!("{:?}", job.next());
    };
    assert_eq!(
        (standing, evidence.verdict),
        (Standing::Proven, Verdict::Gain)
    );
    assert!(evidence.interval.0 > 0.3, "{evidence:?}");
}

#[test]
fn equal_ways_are_called_different_in_at_most_one_job_of_twenty() {
    let mut adopted = 0;
    for seed in 0..200 {
        let mut job = Job::new(|_| 10.0, 0.03, seed);
        job.runs(100);
        adopted += usize::from(job.next().knowledge.used() != Arm::Plain);
    }
    assert!(adopted <= 10, "{adopted}");
}

#[test]
fn what_gains_nothing_is_tried_for_a_while_and_never_again() {
    let seconds = |arm| match arm {
        Arm::Plain => 10.0,
        Arm::Permute | Arm::Bind => 10.2,
    };
    let mut job = Job::new(seconds, 0.01, 3);
    let first = job.runs(120);
    let tried = first.iter().filter(|arm| **arm != Arm::Plain).count();
    assert!((2..=60).contains(&tried), "{tried}");
    assert!(job.runs(100).iter().all(|arm| *arm == Arm::Plain));
}

#[test]
fn a_gain_of_five_percent_is_found_in_turn_with_plain_runs() {
    let seconds = |arm| match arm {
        Arm::Permute => 9.5,
        Arm::Plain | Arm::Bind => 10.0,
    };
    let mut found = 0;
    for seed in 0..50 {
        let mut job = Job::new(seconds, 0.02, seed);
        let arms = job.runs(90);
        let Knowledge::Compared { candidate, .. } = job.next().knowledge else {
            continue;
        };
        found += usize::from(candidate == Arm::Permute && arms[80..].contains(&Arm::Permute));
    }
    assert!(found >= 40, "{found} of 50");
}

#[test]
fn a_much_slower_candidate_is_dropped_after_two_runs() {
    let seconds = |arm| match arm {
        Arm::Plain => 10.0,
        Arm::Permute | Arm::Bind => 20.0,
    };
    let mut job = Job::new(seconds, 0.03, 4);
    let arms = job.runs(60);
    let tried = |arm| arms.iter().filter(|ran| **ran == arm).count();
    assert!(tried(Arm::Permute) <= 2, "{arms:?}");
    assert!(tried(Arm::Bind) <= 2, "{arms:?}");
}

#[test]
fn a_somewhat_slower_candidate_is_dropped_after_a_few_runs() {
    let seconds = |arm| match arm {
        Arm::Plain => 10.0,
        Arm::Permute | Arm::Bind => 11.8,
    };
    let mut most = 0;
    for seed in 0..50 {
        let mut job = Job::new(seconds, 0.01, seed);
        let arms = job.runs(60);
        let tried = arms.iter().filter(|ran| **ran == Arm::Permute).count();
        most = most.max(tried);
    }
    assert!(most <= 4, "{most}");
}

#[test]
fn after_one_bad_run_a_candidate_has_its_second_look_when_others_have_paid_for_it() {
    let seconds = |arm| match arm {
        Arm::Plain => 10.0,
        Arm::Permute | Arm::Bind => 13.0,
    };
    for seed in 0..50 {
        let mut job = Job::new(seconds, 0.01, seed);
        let arms = job.runs(23);
        assert_eq!((arms[1], arms[22]), (Arm::Permute, Arm::Permute));
        let between = &arms[2..22];
        assert!(between.iter().all(|arm| *arm == Arm::Plain), "{arms:?}");
        assert_eq!(job.next().arm, Arm::Bind, "the next candidate");
    }
}

#[test]
fn a_candidate_whose_first_run_was_disturbed_is_found_all_the_same() {
    let mut job = Job::new(twice_as_fast, 0.03, 5);
    job.runs(1);
    let judgement = job.judgement(Worth::Gain);
    job.experience.judgements = vec![judgement];
    let next = job.next();
    assert_eq!(next.arm, Arm::Permute);
    job.ended(&next, End::Seconds(15.0));
    job.runs(60);
    assert_eq!(job.next().knowledge.used(), Arm::Permute);
}

#[test]
fn a_gain_that_turned_into_a_loss_is_taken_back() {
    let mut job = Job::new(twice_as_fast, 0.03, 5);
    job.runs(100);
    job.seconds = |arm| match arm {
        Arm::Permute => 12.0,
        Arm::Plain | Arm::Bind => 10.0,
    };
    let arms = job.runs(60);
    assert!(
        arms[50..].iter().all(|arm| *arm != Arm::Permute),
        "{arms:?}"
    );
}

#[test]
fn a_candidate_that_fails_alone_is_not_run_again() {
    let mut job = Job::new(twice_as_fast, 0.03, 6);
    job.runs(5);
    let next = job.next();
    assert_eq!(next.arm, Arm::Permute);
    job.ended(&next, End::Failed);
    let after = job.next();
    assert_eq!(after.arm, Arm::Bind, "the next candidate");
    assert!(job.runs(100).iter().all(|arm| *arm != Arm::Permute));
}

#[test]
fn a_job_that_always_fails_says_nothing_of_a_candidate() {
    let mut job = Job::new(twice_as_fast, 0.03, 6);
    job.runs(2);
    for _ in 0..3 {
        let next = job.next();
        job.ended(&next, End::Failed);
    }
    job.experience.runs.last_mut().unwrap().arm = Arm::Plain;
    let Knowledge::Compared { standing, .. } = job.next().knowledge else {
        panic!("{:?}", job.next());
    };
    assert_ne!(standing, Standing::Failed);
}

#[test]
fn while_a_trial_has_not_ended_others_run_plain_and_after_long_it_failed() {
    let mut job = Job::new(twice_as_fast, 0.03, 7);
    job.run();
    let judgement = job.judgement(Worth::Gain);
    job.experience.judgements = vec![judgement];
    let trial = job.next();
    job.ended(&trial, End::Open);
    let meanwhile = job.next();
    assert_eq!((trial.arm, meanwhile.arm), (Arm::Permute, Arm::Plain));
    job.now += 3_600;
    assert_eq!(job.next().arm, Arm::Bind);
}

#[test]
fn what_promises_nothing_is_left_alone_but_counted_again() {
    let mut job = Job::new(twice_as_fast, 0.03, 8);
    job.run();
    let judgement = job.judgement(Worth::Little);
    job.experience.judgements = vec![judgement];
    let next = job.next();
    assert_eq!(next.knowledge, Knowledge::NotWorth(Worth::Little));
    assert!(!next.counts && next.arm == Arm::Plain);
    for _ in 0..50 {
        let next = job.next();
        assert_eq!(next.arm, Arm::Plain);
        job.ended(&next, End::Seconds(10.0));
    }
    assert!(job.next().counts);
}

#[test]
fn counting_ends_where_no_run_does_and_old_runs_are_forgotten() {
    let mut job = Job::new(twice_as_fast, 0.03, 9);
    for _ in 0..3 {
        let next = job.next();
        assert_eq!(next.knowledge, Knowledge::Unknown);
        job.ended(&next, End::Open);
    }
    let next = job.next();
    assert_eq!(next.knowledge, Knowledge::NeverEnds);
    // A store that could not be written looks like a job that does not end, until it can be
    // written.
    job.ended(&next, End::Seconds(1.0));
    let next = job.next();
    assert_eq!((next.knowledge, next.counts), (Knowledge::Unknown, true));
    job.experience.runs.pop();
    assert_eq!(job.next().knowledge, Knowledge::NeverEnds);
    job.now += MAX_AGE_SECONDS + 1_000;
    assert_eq!(job.next().knowledge, Knowledge::Unknown);
}

#[test]
fn files_of_one_run_are_one_run_in_any_order() {
    let run = |end| Run {
        name: "a".into(),
        began: 5,
        shape: SHAPE,
        arm: Arm::Permute,
        counted: false,
        end,
    };
    let of = |end| Experience {
        runs: vec![run(end)],
        judgements: Vec::new(),
    };
    let orders = [
        [End::Open, End::Seconds(3.0), End::Failed],
        [End::Failed, End::Open, End::Seconds(3.0)],
    ];
    for ends in orders {
        let mut sum = Experience::default();
        ends.into_iter().for_each(|end| sum.add(of(end)));
        assert_eq!(sum.runs, [run(End::Failed)]);
    }
}
