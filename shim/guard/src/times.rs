//! Durations of calls, in nanoseconds: on this rank, and as all ranks agree on them.

use std::collections::VecDeque;

use super::key::Key;

/// What stands for a duration that is not known.
const UNKNOWN: i64 = -1;

/// What calls of a cell do, where that may differ from call to call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// One-sided calls.
    pub calls: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Work {
    /// Whether it differs by a quarter at most: times of the two can be compared.
    pub(super) fn is_like(&self, other: &Work) -> bool {
        let alike = |one: u64, other: u64| one.abs_diff(other) <= one.max(other) / 4;
        alike(self.calls, other.calls) && alike(self.bytes, other.bytes)
    }
}

/// One call as this rank measured it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Local {
    /// From its start to its end; of one that is started, what it took of the program's time: in
    /// the call that starts it and in those that complete it.
    pub duration: u64,
    /// From its start to that of the next call of the cell.
    pub period: u64,
    /// What it did.
    pub work: Work,
    /// Calls that have not ended: as long as there are any, the duration is not known.
    open: u32,
}

/// Numbers that a call takes in an exchange, of which the least of all ranks is made.
pub(super) const OF_A_CALL: usize = 3;

impl Local {
    /// A call begins.
    pub fn begin(&mut self) {
        self.open += 1;
    }

    /// It has ended.
    pub fn end(&mut self, duration: u64, work: Work) {
        self.open = self.open.saturating_sub(1);
        self.duration += duration;
        self.work.calls += work.calls;
        self.work.bytes = self.work.bytes.saturating_add(work.bytes);
    }

    /// The numbers of an exchange; the duration may be none to compare with.
    pub fn values(self, is_comparable: bool) -> [i64; OF_A_CALL] {
        let whole = |nanoseconds: u64| i64::try_from(nanoseconds).unwrap_or(i64::MAX);
        let duration = match self.open {
            0 if is_comparable => whole(self.duration),
            _ => UNKNOWN,
        };
        [duration, -duration, -whole(self.period)]
    }
}

/// One call as all ranks measured it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Agreed {
    /// The least duration: that of a rank that enters late, where all wait for it.
    pub least: u64,
    /// The most.
    pub most: u64,
    /// The longest time from its start to that of the next call.
    pub period: u64,
    /// Whether all ranks know its duration.
    pub is_known: bool,
}

impl Agreed {
    /// From the least numbers of all ranks.
    pub fn new(values: &[i64]) -> Agreed {
        let whole = |value: i64| u64::try_from(value).unwrap_or(0);
        match values {
            &[least, most, period] => Agreed {
                least: whole(least),
                most: whole(most.saturating_neg()),
                period: whole(period.saturating_neg()),
                is_known: least >= 0,
            },
            _ => Agreed::default(),
        }
    }

    /// Duration of the operation: the middle between the least and the most where all wait for
    /// each other. Some enter late, and find there what others wait for: what is saved or lost on
    /// one side alone is no change. Elsewhere the most.
    pub fn duration(&self, key: &impl Key) -> u64 {
        match key.needs_all() {
            true => self.least / 2 + self.most / 2 + (self.least & self.most & 1),
            false => self.most,
        }
    }

    /// What the call took of the job's time. Where ranks may leave early, or go on meanwhile, calls
    /// overlap, and one lasts longer than it takes until the next.
    pub fn share(&self, key: &impl Key) -> u64 {
        let duration = self.duration(key);
        match key.synchronises() {
            true => duration,
            false => duration.min(self.period),
        }
    }

    /// Whether this call took less time than another, by more than 2 % of the time of one that
    /// waits for nobody.
    pub(crate) fn is_quicker_than(&self, other: &Agreed, key: &impl Key) -> bool {
        let alone = match key.needs_all() {
            true => other.least,
            false => other.most,
        };
        u128::from(self.saves(other, key)) * 50 > u128::from(alone)
    }

    /// Nanoseconds that this call took less than another.
    pub fn saves(&self, other: &Agreed, key: &impl Key) -> u64 {
        other.duration(key).saturating_sub(self.duration(key))
    }
}

/// Whether the first time is less than 98 % of the second.
pub(super) fn is_quicker(first: u64, second: u64) -> bool {
    u128::from(first) * 100 < u128::from(second) * 98
}

/// Durations that are remembered for a median.
const REMEMBERED: usize = 32;

/// The typical duration of late.
#[derive(Debug, Clone, Default)]
pub(super) struct Typical {
    last: VecDeque<u64>,
}

