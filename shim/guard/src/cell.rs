//! Cell: calls that are judged together, their accounts and their state.

use std::mem;

use treepie_base::proof::Signs;

use crate::block::{Arm, Block, Slot};
use crate::call::CallSemantics;
use crate::candidate::CandidateRecord;
use crate::ledger::{Ledger, Prices};
use crate::policy::MIN_CALLS_TO_TRY;
use crate::results::{Mode, State};
use crate::state::measuring::Measuring;
use crate::state::settled::Settled;
use crate::state::trying::Trying;
use crate::state::watching::Watching;
use crate::times::{RecentMedian, Work};
use crate::verdict::Verdict;

/// State of a cell. Transitions consume the old one.
#[derive(Debug, Clone)]
enum Stage {
    /// The native MPI runs the first calls, which are measured.
    Measuring(Measuring),
    /// Blocks of pairs run, each with one candidate.
    Trying(Trying),
    /// A plan is in use, and is watched.
    Watching(Watching),
    /// The native MPI runs the cell for good.
    Settled(Settled),
}

impl Default for Stage {
    fn default() -> Self {
        Stage::Measuring(Measuring::default())
    }
}

impl Stage {
    /// Ends the trial of a candidate; others are tried unless it was faster.
    fn after_candidate(mut trying: Trying, ledger: &mut Ledger, state: State) -> Stage {
        match trying.end_candidate(ledger, state) {
            true => Stage::Trying(trying),
            false => Stage::Settled(trying.into_settled(state)),
        }
    }

    /// Returns the block that is active, or complete and not judged yet.
    #[inline]
    fn block(&mut self) -> Option<&mut Block> {
        match self {
            Stage::Trying(trying) => trying.block.as_mut(),
            Stage::Watching(watching) => watching.block.as_mut(),
            Stage::Measuring(_) | Stage::Settled(_) => None,
        }
    }
}

/// Position of a call among those that are measured.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MeasuredCall {
    WarmUp(usize),
    Pair(Slot),
}

/// Active measurement of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measurement {
    pub call: MeasuredCall,
    /// Number of its block: there may be another one when the call ends.
    block: u64,
    /// Start of the call, in nanoseconds.
    pub start: u64,
}

/// Calls that are judged together.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub ledger: Ledger,
    stage: Stage,
}

impl Cell {
    /// Creates a cell without calls.
    pub fn new(number: u64, semantics: CallSemantics) -> Self {
        Cell {
            ledger: Ledger::new(number, semantics),
            stage: Stage::default(),
        }
    }

    /// Starts with the plan of an earlier run, and with that run's native median, in nanoseconds.
    pub fn begin_with(&mut self, plan: CandidateRecord, native: u64, seed: u64) {
        self.ledger.native = RecentMedian::from_durations([native]);
        self.ledger.candidates = vec![plan];
        self.stage = Stage::Watching(Watching::from_earlier_run(&mut self.ledger, seed));
    }

    /// Begins a call; returns the candidate that runs it, if not the native MPI, and its
    /// measurement. The clock is read only if needed.
    #[inline]
    pub fn enter(&mut self, clock: impl FnOnce() -> u64) -> (Option<usize>, Option<Measurement>) {
        let ledger = &mut self.ledger;
        let call = ledger.calls;
        ledger.calls += 1;
        let mut plan = None;
        let mut measured = None;
        match &mut self.stage {
            Stage::Measuring(measuring) => {
                let entered = measuring.enter(call, clock);
                measured = entered.map(|(at, now)| (MeasuredCall::WarmUp(at), now));
            }
            Stage::Trying(Trying { candidate, block }) => {
                let entered = block.as_mut().and_then(|block| block.enter(call, clock));
                if let Some((slot, start)) = entered {
                    plan = (slot.arm == Arm::Plan).then_some(*candidate);
                    measured = start.map(|now| (MeasuredCall::Pair(slot), now));
                }
            }
            Stage::Watching(watching) => {
                let block = watching.block.as_mut();
                plan = Some(watching.plan);
                if let Some((slot, start)) = block.and_then(|block| block.enter(call, clock)) {
                    plan = plan.filter(|_| slot.arm == Arm::Plan);
                    measured = start.map(|now| (MeasuredCall::Pair(slot), now));
                }
                if let Some(plan) = plan {
                    ledger.candidates[plan].usage.begin_call();
                }
            }
            Stage::Settled(_) => (),
        }
        ledger.native_calls += u64::from(plan.is_none());
        let block = ledger.blocks;
        let measurement = measured.map(|(call, start)| Measurement { call, block, start });
        (plan, measurement)
    }

