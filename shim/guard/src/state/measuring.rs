//! Cell whose first calls are measured, all by the native MPI.

use super::trying::Trying;
use crate::block::agreed_pairs;
use crate::ledger::Ledger;
use crate::policy::{CALL_VALUES, WARM_UP_CALLS};
use crate::results::State;
use crate::times::{LocalTimes, Work};

/// First calls of a cell, before any agreement.
#[derive(Debug, Clone, Default)]
pub(crate) struct Measuring {
    times: [LocalTimes; WARM_UP_CALLS as usize],
    /// Start of the last call, in nanoseconds.
    entered: u64,
    /// True if there are candidates, so that a trial begins with the next exchange.
    pub has_candidates: bool,
}

impl Measuring {
    /// Begins a call; returns its index among those that are measured, and the time now.
    pub fn enter(&mut self, call: u64, clock: impl FnOnce() -> u64) -> Option<(usize, u64)> {
        if call > WARM_UP_CALLS {
            return None;
        }
        let now = clock();
        let (call, entered) = (call as usize, self.entered);
        let before = call.checked_sub(1).and_then(|at| self.times.get_mut(at));
        if let Some(before) = before {
            before.period = now.saturating_sub(entered);
        }
        self.entered = now;
        self.times.get_mut(call)?.begin();
        Some((call, now))
    }

    /// Ends the call at this index.
    pub fn leave(&mut self, place: usize, duration: u64, work: Work) {
        if let Some(call) = self.times.get_mut(place) {
            call.end(duration, work);
        }
    }

    /// Appends this rank's numbers of an exchange: those of pairs without measurements of one half.
    pub fn values(&self, into: &mut Vec<i64>) {
        for call in &self.times {
            into.extend(call.values(true));
            into.extend([0; CALL_VALUES]);
        }
    }

    /// Ends the state: the native times are agreed by the minimum of all ranks' numbers.
    pub fn into_trying(self, ledger: &mut Ledger, least: &[i64]) -> Trying {
        let calls = ledger.semantics;
        let native = agreed_pairs(least).map(|pair| pair.native);
        for times in native.take(self.times.len()).filter(|one| one.is_known) {
            let attributed = times.attributed(calls);
            ledger.native.add(attributed);
            ledger.overlap.add(times.duration(calls) - attributed);
        }
        if let Some(first) = ledger.candidates.first_mut() {
            first.state = State::Trying;
        }
        Trying::new()
    }
}
