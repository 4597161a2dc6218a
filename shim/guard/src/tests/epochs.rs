//! Small puts under the guard, on simulated ranks: windows in which joining gains, and others.

use std::sync::Arc;

use treepie_traffic::windows::EpochKind;

use super::super::*;
use crate::hash::mix;
use crate::policy::VALUES;

/// Time of the pieces of an epoch, separate and joined, in nanoseconds.
#[derive(Clone, Copy)]
struct Pieces {
    count: u64,
    native: f64,
    joined: f64,
}

const MANY: Pieces = Pieces {
    count: 256,
    native: 200_000.0,
    joined: 20_000.0,
};

/// A single piece, which joining copies without saving a message.
const SINGLE: Pieces = Pieces {
    count: 1,
    native: 10_000.0,
    joined: 10_600.0,
};

const LARGE: Pieces = Pieces {
    count: 16,
    native: 100_000.0,
    joined: 140_000.0,
};

/// Rank and its latest actions.
struct Rank {
    guard: EpochGuard,
    course: Course,
    spent: (f64, Work),
    now: f64,
    /// Nanoseconds of all epochs, and their time without Treepie.
    took: f64,
    native: f64,
    gathered: usize,
}

impl Rank {
    fn new(guard: EpochGuard) -> Self {
        Rank {
            guard,
            course: Course {
                gathers: false,
                is_measured: false,
            },
            spent: (0.0, Work::default()),
            now: 0.0,
            took: 0.0,
            native: 0.0,
            gathered: 0,
        }
    }

    fn alone(seed: u64, mode: Mode) -> Self {
        Rank::new(EpochGuard::alone(seed, mode, Arc::default()))
    }

    fn begin(&mut self, kind: EpochKind) {
        let (spent, now) = (self.spent, self.now as u64);
        let mut is_ended = false;
        let ended = || {
            is_ended = true;
            (spent.0 as u64, spent.1)
        };
        self.course = self.guard.begin(kind, || now, ended);
        if is_ended {
            self.spent = (0.0, Work::default());
        }
    }

    /// Returns the time of its calls in an epoch, with noise; `None` if it makes none.
    fn takes(&self, pieces: Option<Pieces>, noise: f64) -> f64 {
        let time = pieces.map_or(0.0, |pieces| match self.course.gathers {
            true => pieces.joined,
            false => pieces.native,
        });
        time * noise
    }

    fn spend(&mut self, pieces: Option<Pieces>, took: f64) {
        if self.course.is_measured {
            self.spent.0 += took;
            self.spent.1.calls += pieces.map_or(0, |pieces| pieces.count);
            self.spent.1.bytes += pieces.map_or(0, |pieces| 8 * pieces.count);
        }
        self.gathered += usize::from(pieces.is_some() && self.course.gathers);
        self.took += took;
        self.now += took;
    }

    /// Runs an epoch of this rank alone, after some work of the program.
    fn epoch(&mut self, kind: EpochKind, pieces: Pieces, random: &mut u64) {
        self.begin(kind);
        let noise = noise(random);
        let took = self.takes(Some(pieces), noise);
        self.spend(Some(pieces), took);
        self.native += pieces.native * noise;
        self.now += 50_000.0 * (1.0 + uniform(random));
    }

    fn state(&self) -> State {
        self.guard.summaries()[0].state
    }
}