    /// Adds the duration and work of a measured call. A measurement from an earlier state is
    /// ignored.
    pub fn leave(&mut self, measured: &Measurement, duration: u64, work: Work) {
        if measured.block != self.ledger.blocks {
            return;
        }
        match (measured.call, &mut self.stage) {
            (MeasuredCall::WarmUp(at), Stage::Measuring(measuring)) => {
                measuring.leave(at, duration, work);
            }
            (MeasuredCall::WarmUp(_), _) => (),
            (MeasuredCall::Pair(slot), stage) => {
                if let Some(block) = stage.block() {
                    block.leave(slot, duration, work);
                }
            }
        }
    }

    /// Restarts the time of a measured call, which begins now: ranks have waited for each other.
    pub fn aligned(&mut self, measured: &Measurement) {
        if let (MeasuredCall::Pair(slot), Some(block)) = (measured.call, self.stage.block())
            && measured.block == self.ledger.blocks
        {
            block.aligned(slot, measured.start);
        }
    }

    /// Returns the plan in use, which runs the calls between blocks.
    pub fn plan_in_use(&self) -> Option<usize> {
        match &self.stage {
            Stage::Watching(watching) => Some(watching.plan),
            _ => None,
        }
    }

    /// Returns its state, or why it is left to the MPI for good.
    pub fn state(&self) -> State {
        match &self.stage {
            Stage::Measuring(_) => State::Warming,
            Stage::Trying(_) => State::Trying,
            Stage::Watching(_) => State::Adopted,
            Stage::Settled(settled) => settled.reason,
        }
    }

    /// True if the native MPI runs it for good.
    #[inline]
    pub fn is_settled(&self) -> bool {
        matches!(self.stage, Stage::Settled(_))
    }

    /// True if the native MPI runs it for good because no pair had comparable sides.
    pub fn is_never_comparable(&self) -> bool {
        let is_unknown = |one: &CandidateRecord| one.evidence.signs == Signs::default();
        self.is_settled()
            && self.state() == State::Dropped
            && self.ledger.candidates.iter().all(is_unknown)
    }

    /// True if candidates are needed now.
    pub fn lacks_candidates(&self) -> bool {
        let is_measuring = matches!(self.stage, Stage::Measuring(_));
        is_measuring && !self.is_ready() && self.ledger.calls >= MIN_CALLS_TO_TRY
    }

    /// Takes the candidates worth a trial, the best first; without any, the native MPI runs the
    /// cell for good.
    pub fn offer(&mut self, candidates: Vec<CandidateRecord>) {
        if let Stage::Measuring(measuring) = &mut self.stage {
            measuring.has_candidates = !candidates.is_empty();
            self.ledger.candidates = candidates;
            if self.ledger.candidates.is_empty() {
                let reason = State::Closed;
                self.stage = Stage::Settled(Settled { reason });
            }
        }
    }

    fn block(&self) -> Option<&Block> {
        match &self.stage {
            Stage::Trying(trying) => trying.block.as_ref(),
            Stage::Watching(watching) => watching.block.as_ref(),
            Stage::Measuring(_) | Stage::Settled(_) => None,
        }
    }

    /// True if there is a result to agree on.
    pub fn is_ready(&self) -> bool {
        match &self.stage {
            Stage::Measuring(measuring) => measuring.has_candidates,
            _ => self.block().is_some_and(Block::is_complete),
        }
    }

