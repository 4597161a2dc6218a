//! Counts, times and costs of the calls of a cell, and the budget for trials.

use std::mem;

use crate::block::{Arms, Block};
use crate::call::CallSemantics;
use crate::candidate::CandidateRecord;
use crate::hash::mix;
use crate::policy::{ARM_NS, BUDGET_PART, MAX_CALLS_PER_ARM, Policy};
use crate::times::RecentMedian;

/// Additional costs of trials in nanoseconds, and their allowance, as all ranks know them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prices {
    /// Set-up of an algorithm of the native MPI.
    pub set_up: u64,
    /// Wait of all ranks for each other.
    pub aligning: u64,
    /// Maximum cost of a trial beyond the share of its own cell's time.
    pub lent: u64,
}

/// Numbers of calls between two exchanges: the cost of an exchange, which is known at the next one,
/// is charged to the calls before it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CallsBetweenExchanges {
    /// Calls until the last exchange.
    until_last: u64,
    /// Calls between that and the previous one.
    pub before_last: u64,
}

impl CallsBetweenExchanges {
    /// Completes an exchange after `calls` calls.
    pub fn complete(&mut self, calls: u64) {
        self.before_last = calls - mem::replace(&mut self.until_last, calls);
    }
}

/// Accounts of a cell in all its states.
#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    /// Number of the cell, the same on all ranks.
    pub number: u64,
    pub semantics: CallSemantics,
    pub calls: u64,
    pub native_calls: u64,
    pub native: RecentMedian,
    /// Nanoseconds by which a native call lasts longer than the time until the next one.
    pub overlap: RecentMedian,
    pub candidates: Vec<CandidateRecord>,
    /// Additional nanoseconds of pairs, compared with their calls without a trial.
    pub excess: u64,
    /// Nanoseconds of exchanges that are charged to this cell.
    pub exchanges: u64,
    between: CallsBetweenExchanges,
    /// Number of blocks so far.
    pub blocks: u64,
}

impl Ledger {
    pub fn new(number: u64, semantics: CallSemantics) -> Self {
        Ledger {
            number,
            semantics,
            calls: 0,
            native_calls: 0,
            native: RecentMedian::default(),
            overlap: RecentMedian::default(),
            candidates: Vec::new(),
            excess: 0,
            exchanges: 0,
            between: CallsBetweenExchanges::default(),
            blocks: 0,
        }
    }

    /// Returns the rule for its candidates.
    pub fn policy(&self) -> Policy {
        Policy::for_candidates(self.candidates.len() as u32)
    }

    /// Returns the nanoseconds of the cell so far, without those of trials: calls count with their
    /// medians, since most are not measured.
    pub fn time(&self) -> u64 {
        let native = self.native.median().unwrap_or(0);
        let native = self.native_calls.saturating_mul(native);
        let by_plans = self.candidates.iter().map(CandidateRecord::time_in_use);
        by_plans.fold(native, u64::saturating_add)
    }

    /// Returns the nanoseconds that plans have saved until their last comparison.
    pub fn saved(&self) -> i128 {
        let saved = self.candidates.iter().map(|one| one.usage.saved);
        saved.map(i128::from).sum()
    }

    /// Returns the nanoseconds that trials have cost so far.
    fn spent(&self) -> u64 {
        self.excess.saturating_add(self.exchanges)
    }

    /// Returns the nanoseconds that trials have cost beyond the share of the cell's time.
    pub fn overdrawn(&self) -> u64 {
        self.spent().saturating_sub(self.time() / BUDGET_PART)
    }

    /// Adds a share of the cost of the exchange before the last: the fraction of this cell's calls
    /// in all `calls` before it.
    pub fn bear(&mut self, cost: u64, calls: u64) {
        let part = u128::from(cost) * u128::from(self.between.before_last);
        let part = u64::try_from(part / u128::from(calls.max(1))).unwrap_or(u64::MAX);
        self.exchanges = self.exchanges.saturating_add(part);
        self.between.complete(self.calls);
    }

    /// Returns the sides of a pair: arms of [`ARM_NS`], or `short` ones if a single call takes as
    /// long.
    pub fn arms(&self, short: Arms) -> Arms {
        let typical = self.native.median().unwrap_or(u64::MAX).max(1);
        match (ARM_NS / typical).min(MAX_CALLS_PER_ARM) {
            0 | 1 => short,
            measured => Arms::warmed_up(measured),
        }
    }

    /// Returns the additional nanoseconds of a pair if ranks wait for each other before both arms:
    /// the waits, and the lost overlap of calls.
    pub fn aligning_cost(&self, arms: Arms, prices: Prices) -> u64 {
        match arms.are_aligned {
            true => {
                2 * prices
                    .aligning
                    .saturating_add(self.overlap.median().unwrap_or(0))
            }
            false => 0,
        }
    }

    /// Returns the number of pairs with this candidate that the budget covers, if each call on one
    /// side takes `longer` nanoseconds longer than on the other.
    pub fn covered_pairs(
        &self,
        candidate: &CandidateRecord,
        arms: Arms,
        longer: u64,
        prices: Prices,
    ) -> usize {
        let set_up = match candidate.needs_set_up() {
            true => prices.set_up,
            false => 0,
        };
        let left = (self.time() / BUDGET_PART).saturating_sub(self.spent());
        let left = left.saturating_add(prices.lent).saturating_sub(set_up);
        let of_pair = longer.max(1) * arms.calls;
        (left / (of_pair + self.aligning_cost(arms, prices))) as usize
    }

    /// Creates a block of pairs from the cell's call `start` on, in a random order that is the same
    /// on all ranks.
    pub fn begin_block(
        &mut self,
        pairs: usize,
        start: u64,
        interval: u64,
        arms: Arms,
        seed: u64,
    ) -> Block {
        let order = mix(mix(seed, self.number), self.blocks);
        self.blocks += 1;
        Block::new(pairs, order, start, interval, arms)
    }
}
