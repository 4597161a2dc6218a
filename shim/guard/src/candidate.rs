//! A candidate of a cell: its trials, and its use once it is adopted.

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
    /// Its time of the job, in nanoseconds.
    pub times: RecentMedian,
    /// Its duration in each pair, in thousandths of the native one.
    per_mille: RecentMedian,
    /// The longest of its calls in trials, in nanoseconds.
    pub longest: u64,
    /// Pairs of its last block.
    pub last_block: usize,
    pub usage: PlanUsage,
}

impl CandidateRecord {
    /// One that was not tried yet.
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

    /// The plan of an earlier run, which took so many nanoseconds.
    pub fn adopted(may_need_set_up: bool, nanoseconds: u64) -> Self {
        CandidateRecord {
            state: State::Adopted,
            times: RecentMedian::from_durations([nanoseconds]),
            ..CandidateRecord::new(may_need_set_up)
        }
    }

    /// Whether it may need a set-up before its next call.
    pub fn needs_set_up(&self) -> bool {
        self.evidence.pairs == 0 && self.may_need_set_up
    }

    /// Whether it may yet be tried, or tried again.
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Warming | State::Trying)
    }

    /// It has won by single calls: from now on it has to by rows of them.
    pub fn begin_rows(&mut self) {
        self.evidence.begin_rows();
        self.times = RecentMedian::default();
        self.per_mille = RecentMedian::from_durations(self.per_mille.median());
    }

    /// Adds its duration in a pair of a trial, and the native one.
    pub fn add_duration(&mut self, nanoseconds: u64, native: u64) {
        self.longest = self.longest.max(nanoseconds);
        let per_mille = u128::from(nanoseconds) * 1000 / u128::from(native.max(1));
        self.per_mille
            .add(u64::try_from(per_mille).unwrap_or(u64::MAX));
    }

    /// Its expected time, in thousandths of the native one: the candidate of which this is the
    /// least is tried next. So one that is much quicker is soon found among those that hardly are,
    /// and a slower one costs one pair as long as another is not.
    pub fn expected_per_mille(&self) -> u64 {
        let untried = match self.needs_set_up() {
            true => UNTRIED_SET_UP_PER_MILLE,
            false => UNTRIED_PER_MILLE,
        };
        self.per_mille.median().unwrap_or(untried)
    }

    /// Nanoseconds by which one of its calls may take longer than the native one of `native`: as
    /// much as the longest so far, and half of that at least; untried, all of it.
    pub fn longer_at_worst(&self, native: u64) -> u64 {
        match self.longest {
            0 => native,
            longest => longest.saturating_sub(native).max(native / 2),
        }
    }

    /// Nanoseconds of its calls in use.
    pub fn time_in_use(&self) -> u64 {
        let since = self.usage.calls;
        let since = since.saturating_mul(self.times.median().unwrap_or(0));
        self.usage.time.saturating_add(since)
    }

    /// Nanoseconds that it has saved in use, where a native call takes `native` since the last
    /// comparison.
    pub fn saved(&self, native: Option<u64>) -> i64 {
        let (mut usage, plan) = (self.usage, self.times.median());
        if let Some((native, plan)) = native.zip(plan) {
            usage.measured(plan);
            usage.compared(native);
        }
        usage.saved
    }
}

/// The calls that a plan runs because it is adopted. They may take longer than they took in pairs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PlanUsage {
    /// Calls since the last measurement.
    calls: u64,
    /// Nanoseconds of those before.
    time: u64,
    /// Calls before the last measurement and since the last comparison with the native MPI.
    uncompared_calls: u64,
    /// Their nanoseconds.
    uncompared_time: u64,
    /// Nanoseconds saved until that comparison; fewer than none where the plan lost.
    pub saved: i64,
}

impl PlanUsage {
    /// A call begins.
    #[inline]
    pub fn begin_call(&mut self) {
        self.calls += 1;
    }

    /// The last calls took so many nanoseconds each.
    pub fn measured(&mut self, nanoseconds: u64) {
        let calls = mem::take(&mut self.calls);
        let took = calls.saturating_mul(nanoseconds);
        self.time = self.time.saturating_add(took);
        self.uncompared_calls += calls;
        self.uncompared_time = self.uncompared_time.saturating_add(took);
    }

    /// In a comparison a native call took so many nanoseconds.
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