    /// True if it could begin a block of a trial.
    pub fn may_try(&self) -> bool {
        matches!(&self.stage, Stage::Trying(trying) if trying.block.is_none())
    }

    /// True if only the plan in use is measured: no decision waits for the result.
    pub fn is_watched_alone(&self) -> bool {
        self.block().is_some_and(Block::is_alone)
    }

    /// Returns the number of calls until there may be a result to agree on, or a block to begin:
    /// the active block is complete, or the plan in use is to be compared again.
    pub fn calls_until_news(&self) -> Option<u64> {
        let calls = self.ledger.calls;
        match (self.block(), &self.stage) {
            (Some(block), _) => Some(block.end().saturating_sub(calls)),
            (None, Stage::Watching(watching)) => Some(watching.pace.next(calls).1),
            (None, _) => None,
        }
    }

    /// Returns the number of calls until the active block is complete.
    pub fn calls_until_complete(&self) -> Option<u64> {
        let block = self.block().filter(|block| !block.is_complete())?;
        Some(block.end().saturating_sub(self.ledger.calls))
    }

    /// Appends this rank's numbers of an exchange.
    pub fn values(&self, into: &mut Vec<i64>) {
        match &self.stage {
            Stage::Measuring(measuring) => measuring.values(into),
            _ => self
                .block()
                .into_iter()
                .for_each(|block| block.values(into)),
        }
    }

    /// Decides by the minimum of all ranks' numbers; returns a candidate with a new state.
    pub fn judge(&mut self, least: &[i64], mode: Mode) -> Option<(usize, State)> {
        let ledger = &mut self.ledger;
        let (stage, change) = match mem::take(&mut self.stage) {
            Stage::Measuring(measuring) => {
                (Stage::Trying(measuring.into_trying(ledger, least)), None)
            }
            Stage::Trying(mut trying) => {
                let (candidate, verdict) = (trying.candidate, trying.judge(ledger, least));
                let state = match (verdict, mode) {
                    (Verdict::Open | Verdict::WorthRows, _) => None,
                    (Verdict::Faster, Mode::Adopt) => Some(State::Adopted),
                    (Verdict::Faster, Mode::Report) => Some(State::Proven),
                    (Verdict::NotFaster, _) => Some(State::Dropped),
                };
                let stage = match state {
                    None => Stage::Trying(trying),
                    Some(State::Adopted) => Stage::Watching(trying.into_watching(ledger)),
                    Some(state) => Stage::after_candidate(trying, ledger, state),
                };
                (stage, state.map(|state| (candidate, state)))
            }
            Stage::Watching(mut watching) => match watching.judge(ledger, least) {
                Verdict::NotFaster => {
                    let change = (watching.plan, State::TakenBack);
                    let settled = watching.into_settled(ledger, State::TakenBack);
                    (Stage::Settled(settled), Some(change))
                }
                _ => (Stage::Watching(watching), None),
            },
            settled @ Stage::Settled(_) => (settled, None),
        };
        self.stage = stage;
        change
    }

    /// Begins a block, if the budget covers one; true if it does.
    pub fn try_more(&mut self, prices: Prices, seed: u64) -> bool {
        let ledger = &mut self.ledger;
        match &mut self.stage {
            Stage::Trying(trying) => trying.try_more(ledger, prices, seed),
            Stage::Watching(watching) => watching.try_more(ledger, prices, seed),
            Stage::Measuring(_) | Stage::Settled(_) => false,
        }
    }

    /// Excludes the plan that was to run a call but does not serve it, which is the same on all
    /// ranks.
    pub fn unserved(&mut self) {
        let (ledger, closed) = (&mut self.ledger, State::Closed);
        self.stage = match mem::take(&mut self.stage) {
            Stage::Trying(trying) => Stage::after_candidate(trying, ledger, closed),
            Stage::Watching(watching) => Stage::Settled(watching.into_settled(ledger, closed)),
            other => other,
        };
    }
}
