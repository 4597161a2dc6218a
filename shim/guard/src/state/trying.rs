//! Cell whose candidates are tried, one block of pairs after the other.

use super::settled::Settled;
use super::watching::Watching;
use crate::block::{Arms, Block};
use crate::evidence::Evidence;
use crate::ledger::{Ledger, Prices};
use crate::policy::{MAX_BLOCK_PAIRS, TRIAL_INTERVAL_CALLS, UNJUDGED_PAIRS};
use crate::results::State;
use crate::verdict::{Verdict, judge_trial_pair, verdict};

/// Trials of candidates. The native MPI runs the calls between blocks.
#[derive(Debug, Clone)]
pub(crate) struct Trying {
    /// Candidate of the block, or of the last one.
    pub candidate: usize,
    pub block: Option<Block>,
}

impl Trying {
    /// Creates the state before the first block.
    pub fn new() -> Self {
        Trying {
            candidate: 0,
            block: None,
        }
    }

    /// Adds a block by the minimum of all ranks' numbers; returns the verdict on its candidate.
    pub fn judge(&mut self, ledger: &mut Ledger, least: &[i64]) -> Verdict {
        let Some(block) = self.block.take() else {
            return Verdict::Open;
        };
        let (calls, arms, policy) = (ledger.semantics, block.arms(), ledger.policy());
        let tried = &mut ledger.candidates[self.candidate];
        let pairs = block.agreed(least);
        for pair in &pairs {
            tried.evidence.pairs += 1;
            if !pair.is_known() {
                continue;
            }
            let [native, plan] = [pair.native, pair.plan].map(|one| one.duration(calls));
            ledger.native.add(pair.native.attributed(calls));
            tried.add_duration(plan, native);
            tried.times.add(pair.plan.attributed(calls));
            ledger.excess += arms.calls * plan.saturating_sub(native);
            if tried.evidence.pairs > UNJUDGED_PAIRS {
                tried.evidence.add(judge_trial_pair(pair, calls, &policy));
            }
        }
        tried.last_block = pairs.len();
        tried.evidence.is_screening = arms == Arms::SINGLE && calls.has_rows;
        let verdict = verdict(&Evidence::Trial(&tried.evidence), &policy);
        if verdict == Verdict::WorthRows {
            tried.begin_rows();
        }
        verdict
    }

    /// Begins a block, if the budget covers one; true if it does.
    pub fn try_more(&mut self, ledger: &mut Ledger, prices: Prices, seed: u64) -> bool {
        let (None, Some(native)) = (&self.block, ledger.native.median()) else {
            return false;
        };
        let pairs = self.choose_next(ledger, native, prices);
        if pairs == 0 {
            return false;
        }
        let arms = arms_of(ledger, self.candidate);
        ledger.excess += pairs as u64 * ledger.aligning_cost(arms, prices);
        let start = ledger.calls;
        self.block = Some(ledger.begin_block(pairs, start, TRIAL_INTERVAL_CALLS, arms, seed));
        true
    }

    /// Chooses the candidate that is expected to be the fastest; returns the number of its next
    /// pairs. A tried one is worth waiting for if no other promises more.
    fn choose_next(&mut self, ledger: &mut Ledger, native: u64, prices: Prices) -> usize {
        let covered = |at: usize| {
            let one = &ledger.candidates[at];
            let longer = one.longer_at_worst(native);
            ledger.covered_pairs(one, arms_of(ledger, at), longer, prices)
        };
        let candidates = ledger.candidates.iter().enumerate();
        let next = candidates
            .filter(|(_, one)| one.is_open())
            .filter(|(at, one)| one.evidence.pairs > 0 || covered(*at) > 0)
            .min_by_key(|(_, one)| one.expected_per_mille());
        let next = next.map_or(self.candidate, |(at, _)| at);
        let most = (2 * ledger.candidates[next].last_block).clamp(1, MAX_BLOCK_PAIRS);
        let pairs = covered(next).min(most);
        self.candidate = next;
        ledger.candidates[next].state = State::Trying;
        pairs
    }

    /// Adopts the candidate.
    pub fn into_watching(self, ledger: &mut Ledger) -> Watching {
        ledger.candidates[self.candidate].state = State::Adopted;
        Watching::new(ledger, self.candidate)
    }

    /// Ends the trial of the candidate with this state; true if others are left to try.
    pub fn end_candidate(&mut self, ledger: &mut Ledger, state: State) -> bool {
        self.block = None;
        ledger.candidates[self.candidate].state = state;
        state != State::Proven && ledger.candidates.iter().any(|one| one.is_open())
    }

    /// Leaves the cell to the native MPI for good, for this reason.
    pub fn into_settled(self, reason: State) -> Settled {
        Settled { reason }
    }
}

/// Returns the sides of a pair with a candidate.
fn arms_of(ledger: &Ledger, candidate: usize) -> Arms {
    let calls = ledger.semantics;
    let in_rows = ledger.candidates[candidate].evidence.is_in_rows() || !calls.synchronises();
    ledger.arms(match calls.has_rows && in_rows {
        true => Arms::ROW,
        false => Arms::SINGLE,
    })
}