fn uniform(random: &mut u64) -> f64 {
    *random = random.wrapping_add(1);
    (mix(0, *random) >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns a factor within a few per cent of 1, and sometimes twice as large.
fn noise(random: &mut u64) -> f64 {
    let spike = if uniform(random) < 0.03 { 1.0 } else { 0.0 };
    1.0 + 0.1 * (uniform(random) - 0.5) + spike
}

/// Returns ranks after `count` flushes, each with the pieces that `pieces` returns.
fn flushed(count: u64, epochs: u64, pieces: impl Fn(u64) -> Pieces) -> Vec<Rank> {
    let run = |seed| {
        let (mut rank, mut random) = (Rank::alone(seed, Mode::Adopt), seed << 32);
        for epoch in 0..epochs {
            rank.epoch(EpochKind::LockAll, pieces(epoch), &mut random);
        }
        rank
    };
    (0..count).map(run).collect()
}

#[test]
fn many_small_puts_are_joined_and_stay_so() {
    for rank in flushed(40, 4_000, |_| MANY) {
        assert_eq!(rank.state(), State::Adopted);
        assert!(rank.gathered > 3_500, "{}", rank.gathered);
        assert!(rank.took < 0.3 * rank.native);
    }
}

#[test]
fn single_and_large_puts_stay_with_the_mpi_at_one_per_cent() {
    for pieces in [SINGLE, LARGE] {
        for rank in flushed(40, 20_000, |_| pieces) {
            assert!(matches!(rank.state(), State::Dropped | State::Trying));
            assert!(rank.took < 1.012 * rank.native);
        }
    }
}

#[test]
fn a_window_is_left_when_all_kinds_of_its_epochs_are() {
    let mut is_left = 0;
    for mut rank in flushed(20, 20_000, |_| SINGLE) {
        assert_eq!(rank.guard.leaves_all(), rank.state() == State::Dropped);
        is_left += usize::from(rank.guard.leaves_all());
        // Epochs of another kind may gain.
        rank.epoch(EpochKind::Lock, MANY, &mut 1);
        assert!(!rank.guard.leaves_all());
    }
    assert!(is_left > 0);
}

#[test]
fn a_window_whose_every_second_epoch_is_a_single_put_is_judged_by_both() {
    for rank in flushed(20, 6_000, |epoch| [SINGLE, MANY][epoch as usize % 2]) {
        assert_eq!(rank.state(), State::Adopted);
    }
}

#[test]
fn epochs_that_do_different_work_are_not_compared() {
    // In cycles of three, none of which gains by joining: many comparisons of different ones would
    // seem to show a gain.
    let steps = [1, 40, 60].map(|count| Pieces {
        count,
        native: 1_000.0 * count as f64,
        joined: 1_000.0 * count as f64,
    });
    for rank in flushed(40, 20_000, |epoch| steps[epoch as usize % 3]) {
        let found = rank.guard.summaries();
        assert!(found.iter().all(|one| one.state != State::Adopted));
        assert_eq!((found[0].won, found[0].lost), (0, 0));
    }
}

#[test]
fn what_gains_in_rounds_of_several_different_epochs_is_joined() {
    for counts in [
        &[1, 300, 500][..],
        &[1, 300, 40, 900],
        &[300, 1, 1, 40, 9, 900],
    ] {
        let steps = counts.iter().map(|&count| Pieces {
            count,
            native: 1_000.0 * count as f64,
            joined: 2_000.0 + 100.0 * count as f64,
        });
        let steps: Vec<Pieces> = steps.collect();
        let of = |epoch| steps[epoch as usize % steps.len()];
        for rank in flushed(10, 8_000, of) {
            let found = rank.guard.summaries();
            let last = found.last().map(|one| (one.key.epochs, one.state));
            assert_eq!(last, Some((12, State::Adopted)), "{found:?}");
            assert!(rank.gathered > 3_000, "{}", rank.gathered);
        }
    }
}

#[test]
fn what_gains_no_more_is_taken_back() {
    for seed in 0..20 {
        let (mut rank, mut random) = (Rank::alone(seed, Mode::Adopt), seed << 32);
        for _ in 0..4_000 {
            rank.epoch(EpochKind::Lock, MANY, &mut random);
        }
        assert_eq!(rank.state(), State::Adopted);
        let mut epochs = 0;
        while rank.state() == State::Adopted {
            rank.epoch(EpochKind::Lock, LARGE, &mut random);
            epochs += 1;
        }
        assert!(epochs <= 1_500, "{epochs} epochs");
        assert_eq!(rank.state(), State::TakenBack);
    }
}

#[test]
fn what_an_earlier_run_adopted_is_joined_from_the_first_epoch_on() {
    let known = AdoptedPlan {
        key: EpochKey::new(EpochKind::Start),
        challenger: Gathered,
        native: 2 * MANY.native as u64,
        plan: 2 * MANY.joined as u64,
    };
    let mut rank = Rank::new(EpochGuard::alone(1, Mode::Adopt, [known].into()));
    let mut random = 7;
    for _ in 0..100 {
        rank.epoch(EpochKind::Start, MANY, &mut random);
    }
    assert!(rank.gathered > 80, "{}", rank.gathered);
    rank.epoch(EpochKind::Lock, MANY, &mut random);
    assert!(!rank.course.gathers, "of other epochs nothing is known");
}

#[test]
fn a_report_says_what_would_gain_and_joins_nothing_for_good() {
    let (mut rank, mut random) = (Rank::alone(3, Mode::Report), 3);
    for _ in 0..4_000 {
        rank.epoch(EpochKind::LockAll, MANY, &mut random);
    }
    assert_eq!(rank.state(), State::Proven);
    assert!(rank.gathered < 400, "{}", rank.gathered);
}

/// Returns ranks that meet in fences, each with the pieces that it puts before every second one;
/// the last rank comes `late` nanoseconds late.
fn fenced(seed: u64, fences: u64, pieces: &[Option<Pieces>], late: f64) -> Vec<Rank> {
    let rank = |_| Rank::new(EpochGuard::shared(seed, Mode::Adopt, Arc::default()));
    let mut ranks: Vec<Rank> = pieces.iter().map(rank).collect();
    let mut told: Option<Vec<i64>> = None;
    let mut random = seed << 32;
    for fence in 0..fences {
        let due = ranks[0].guard.due();
        assert!(ranks.iter_mut().all(|rank| rank.guard.due() == due));
        match due {
            Due::Nothing => (),
            Due::Begin => {
                let mine = ranks.iter_mut().map(|rank| {
                    let now = rank.now as u64;
                    rank.guard.begin_exchange(now)
                });
                let all: Vec<Vec<i64>> = mine.collect();
                let least = |at| all.iter().map(|values| values[at]).min();
                told = (0..VALUES).map(least).collect();
            }
            Due::Complete => {
                let least = told.take().expect("it was begun");
                for rank in &mut ranks {
                    rank.guard.complete_exchange(&least, 10_000);
                }
            }
        }
        let last = ranks.len() - 1;
        let mut arrived = Vec::new();
        for (place, rank) in ranks.iter_mut().enumerate() {
            rank.begin(EpochKind::Fence);
            let work = pieces[place].filter(|_| fence % 2 == 0);
            let took = rank.takes(work, noise(&mut random));
            let later = if place == last { late } else { 0.0 };
            arrived.push((work, took, took + later));
        }
        let courses: Vec<bool> = ranks.iter().map(|rank| rank.course.gathers).collect();
        assert!(courses.iter().all(|&one| one == courses[0]), "in step");
        let end = arrived.iter().map(|one| one.2).fold(0.0, f64::max) + 2_000.0;
        for (rank, (work, took, arrival)) in ranks.iter_mut().zip(arrived) {
            // In the calls, and waiting in the fence.
            rank.spend(work, took + end - arrival);
        }
    }
    ranks
}

#[test]
fn ranks_of_fences_see_together_what_none_would_see_alone() {
    for seed in 0..10 {
        let all = fenced(seed, 6_000, &[Some(MANY); 4], 0.0);
        assert!(all.iter().all(|rank| rank.state() == State::Adopted));
        // A late rank hides the gain of the others, but not its own.
        let late = fenced(seed, 6_000, &[Some(MANY); 4], 1e6);
        assert!(late.iter().all(|rank| rank.state() == State::Adopted));
    }
}

#[test]
fn ranks_that_only_wait_for_one_that_gains_nothing_gain_nothing() {
    for seed in 0..10 {
        let all = fenced(seed, 20_000, &[None, Some(SINGLE), None], 0.0);
        assert!(all.iter().all(|rank| rank.state() != State::Adopted));
        let waiting = fenced(seed, 20_000, &[Some(MANY), None], 1e6);
        assert!(waiting.iter().all(|rank| rank.state() != State::Adopted));
    }
}
