//! Phases: parts of the job's time with separate counts. Counters run from the start to the end; a
//! phase is the difference between two readings, so that a counted call does no additional work.
//!
//! `MPI_Pcontrol(level)`: 0 excludes what follows from the counts, any other level counts in the
//! phase of that number; the job starts in phase 1. A phase may be entered repeatedly. With
//! intervals, phases are cut by time, and only level 0 has an effect.

use std::collections::BTreeMap;
use std::time::Duration;

use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use treepie_mpi::c_int;
use treepie_process::features::{self, COUNTING};
use treepie_profile::partial_profiles::{Encoder, Sink, Span};

use super::clock;
use super::patience::Patience;
use super::reading::{self, Reading};

/// Maximum number of intervals that are kept: beyond it, pairs are merged, and intervals become
/// twice as long.
const MOST_INTERVALS: usize = 64;

/// Identity of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    /// Level of the application.
    Level(c_int),
    /// Number of the interval.
    Interval(u32),
}

/// Phase with its counts, over all its occurrences.
struct Closed {
    name: String,
    span: Span,
    of: Reading,
}

/// Phases of this process.
struct Phases {
    closed: BTreeMap<Mark, Closed>,
    mark: Mark,
    name: String,
    since: u64,
    /// Counts before the current phase.
    before: Reading,
    /// Length of an interval in nanoseconds, if there are intervals.
    interval: Option<u64>,
    left_out: bool,
    /// True if there is more than the one phase that every job starts in.
    used: bool,
}

/// Phases since counting began.
static PHASES: OnceCell<Mutex<Phases>> = OnceCell::new();

/// Starts the clock of phases; intervals have this length.
pub fn begin(interval: Option<Duration>) {
    let mut phases = Phases::new();
    if let Some(interval) = interval {
        phases.interval = Some(u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX));
        phases.used = true;
        phases.turn_to(Mark::Interval(0), 0, Reading::default());
    }
    clock::begin();
    let _ = PHASES.set(Mutex::new(phases));
}

/// Begins the phase of this level, of `MPI_Pcontrol`.
pub fn set_level(level: c_int) {
    if features::any(COUNTING)
        && let Some(phases) = PHASES.get()
    {
        phases.lock().set_level(level);
    }
}

/// Ends the current interval if its time is over. Returns the time until the next end; `None` if
/// there are no intervals.
pub fn turn_interval() -> Option<Duration> {
    let mut phases = PHASES.get()?.lock();
    let interval = phases.interval?;
    let now = clock::now();
    let number = now / interval;
    if !phases.left_out && phases.mark != Mark::Interval(number as u32) {
        let reading = reading::reading();
        phases.turn_to(Mark::Interval(number as u32), number * interval, reading);
        phases.merge_intervals();
    }
    let interval = phases.interval?;
    Some(Duration::from_nanos((now / interval + 1) * interval - now))
}

/// Writes the ended phases and the current one, if there are any. Nothing is allocated.
pub fn encode<S: Sink>(patience: impl Patience, encoder: &mut Encoder<'_, S>) {
    let timeline = PHASES.get();
    let phases = timeline.and_then(|phases| patience.acquire(|| phases.try_lock()));
    if let Some(phases) = phases.filter(|phases| phases.used) {
        phases.encode(encoder);
    }
}

impl Phases {
    fn new() -> Self {
        Phases {
            closed: BTreeMap::new(),
            mark: Mark::Level(1),
            name: "1".to_owned(),
            since: 0,
            before: Reading::default(),
            interval: None,
            left_out: false,
            used: false,
        }
    }

    fn set_level(&mut self, level: c_int) {
        let left_out = level == 0;
        let mark = match (self.interval, left_out) {
            (Some(_), false) if !self.left_out => return,
            (Some(interval), false) => Mark::Interval((clock::now() / interval) as u32),
            _ => Mark::Level(level),
        };
        if mark == self.mark {
            return;
        }
        self.used = true;
        self.turn_to(mark, clock::now(), reading::reading());
    }

    /// Ends the current phase with this reading, and begins the next.
    fn turn_to(&mut self, mark: Mark, now: u64, reading: Reading) {
        let span = Span {
            start: self.since,
            end: now,
            length: now.saturating_sub(self.since),
        };
        let of = reading.since(&self.before);
        // The phase before the first mark may be empty: then it is dropped.
        if span.length > 0 && (!of.is_empty() || !self.closed.is_empty()) {
            let name = std::mem::take(&mut self.name);
            match self.closed.get_mut(&self.mark) {
                Some(closed) => {
                    closed.span.extend(span);
                    closed.of.add(of);
                }
                None => drop(self.closed.insert(self.mark, Closed { name, span, of })),
            }
        }
        self.mark = mark;
        self.left_out = mark == Mark::Level(0);
        self.name = self.name_of(mark);
        self.since = now;
        self.before = reading;
    }

