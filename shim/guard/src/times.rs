//! Durations of calls, in nanoseconds: on this rank, and as all ranks agree on them.

use std::collections::VecDeque;

use crate::call::CallSemantics;
use crate::policy::{CALL_VALUES, COMPARABLE_WORK_PART, MEDIAN_DURATIONS};

/// Value in an exchange for an unknown duration.
const UNKNOWN: i64 = -1;

/// Amount of work of a call, in cells in which it may differ from call to call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Number of one-sided calls.
    pub calls: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Work {
    /// True if times of the two can be compared.
    pub(crate) fn is_comparable_to(&self, other: &Work) -> bool {
        let alike =
            |one: u64, other: u64| one.abs_diff(other) <= one.max(other) / COMPARABLE_WORK_PART;
        alike(self.calls, other.calls) && alike(self.bytes, other.bytes)
    }
}

/// Measurements of this rank: of one call, or sums over several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LocalTimes {
    /// Time from its start to its end; for a nonblocking one, the program's time in the call that
    /// starts it and in those that complete it.
    pub duration: u64,
    /// Time from its start to that of the next call of the cell.
    pub period: u64,
    /// Its work.
    pub work: Work,
    /// Number of calls that have not ended: as long as there are any, the duration is unknown.
    open: u32,
}

impl LocalTimes {
    /// Begins a call.
    pub fn begin(&mut self) {
        self.open += 1;
    }

    /// Ends a call.
    pub fn end(&mut self, duration: u64, work: Work) {
        self.open = self.open.saturating_sub(1);
        self.duration += duration;
        self.work.calls += work.calls;
        self.work.bytes = self.work.bytes.saturating_add(work.bytes);
    }

    /// Returns the values in an exchange; the duration is unknown if it is not comparable.
    pub fn values(self, is_comparable: bool) -> [i64; CALL_VALUES] {
        let whole = |nanoseconds: u64| i64::try_from(nanoseconds).unwrap_or(i64::MAX);
        let duration = match self.open {
            0 if is_comparable => whole(self.duration),
            _ => UNKNOWN,
        };
        [duration, -duration, -whole(self.period)]
    }
}

/// Times of a call over all ranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct AgreedTimes {
    /// Minimum over ranks: the last to enter does not wait.
    pub least: u64,
    /// Maximum over ranks.
    pub most: u64,
    /// Longest time from its start to that of the next call.
    pub period: u64,
    /// True if all ranks know its duration.
    pub is_known: bool,
}

impl AgreedTimes {
    /// Decodes the minimum of all ranks' numbers.
    pub fn from_least(values: &[i64]) -> AgreedTimes {
        let whole = |value: i64| u64::try_from(value).unwrap_or(0);
        match values {
            &[least, most, period] => AgreedTimes {
                least: whole(least),
                most: whole(most.saturating_neg()),
                period: whole(period.saturating_neg()),
                is_known: least >= 0,
            },
            _ => AgreedTimes::default(),
        }
    }

    /// Returns the times of one of `calls` of which these are the sums.
    pub fn per_call(self, calls: u64) -> AgreedTimes {
        AgreedTimes {
            least: self.least / calls,
            most: self.most / calls,
            period: self.period / calls,
            is_known: self.is_known,
        }
    }

    /// Returns the duration of the operation: the mean of minimum and maximum if all ranks wait for
    /// each other. Some enter late, and others wait for them: a saving or loss on one side alone is
    /// no change. Otherwise the maximum.
    pub fn duration(&self, calls: CallSemantics) -> u64 {
        match calls.needs_all {
            true => self.least / 2 + self.most / 2 + (self.least & self.most & 1),
            false => self.most,
        }
    }

    /// Returns the time of the job that is attributed to the call. If ranks may leave early, or
    /// continue meanwhile, calls overlap, and one may last longer than the time until the next.
    pub fn attributed(&self, calls: CallSemantics) -> u64 {
        let duration = self.duration(calls);
        match calls.synchronises() {
            true => duration,
            false => duration.min(self.period),
        }
    }

    /// Returns the duration on a rank that waits for no other.
    pub fn without_waiting(&self, calls: CallSemantics) -> u64 {
        match calls.needs_all {
            true => self.least,
            false => self.most,
        }
    }
}

/// Median of the last durations.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecentMedian {
    last: VecDeque<u64>,
}

impl RecentMedian {
    /// Creates the median of these durations.
    pub fn from_durations(all: impl IntoIterator<Item = u64>) -> Self {
        let mut recent = RecentMedian::default();
        all.into_iter()
            .for_each(|nanoseconds| recent.add(nanoseconds));
        recent
    }

    /// Returns the number of its durations.
    pub fn count(&self) -> usize {
        self.last.len()
    }

    pub fn add(&mut self, nanoseconds: u64) {
        if self.last.len() == MEDIAN_DURATIONS {
            self.last.pop_front();
        }
        self.last.push_back(nanoseconds);
    }

    /// Returns the median; the lower of two.
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
    use crate::key::{CellKey, Key};
    use treepie_collective::Operation;

    fn local(duration: u64, period: u64) -> LocalTimes {
        LocalTimes {
            duration,
            period,
            ..LocalTimes::default()
        }
    }

    #[test]
    fn the_least_of_all_numbers_gives_least_and_most_of_all_durations() {
        let ranks = [(50, 900), (20, 950), (70, 800)];
        let all = ranks.map(|(duration, period)| local(duration, period).values(true));
        let least: Vec<i64> = (0..CALL_VALUES)
            .map(|at| all.iter().map(|values| values[at]).min().unwrap())
            .collect();
        let agreed = AgreedTimes::from_least(&least);
        assert_eq!((agreed.least, agreed.most, agreed.period), (20, 70, 950));
        let calls = |operation| CellKey::new(operation, 0, Some(8), false).semantics();
        assert_eq!(agreed.duration(calls(Operation::Allreduce)), 45);
        assert_eq!(agreed.duration(calls(Operation::Bcast)), 70);
        let attributed = |period, operation| {
            let call = AgreedTimes { period, ..agreed };
            call.attributed(calls(operation))
        };
        assert_eq!(attributed(950, Operation::Bcast), 70);
        assert_eq!(attributed(30, Operation::Bcast), 30);
        assert_eq!(attributed(30, Operation::Allreduce), 45);
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
        assert!(!AgreedTimes::from_least(&least).is_known);
        assert!(AgreedTimes::from_least(&ended).is_known);
    }

    #[test]
    fn work_that_differs_by_more_than_a_quarter_is_not_comparable() {
        let work = |calls, bytes| Work { calls, bytes };
        assert!(work(100, 800).is_comparable_to(&work(75, 800)));
        assert!(!work(100, 800).is_comparable_to(&work(74, 800)));
        assert!(!work(100, 800).is_comparable_to(&work(100, 599)));
        assert!(!work(1, 8).is_comparable_to(&work(0, 0)));
        assert!(Work::default().is_comparable_to(&Work::default()));
    }

    #[test]
    fn the_median_is_that_of_the_last_durations() {
        let mut recent = RecentMedian::default();
        assert_eq!(recent.median(), None);
        for duration in [5, 1, 9, 7] {
            recent.add(duration);
        }
        assert_eq!(recent.median(), Some(5));
        for _ in 0..MEDIAN_DURATIONS {
            recent.add(3);
        }
        assert_eq!(recent.median(), Some(3));
    }
}
