//! Cell in which a plan is in use, and is compared with the native MPI from time to time.
//!
//! If the gain is large, a pair is expensive compared with the calls between two pairs, and the
//! budget allows few. Measurements of the plan alone cost nothing: once it takes clearly longer
//! than at the last comparison, the two are compared immediately, independent of the budget. If the
//! native MPI takes longer by the same factor, the plan stays, and is compared again when its time
//! increases further.

use super::pace::Pace;
use super::settled::Settled;
use crate::block::{AgreedPair, Arms, Block};
use crate::evidence::{Evidence, TrialPair, UseEvidence};
use crate::ledger::{Ledger, Prices};
use crate::policy::{MAX_BLOCK_PAIRS, STORED_PLAN_INTERVAL_CALLS, WARM_UP_CALLS};
use crate::results::State;
use crate::times::RecentMedian;
use crate::verdict::{Verdict, is_faster, judge_use_pair, verdict};

/// Watch over the plan in use, which runs the calls between blocks.
#[derive(Debug, Clone)]
pub(crate) struct Watching {
    /// Candidate that was adopted.
    pub plan: usize,
    pub block: Option<Block>,
    pub pace: Pace,
    evidence: UseEvidence,
}

impl Watching {
    /// Creates the state after a candidate has been adopted.
    pub fn new(ledger: &Ledger, plan: usize) -> Self {
        let mut pace = Pace::default();
        pace.compared(ledger.candidates[plan].times.median());
        Watching {
            plan,
            block: None,
            pace,
            evidence: UseEvidence::default(),
        }
    }

    /// Creates the state for a candidate that an earlier run has adopted, the only one. It is
    /// compared before there is a budget: a result of one run may not be valid in the next.
    pub fn from_earlier_run(ledger: &mut Ledger, seed: u64) -> Self {
        let mut watching = Watching::new(ledger, 0);
        let arms = watching.arms(ledger);
        let interval = STORED_PLAN_INTERVAL_CALLS;
        let block = ledger.begin_block(MAX_BLOCK_PAIRS, WARM_UP_CALLS, interval, arms, seed);
        watching.block = Some(block);
        watching
    }

    /// Adds a block by the minimum of all ranks' numbers; returns the verdict on the plan.
    pub fn judge(&mut self, ledger: &mut Ledger, least: &[i64]) -> Verdict {
        let Some(block) = self.block.take() else {
            return Verdict::Open;
        };
        let mut pairs = block.agreed(least);
        if block.is_alone() {
            pairs.retain(|pair| pair.plan.is_known);
            let took = self.add_use(ledger, &pairs);
            self.pace.measured_alone(&took);
            return Verdict::Open;
        }
        pairs.retain(AgreedPair::is_known);
        if pairs.is_empty() {
            // As long as no pair can be compared, no block is unscheduled.
            self.pace.wait_for_turn();
            return Verdict::Open;
        }
        self.add_pairs(ledger, &pairs, block.arms());
        verdict(&Evidence::Use(&self.evidence), &ledger.policy())
    }

    fn add_pairs(&mut self, ledger: &mut Ledger, pairs: &[AgreedPair], arms: Arms) {
        let (calls, policy, measured) = (ledger.semantics, ledger.policy(), arms.measured());
        let tried = &mut ledger.candidates[self.plan];
        for pair in pairs {
            let [native, plan] = [pair.native, pair.plan].map(|one| one.duration(calls));
            ledger.native.add(pair.native.attributed(calls));
            tried.times.add(pair.plan.attributed(calls));
            ledger.excess += measured * native.saturating_sub(plan);
            tried.evidence.add(TrialPair {
                is_won: is_faster(&pair.plan, &pair.native, calls, &policy),
                keeps_period: None,
            });
        }
        self.add_use(ledger, pairs);
        self.add_savings(ledger, pairs);
        let plan = ledger.candidates[self.plan].times.median();
        let longer = ledger.native.median().unwrap_or(0);
        let longer = longer.saturating_sub(plan.unwrap_or(0));
        ledger.excess += (arms.calls - measured) * pairs.len() as u64 * longer;
        self.pace.compared(plan);
        let mut lost = 0;
        for pair in pairs {
            let result = judge_use_pair(pair, calls, &policy);
            lost += usize::from(result.is_lost);
            self.evidence.add(result);
        }
        self.pace.judged(pairs.len(), lost);
    }

    /// Charges the calls by the plan since the last measurement with the median of this one.
    fn add_use(&self, ledger: &mut Ledger, pairs: &[AgreedPair]) -> RecentMedian {
        let calls = ledger.semantics;
        let took = pairs.iter().map(|pair| pair.plan.attributed(calls));
        let took = RecentMedian::from_durations(took);
        if let Some(nanoseconds) = took.median() {
            ledger.candidates[self.plan].usage.measured(nanoseconds);
        }
        took
    }

    /// Adds the savings since the last comparison: a native call counts with its time in this one,
    /// or with its median if that is less. A single long call is no gain.
    fn add_savings(&self, ledger: &mut Ledger, pairs: &[AgreedPair]) {
        let calls = ledger.semantics;
        let native = pairs.iter().map(|pair| pair.native.attributed(calls));
        let now = RecentMedian::from_durations(native).median();
        if let Some((now, usual)) = now.zip(ledger.native.median()) {
            let usage = &mut ledger.candidates[self.plan].usage;
            usage.compared(now.min(usual));
        }
    }

    /// Begins a block, if the budget covers one; true if it does. Otherwise the plan is measured
    /// alone.
    pub fn try_more(&mut self, ledger: &mut Ledger, prices: Prices, seed: u64) -> bool {
        let (None, Some(native)) = (&self.block, ledger.native.median()) else {
            return false;
        };
        let arms = self.arms(ledger);
        let (most, interval) = self.pace.next(ledger.calls);
        let pairs = match self.pace.is_in_doubt() {
            // The MPI's own collective may be the faster one: its time is no loss.
            true => most,
            false => {
                let plan = &ledger.candidates[self.plan];
                // Loans are for candidates that may still be found to be faster.
                let prices = Prices { lent: 0, ..prices };
                let covered = ledger.covered_pairs(plan, arms, native, prices);
                covered.min(most)
            }
        };
        let start = ledger.calls;
        if pairs == 0 {
            ledger.blocks += 1;
            self.block = Some(Block::alone(start, self.pace.interval_alone(start)));
            return false;
        }
        ledger.excess += pairs as u64 * ledger.aligning_cost(arms, prices);
        self.block = Some(ledger.begin_block(pairs, start, interval, arms, seed));
        true
    }

    /// Returns the sides of a pair.
    fn arms(&self, ledger: &Ledger) -> Arms {
        ledger.arms(match ledger.semantics.has_rows {
            true => Arms::ROW,
            false if self.pace.is_in_doubt() => Arms::warmed_up(1),
            false => Arms::SINGLE,
        })
    }

    /// Leaves the cell to the native MPI for good, since the plan is no longer faster, or no longer
    /// serves it.
    pub fn into_settled(self, ledger: &mut Ledger, reason: State) -> Settled {
        ledger.candidates[self.plan].state = reason;
        Settled { reason }
    }
}