    fn name_of(&self, mark: Mark) -> String {
        match (mark, self.interval) {
            (Mark::Interval(number), Some(interval)) => {
                let seconds = |number: u32| f64::from(number) * interval as f64 / 1e9;
                format!("{}-{}s", seconds(number), seconds(number + 1))
            }
            (Mark::Interval(number), None) => number.to_string(),
            (Mark::Level(level), _) => level.to_string(),
        }
    }

    /// Merges pairs of intervals while there are too many: a job of any length has a bounded
    /// number. All ranks do so at the same numbers.
    fn merge_intervals(&mut self) {
        while let (Mark::Interval(number), Some(interval)) = (self.mark, self.interval) {
            if (number as usize) < MOST_INTERVALS {
                return;
            }
            self.interval = Some(interval.saturating_mul(2));
            for (mark, closed) in std::mem::take(&mut self.closed) {
                let mark = match mark {
                    Mark::Interval(number) => Mark::Interval(number / 2),
                    level => level,
                };
                let name = self.name_of(mark);
                match self.closed.get_mut(&mark) {
                    Some(there) => {
                        there.span.extend(closed.span);
                        there.of.add(closed.of);
                    }
                    None => drop(self.closed.insert(mark, Closed { name, ..closed })),
                }
            }
            self.mark = Mark::Interval(number / 2);
            self.name = self.name_of(self.mark);
        }
    }

    fn encode<S: Sink>(&self, encoder: &mut Encoder<'_, S>) {
        for (mark, closed) in &self.closed {
            encoder.phase(&closed.name, closed.span, *mark == Mark::Level(0));
            for (&(kind, partner), &traffic) in &closed.of.counted {
                encoder.counted(kind, partner, traffic);
            }
            closed.of.collectives.encode(encoder);
            for (&class, &time) in &closed.of.times {
                encoder.time(class, time);
            }
        }
        let end = clock::now();
        let span = Span {
            start: self.since,
            end,
            length: end.saturating_sub(self.since),
        };
        encoder.open_phase(&self.name, span, self.left_out);
    }
}
#[cfg(test)]
mod tests {
    use treepie_base::Rank;
    use treepie_profile::partial_profiles::MessageKind;
    use treepie_traffic::Traffic;

    use super::*;

    fn reading(bytes: u64) -> Reading {
        Reading {
            counted: [(
                (MessageKind::PointToPoint, Rank(1)),
                Traffic::new(bytes, bytes),
            )]
            .into(),
            ..Reading::default()
        }
    }

    fn bytes(phases: &Phases) -> Vec<(&str, u64)> {
        let closed = phases.closed.values();
        closed
            .map(|closed| {
                let total: Traffic = closed.of.counted.values().copied().sum();
                (&*closed.name, total.bytes)
            })
            .collect()
    }

    #[test]
    fn a_phase_is_what_was_counted_between_two_marks_and_may_come_back() {
        let mut phases = Phases::new();
        phases.turn_to(Mark::Level(2), 10, reading(5));
        phases.turn_to(Mark::Level(0), 20, reading(12));
        phases.turn_to(Mark::Level(2), 30, reading(112));
        phases.turn_to(Mark::Level(1), 40, reading(115));
        assert_eq!(bytes(&phases), [("0", 100), ("1", 5), ("2", 10)]);
        let span = phases.closed[&Mark::Level(2)].span;
        assert_eq!((span.start, span.end, span.length), (10, 40, 20));
    }

    #[test]
    fn intervals_become_longer_when_there_are_too_many() {
        let mut phases = Phases::new();
        phases.interval = Some(1_000_000_000);
        phases.turn_to(Mark::Interval(0), 0, reading(0));
        let ends = 1..=2 * MOST_INTERVALS as u32;
        for end in ends {
            let now = u64::from(end) * 1_000_000_000;
            let interval = phases.interval.expect("there are intervals");
            let number = (now / interval) as u32;
            if phases.mark != Mark::Interval(number) {
                phases.turn_to(Mark::Interval(number), now, reading(now / 1_000_000_000));
                phases.merge_intervals();
            }
        }
        let found = bytes(&phases);
        assert_eq!(found.len(), MOST_INTERVALS / 2);
        assert_eq!(found[..2], [("0-4s", 4), ("4-8s", 4)]);
        assert_eq!(phases.name, "128-132s");
    }
}
