//! What the numbers of all ranks say of a block: in a trial, and of the plan that was adopted.

use std::mem;

use super::super::block::{AgreedPair, Arms, MOST_PAIRS, agreed};
use super::super::contender::Contender;
use super::super::key::Key;
use super::super::times::Typical;
use super::super::{ODDS, State};
use super::{Cell, Stage};

/// The first pairs of a challenger are not judged: connections are made in them.
const UNJUDGED: u32 = 2;

/// Odds at which a challenger has won by single calls, and is tried in rows.
const WORTH_ROWS: u32 = 5;

impl<K: Key, C: Contender> Cell<K, C> {
    /// Decides by the least numbers of all ranks; what changes. A plan is adopted only where
    /// `adopts` says so.
    pub fn judge(&mut self, values: &[i64], adopts: bool) -> Option<(C, State)> {
        match (self.stage, self.block.take()) {
            (Stage::Warming { .. }, _) => {
                // Of the other half of each pair nothing was measured.
                let calls = agreed(values, MOST_PAIRS)
                    .into_iter()
                    .map(|pair| pair.native);
                for call in calls.filter(|call| call.is_known) {
                    let share = call.share(&self.key);
                    self.native.add(share);
                    self.overlap.add(call.duration(&self.key) - share);
                }
                self.stage = Stage::Trying;
                self.tried[self.current].state = State::Trying;
                None
            }
            (Stage::Trying, Some(block)) => {
                self.judge_trial(&block.agreed(values), block.arms(), adopts)
            }
            (Stage::Adopted, Some(block)) => {
                let mut pairs = block.agreed(values);
                if block.is_alone() {
                    pairs.retain(|pair| pair.plan.is_known);
                    let took = pairs.iter().map(|pair| pair.plan.share(&self.key));
                    let typical = Typical::of(took);
                    self.plan_took(&typical);
                    self.watch.alone(&typical);
                    return None;
                }
                pairs.retain(AgreedPair::is_known);
                self.judge_watch(&pairs, block.arms())
            }
            _ => None,
        }
    }

    fn judge_trial(
        &mut self,
        pairs: &[AgreedPair],
        arms: Arms,
        adopts: bool,
    ) -> Option<(C, State)> {
        let odds = ODDS * self.tried.len() as u32;
        let tried = &mut self.tried[self.current];
        for pair in pairs {
            tried.pairs += 1;
            if !pair.is_known() {
                continue;
            }
            let (native, plan) = (
                pair.native.duration(&self.key),
                pair.plan.duration(&self.key),
            );
            self.native.add(pair.native.share(&self.key));
            tried.took(plan, native);
            tried.plan.add(pair.plan.share(&self.key));
            self.excess += arms.calls * plan.saturating_sub(native);
            if tried.pairs > UNJUDGED {
                tried.judge(&self.key, pair);
            }
        }
        tried.last_block = pairs.len();
        let is_alone = arms == Arms::SINGLE && self.key.has_rows();
        let is_quicker = tried.is_quicker(odds) && !is_alone;
        let state = match () {
            () if is_alone && tried.is_quicker(WORTH_ROWS) => {
                tried.try_in_rows();
                return None;
            }
            () if is_quicker && adopts => State::Adopted,
            () if is_quicker => State::Proven,
            () if tried.is_done() => State::Dropped,
            () => return None,
        };
        let challenger = tried.challenger;
        match state {
            State::Adopted => {
                tried.state = state;
                self.stage = Stage::Adopted;
                self.watch.compared(&tried.plan);
            }
            _ => self.end_current(state),
        }
        Some((challenger, state))
    }

    fn judge_watch(&mut self, pairs: &[AgreedPair], arms: Arms) -> Option<(C, State)> {
        if pairs.is_empty() {
            // As long as none can be compared, none comes out of turn.
            self.watch.wait_for_turn();
            return None;
        }
        let measured = arms.measured();
        let tried = &mut self.tried[self.current];
        for pair in pairs {
            let (native, plan) = (
                pair.native.duration(&self.key),
                pair.plan.duration(&self.key),
            );
            self.native.add(pair.native.share(&self.key));
            tried.plan.add(pair.plan.share(&self.key));
            self.excess += measured * native.saturating_sub(plan);
            tried.watch(pair.plan.is_quicker_than(&pair.native, &self.key));
        }
        let took = pairs.iter().map(|pair| pair.plan.share(&self.key));
        self.plan_took(&Typical::of(took));
        let native = pairs.iter().map(|pair| pair.native.share(&self.key));
        self.plan_saved(&Typical::of(native));
        let tried = &self.tried[self.current];
        let [native, plan] = [&self.native, &tried.plan].map(|typical| typical.median());
        let excess = native.unwrap_or(0).saturating_sub(plan.unwrap_or(0));
        self.excess += (arms.calls - measured) * pairs.len() as u64 * excess;
        self.watch.compared(&tried.plan);
        self.watch.add(&self.key, pairs);
        if !self.watch.is_lost() {
            return None;
        }
        let challenger = tried.challenger;
        self.end_current(State::TakenBack);
        Some((challenger, State::TakenBack))
    }

    /// The end of the current challenger; others are tried where this one was not quicker.
    pub(super) fn end_current(&mut self, state: State) {
        if let Some(tried) = self.tried.get_mut(self.current) {
            tried.state = state;
        }
        let goes_on = self.stage == Stage::Trying && state != State::Proven;
        if !(goes_on && self.open().next().is_some()) {
            self.stage = Stage::Left(state);
        }
    }

    /// The calls of late by the plan that was adopted took so much.
    fn plan_took(&mut self, typical: &Typical) {
        if let Some(nanoseconds) = typical.median() {
            let calls = mem::take(&mut self.plan_calls);
            let took = calls.saturating_mul(nanoseconds);
            self.plan_time = self.plan_time.saturating_add(took);
            self.not_compared.add(calls, took);
        }
    }

    /// Counts what the calls since the last comparison have saved: the native MPI takes for each
    /// what it took in this comparison, or its median where that is less. One long call of it is no
    /// gain.
    fn plan_saved(&mut self, native: &Typical) {
        if let (Some(now), Some(usual)) = (native.median(), self.native.median()) {
            let calls = mem::take(&mut self.not_compared);
            let tried = &mut self.tried[self.current];
            tried.saved = tried.saved.saturating_add(calls.saved(now.min(usual)));
        }
    }
}
