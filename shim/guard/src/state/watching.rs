//! A cell in which a plan is in use, and is compared with the native MPI now and then.
//!
//! If much is gained, a pair costs much beside the calls between two pairs, and the budget allows
//! few. The plan itself is measured for nothing: once it takes clearly more than when the two were
//! last compared, they are compared at once, whatever the budget says. If the native MPI takes as
//! much longer, the plan stays, and is compared the next time when it takes still more.

use super::pace::Pace;
use super::settled::Settled;
use crate::block::{AgreedPair, Arms, Block};
use crate::evidence::{Evidence, TrialPair, UseEvidence};
use crate::ledger::{Ledger, Prices};
use crate::policy::{MAX_BLOCK_PAIRS, STORED_PLAN_INTERVAL_CALLS, WARM_UP_CALLS};
use crate::results::State;
use crate::times::RecentMedian;
use crate::verdict::{Verdict, is_quicker, judge_use_pair, verdict};

/// The watch over the plan in use, which runs the calls between blocks.
#[derive(Debug, Clone)]
pub(crate) struct Watching {
    /// The candidate that was adopted.
    pub plan: usize,
    pub block: Option<Block>,
    pub pace: Pace,
    evidence: UseEvidence,
}

impl Watching {
    /// A candidate has just been adopted.
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

    /// The only candidate was adopted by an earlier run. It is compared before there is a budget:
    /// what holds for one run may not hold for the next.
    pub fn from_earlier_run(ledger: &mut Ledger, seed: u64) -> Self {
        let mut watching = Watching::new(ledger, 0);
        let arms = watching.arms(ledger);
        let interval = STORED_PLAN_INTERVAL_CALLS;
        let block = ledger.begin_block(MAX_BLOCK_PAIRS, WARM_UP_CALLS, interval, arms, seed);
        watching.block = Some(block);
        watching
    }

    /// Adds a block by the least numbers of all ranks; the verdict on the plan.
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
            // As long as none can be compared, none comes out of turn.
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
                is_won: is_quicker(&pair.plan, &pair.native, calls, &policy),
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

    /// Counts the calls by the plan since the last measurement with the median of this one.
    fn add_use(&self, ledger: &mut Ledger, pairs: &[AgreedPair]) -> RecentMedian {
        let calls = ledger.semantics;
        let took = pairs.iter().map(|pair| pair.plan.attributed(calls));
        let took = RecentMedian::from_durations(took);
        if let Some(nanoseconds) = took.median() {
            ledger.candidates[self.plan].usage.measured(nanoseconds);
        }
        took
    }

    /// Counts the savings since the last comparison: a native call takes its time in this one, or
    /// its median where that is less. One long call of it is no gain.
    fn add_savings(&self, ledger: &mut Ledger, pairs: &[AgreedPair]) {
        let calls = ledger.semantics;
        let native = pairs.iter().map(|pair| pair.native.attributed(calls));
        let now = RecentMedian::from_durations(native).median();
        if let Some((now, usual)) = now.zip(ledger.native.median()) {
            let usage = &mut ledger.candidates[self.plan].usage;
            usage.compared(now.min(usual));
        }
    }

    /// Begins a block, if the budget covers one, and says so. Otherwise the plan is measured alone.
    pub fn try_more(&mut self, ledger: &mut Ledger, prices: Prices, seed: u64) -> bool {
        let (None, Some(native)) = (&self.block, ledger.native.median()) else {
            return false;
        };
        let arms = self.arms(ledger);
        let (most, interval) = self.pace.next(ledger.calls);
        let pairs = match self.pace.is_in_doubt() {
            // The MPI's own may be the quicker one: its time is no loss.
            true => most,
            false => {
                let plan = &ledger.candidates[self.plan];
                // Loans are for candidates that may yet be found quicker.
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

    /// The sides of a pair.
    fn arms(&self, ledger: &Ledger) -> Arms {
        ledger.arms(match ledger.semantics.has_rows {
            true => Arms::ROW,
            false if self.pace.is_in_doubt() => Arms::warmed_up(1),
            false => Arms::SINGLE,
        })
    }

    /// The native MPI runs the cell for good, since the plan is no longer quicker, or serves no
    /// more.
    pub fn into_settled(self, ledger: &mut Ledger, reason: State) -> Settled {
        ledger.candidates[self.plan].state = reason;
        Settled { reason }
    }
}
