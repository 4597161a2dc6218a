//! Candidate of a cell: its trials, and its use once it is adopted.

use std::mem;

use crate::evidence::TrialEvidence;
use crate::policy::{UNTRIED_PER_MILLE, UNTRIED_SET_UP_PER_MILLE};
use crate::results::State;
use crate::times::RecentMedian;

/// Measurements of a candidate.
#[derive(Debug, Clone)]
pub(crate) struct CandidateRecord {
    may_need_set_up: bool,
    pub state: State,
    pub evidence: TrialEvidence,
    /// Job time of its calls, in nanoseconds.
    pub times: RecentMedian,
    /// Its duration in each pair, in thousandths of the native duration.
    per_mille: RecentMedian,
    /// Longest of its calls in trials, in nanoseconds.
    pub longest: u64,
    /// Number of pairs of its last block.
    pub last_block: usize,
    pub usage: PlanUsage,
}

impl CandidateRecord {
    /// Creates the record of an untried candidate.
    pub fn new(may_need_set_up: bool) -> Self {
        CandidateRecord {
            may_need_set_up,
            state: State::Warming,
            evidence: TrialEvidence::default(),
            times: RecentMedian::default(),
            per_mille: RecentMedian::default(),
            longest: 0,
            last_block: 0,
            usage: PlanUsage::default(),
        }
    }

    /// Creates the record of a plan of an earlier run, which took `nanoseconds` nanoseconds.
    pub fn adopted(may_need_set_up: bool, nanoseconds: u64) -> Self {
        CandidateRecord {
            state: State::Adopted,
            times: RecentMedian::from_durations([nanoseconds]),
            ..CandidateRecord::new(may_need_set_up)
        }
    }

    /// True if it may need a set-up before its next call.
    pub fn needs_set_up(&self) -> bool {
        self.evidence.pairs == 0 && self.may_need_set_up
    }

    /// True if it may still be tried, or tried again.
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Warming | State::Trying)
    }

    /// Begins trials in rows: it has won by single calls, and must now win by rows of them.
    pub fn begin_rows(&mut self) {
        self.evidence.begin_rows();
        self.times = RecentMedian::default();
        self.per_mille = RecentMedian::from_durations(self.per_mille.median());
    }

    /// Adds its duration in a pair of a trial, and the native duration.
    pub fn add_duration(&mut self, nanoseconds: u64, native: u64) {
        self.longest = self.longest.max(nanoseconds);
        let per_mille = u128::from(nanoseconds) * 1000 / u128::from(native.max(1));
        self.per_mille
            .add(u64::try_from(per_mille).unwrap_or(u64::MAX));
    }

    /// Returns its expected time, in thousandths of the native time: the candidate with the minimum
    /// is tried next. So a much faster one is soon found among those that are hardly faster, and a
    /// slower one costs one pair as long as another is faster.
    pub fn expected_per_mille(&self) -> u64 {
        let untried = match self.needs_set_up() {
            true => UNTRIED_SET_UP_PER_MILLE,
            false => UNTRIED_PER_MILLE,
        };
        self.per_mille.median().unwrap_or(untried)
    }

    /// Returns the nanoseconds by which one of its calls may take longer than the native one of
    /// `native`: as many as the longest so far, and at least half of the native time; for an
    /// untried one, all of it.
    pub fn longer_at_worst(&self, native: u64) -> u64 {
        match self.longest {
            0 => native,
            longest => longest.saturating_sub(native).max(native / 2),
        }
    }

    /// Returns the nanoseconds of its calls in use.
    pub fn time_in_use(&self) -> u64 {
        let since = self.usage.calls;
        let since = since.saturating_mul(self.times.median().unwrap_or(0));
        self.usage.time.saturating_add(since)
    }

    /// Returns the nanoseconds that it has saved in use, if a native call takes `native` since the
    /// last comparison.
    pub fn saved(&self, native: Option<u64>) -> i64 {
        let (mut usage, plan) = (self.usage, self.times.median());
        if let Some((native, plan)) = native.zip(plan) {
            usage.measured(plan);
            usage.compared(native);
        }
        usage.saved
    }
}

/// Calls that a plan runs because it is adopted. They may take longer than they took in pairs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PlanUsage {
    /// Number of calls since the last measurement.
    calls: u64,
    /// Nanoseconds of the calls before it.
    time: u64,
    /// Number of calls before the last measurement and since the last comparison with the native
    /// MPI.
    uncompared_calls: u64,
    /// Their nanoseconds.
    uncompared_time: u64,
    /// Nanoseconds saved until that comparison; negative if the plan lost.
    pub saved: i64,
}

impl PlanUsage {
    /// Counts the start of a call.
    #[inline]
    pub fn begin_call(&mut self) {
        self.calls += 1;
    }

    /// Charges `nanoseconds` for each of the calls since the last measurement.
    pub fn measured(&mut self, nanoseconds: u64) {
        let calls = mem::take(&mut self.calls);
        let took = calls.saturating_mul(nanoseconds);
        self.time = self.time.saturating_add(took);
        self.uncompared_calls += calls;
        self.uncompared_time = self.uncompared_time.saturating_add(took);
    }

    /// Adds the savings until a comparison in which a native call took `native` nanoseconds.
    pub fn compared(&mut self, native: u64) {
        let calls = i128::from(mem::take(&mut self.uncompared_calls));
        let saved = calls * i128::from(native) - i128::from(mem::take(&mut self.uncompared_time));
        let saved = saved.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        self.saved = self.saved.saturating_add(saved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_to_be_set_up_first_is_tried_behind_a_plan_that_gains() {
        let mut plan = CandidateRecord::new(false);
        let native = CandidateRecord::new(true);
        assert!(plan.expected_per_mille() < native.expected_per_mille());
        plan.add_duration(750, 1_000);
        assert!(plan.expected_per_mille() < native.expected_per_mille());
        (0..2).for_each(|_| plan.add_duration(950, 1_000));
        assert!(native.expected_per_mille() < plan.expected_per_mille());
    }
}