impl Typical {
    /// As found by an earlier run.
    pub fn known(nanoseconds: u64) -> Self {
        Typical::of([nanoseconds])
    }

    /// Of these.
    pub fn of(all: impl IntoIterator<Item = u64>) -> Self {
        let mut typical = Typical::default();
        all.into_iter()
            .for_each(|nanoseconds| typical.add(nanoseconds));
        typical
    }

    /// Durations of which it is made.
    pub fn count(&self) -> usize {
        self.last.len()
    }

    pub fn add(&mut self, nanoseconds: u64) {
        if self.last.len() == REMEMBERED {
            self.last.pop_front();
        }
        self.last.push_back(nanoseconds);
    }

    /// The median; the lower of two.
    pub fn median(&self) -> Option<u64> {
        let mut sorted: Vec<u64> = self.last.iter().copied().collect();
        sorted.sort_unstable();
        let middle = sorted.len().checked_sub(1)? / 2;
        sorted.get(middle).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CellKey;
    use treepie_collective::Operation;

    fn local(duration: u64, period: u64) -> Local {
        Local {
            duration,
            period,
            work: Work::default(),
            open: 0,
        }
    }

    #[test]
    fn the_least_of_all_numbers_gives_least_and_most_of_all_durations() {
        let ranks = [(50, 900), (20, 950), (70, 800)];
        let all = ranks.map(|(duration, period)| local(duration, period).values(true));
        let least: Vec<i64> = (0..OF_A_CALL)
            .map(|at| all.iter().map(|values| values[at]).min().unwrap())
            .collect();
        let agreed = Agreed::new(&least);
        assert_eq!((agreed.least, agreed.most, agreed.period), (20, 70, 950));
        let of = |operation| agreed.duration(&CellKey::new(operation, 0, Some(8), false));
        assert_eq!(of(Operation::Allreduce), 45);
        assert_eq!(of(Operation::Bcast), 70);
        let share = |period, operation| {
            let call = Agreed { period, ..agreed };
            call.share(&CellKey::new(operation, 0, Some(8), false))
        };
        assert_eq!(share(950, Operation::Bcast), 70);
        assert_eq!(share(30, Operation::Bcast), 30);
        assert_eq!(share(30, Operation::Allreduce), 45);
    }

    #[test]
    fn a_call_that_is_open_on_one_rank_is_known_to_none() {
        let mut begun = local(20, 900);
        begun.begin();
        let open = begun.values(true);
        let ended = local(50, 900).values(true);
        let least: Vec<i64> = open
            .iter()
            .zip(ended)
            .map(|(&one, other)| one.min(other))
            .collect();
        assert!(!Agreed::new(&least).is_known);
        assert!(Agreed::new(&ended).is_known);
    }

    #[test]
    fn work_that_differs_by_more_than_a_quarter_is_not_alike() {
        let work = |calls, bytes| Work { calls, bytes };
        assert!(work(100, 800).is_like(&work(75, 800)));
        assert!(!work(100, 800).is_like(&work(74, 800)));
        assert!(!work(100, 800).is_like(&work(100, 599)));
        assert!(!work(1, 8).is_like(&work(0, 0)));
        assert!(Work::default().is_like(&Work::default()));
    }

    #[test]
    fn a_rank_that_is_late_hides_no_gain_and_skew_is_none() {
        let key = CellKey::new(Operation::Allreduce, 0, Some(8), false);
        let call = |least, most| Agreed {
            least,
            most,
            is_known: true,
            ..Agreed::default()
        };
        // All wait 5 ms for one rank, which itself takes 50 us, or 40.
        let native = call(50_000, 5_050_000);
        assert!(call(40_000, 5_040_000).is_quicker_than(&native, &key));
        assert!(!call(49_500, 5_049_500).is_quicker_than(&native, &key));
        // One side waits less, the other as much more.
        assert!(!call(10_000, 5_090_000).is_quicker_than(&native, &key));
    }

    #[test]
    fn a_tie_or_less_than_two_per_cent_is_not_quicker() {
        assert!(is_quicker(979, 1000));
        assert!(!is_quicker(980, 1000));
        assert!(!is_quicker(0, 0));
        assert!(is_quicker(1, u64::MAX));
    }

    #[test]
    fn the_median_is_that_of_the_last_durations() {
        let mut typical = Typical::default();
        assert_eq!(typical.median(), None);
        for duration in [5, 1, 9, 7] {
            typical.add(duration);
        }
        assert_eq!(typical.median(), Some(5));
        for _ in 0..REMEMBERED {
            typical.add(3);
        }
        assert_eq!(typical.median(), Some(3));
    }
}
