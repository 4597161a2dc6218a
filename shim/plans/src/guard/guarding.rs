//! Guard of a communicator: its view of calls, and its pending exchanges between ranks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, MutexGuard};
use treepie_choice::{Candidate, Challenger, Progress};
use treepie_guard::{
    AdoptedPlan, CellKey, Due, Form, Guard, MAX_CANDIDATES, Mode, RequestHistory, Ticket,
    WARM_UP_CALLS, Work,
};
use treepie_mpi::native::Native;
use treepie_mpi::{SUCCESS, c_int};
use treepie_native::knobs::Knob;
use treepie_process::log;
use treepie_profile::GuardedCell;
use treepie_profile::settings::GuardMode;

use super::exchange::AgreedMinimum;
use super::forced::{Forced, Ready};
use super::knobs::Knobs;
use super::messages::log_event;
use super::results::add_results;
use crate::clock::now;
use crate::ground::Ground;
use crate::setup::Setup;

/// Guard of one ground.
pub struct Guarding {
    pub(super) state: Mutex<State>,
    /// The MPI's other algorithms, if they can be tried here.
    knobs: Option<Arc<Knobs>>,
    /// Algorithms that were prepared here.
    ready: Ready,
    /// True if Open MPI's HAN would otherwise run the collectives.
    is_behind_han: bool,
    /// True if plans can be tried.
    tries_plans: bool,
    /// Driver of the progress of plans of started collectives.
    progress: Progress,
    /// True if a collective was started.
    pub(super) has_started: AtomicBool,
    /// Outcomes of earlier persistent requests, for later ones.
    pub(super) earlier: Mutex<RequestHistory>,
}

pub(super) struct State {
    pub(super) guard: Guard,
    under_way: Option<AgreedMinimum>,
    is_reported: bool,
}

impl Guarding {
    /// Creates the guard of a communicator on this ground, with these ranks of the application's
    /// world; `None` if it needs none.
    pub fn new(setup: &Setup, ground: &Ground, ranks: &[usize]) -> Option<Self> {
        let clusters = ground.clusters.count();
        let network = ground.network.as_ref();
        let tries_plans = clusters > 1 || network.is_some_and(|one| one.is_in_memory());
        let mode = match setup.guard {
            GuardMode::Off => return None,
            GuardMode::On => Mode::Adopt,
            GuardMode::Report => Mode::Report,
        };
        let knobs = setup.knobs.clone();
        let is_behind_han = knobs
            .as_ref()
            .is_some_and(|knobs| knobs.are_behind_han(ranks));
        if !tries_plans && knobs.is_none() {
            return None;
        }
        let (ranks, library) = (ranks.len(), knobs.as_ref().map(|knobs| knobs.library));
        let is_allowed = |known: &AdoptedPlan| match (known.challenger.candidate, &knobs) {
            (Candidate::Plan { algorithm, .. }, _) => match known.key.form {
                Form::Blocking => tries_plans,
                // A store may come from an MPI that has a progress hook, while this one has none.
                Form::Nonblocking | Form::Persistent => {
                    setup.progress.allows(algorithm, known.key.operation)
                }
            },
            (Candidate::Native(_), Some(knobs)) => knobs.allow(known, ranks),
            (Candidate::Native(_), None) => false,
        };
        let fitting = |cells: &[GuardedCell]| -> Arc<[AdoptedPlan]> {
            let cells = cells.iter();
            let cells = cells.filter_map(|cell| cell.known(ranks, clusters, library));
            cells.filter(is_allowed).collect()
        };
        let (known, proven) = (fitting(&setup.known), fitting(&setup.proven));
        let state = State {
            guard: Guard::new(setup.seed, mode, known, proven),
            under_way: None,
            is_reported: false,
        };
        Some(Guarding {
            state: Mutex::new(state),
            knobs,
            ready: Ready::default(),
            is_behind_han,
            tries_plans,
            progress: setup.progress,
            has_started: AtomicBool::new(false),
            earlier: Mutex::default(),
        })
    }

    /// Begins a call of a cell; returns its ticket. Collective from time to time, unless the call
    /// is one that starts a collective.
    pub fn enter(&self, native: &Native, ground: &Ground, key: CellKey) -> Ticket {
        let may_wait = key.form == Form::Blocking;
        if !may_wait {
            self.has_started.store(true, Ordering::Relaxed);
        }
        self.keep_up(native, ground, may_wait).guard.enter(key, now)
    }

    /// Ends a call with this code.
    pub fn leave(&self, ticket: &Ticket, code: c_int) {
        let now = now();
        let guard = &mut self.state.lock().guard;
        match code {
            SUCCESS => guard.leave(ticket, now),
            _ => guard.fail(),
        }
    }

    /// Ends a started call that took this many nanoseconds of the program's time.
    pub fn took(&self, ticket: &Ticket, nanoseconds: u64) {
        let guard = &mut self.state.lock().guard;
        guard.took(ticket, nanoseconds, Work::default());
    }

    /// Notes that a plan does not serve a call; the same on all ranks.
    pub fn unserved(&self, ticket: &Ticket) {
        self.state.lock().guard.unserved(ticket);
    }

    /// Notes that a call failed: no more candidates are tried.
    pub fn fail(&self) {
        self.state.lock().guard.fail();
    }

    /// True if no exchange is pending at the end of the job, after a brief wait.
    pub fn is_complete_at_the_end(&self, native: &Native) -> bool {
        let mut state = self.state.lock();
        let under_way = state.under_way.as_mut();
        under_way.is_none_or(|exchange| exchange.is_complete_at_the_end(native))
    }

    /// True if it must count all calls from now on, including those that were left to the native
    /// MPI for good: exchanged numbers are used by the first call that may wait, which must be the
    /// same on all ranks.
    pub fn counts_all(&self) -> bool {
        self.has_started.load(Ordering::Relaxed)
    }

    /// Returns the challengers that are tried for the calls of a cell, the best first. There are no
    /// predictions of the MPI's other algorithms: they follow the best plans.
    pub(super) fn challengers(&self, ground: &Ground, key: &CellKey) -> Vec<Challenger> {
        if key.form != Form::Blocking {
            return ground.challengers_started(key, self.progress);
        }
        let mut all = match self.tries_plans {
            true => ground.challengers(key),
            false => Vec::new(),
        };
        let (others, ranks) = (self.knobs.as_ref(), ground.clusters.ranks());
        let others = others.map(|knobs| knobs.challengers(key, ranks));
        let others = others.unwrap_or_default();
        all.truncate(MAX_CANDIDATES.saturating_sub(others.len()));
        all.extend(others);
        all
    }

    /// Returns the MPI's algorithm that is to run a call, prepared at its first call, which is the
    /// same on all ranks; `None` if it cannot be prepared on some rank. Collective then.
    pub fn forced(
        &self,
        native: &Native,
        ground: &Ground,
        (ticket, knob): (&mut Ticket, Knob),
    ) -> Option<Arc<Forced>> {
        let forced = match self.ready.get(&knob) {
            Some(forced) => forced,
            // A communicator with few calls is not worth a duplicate.
            None if self.state.lock().guard.calls() <= WARM_UP_CALLS => return None,
            None => {
                let library = self.knobs.as_ref()?.library;
                let private = ground.private();
                let wanted = (library, knob, self.is_behind_han);
                match self.ready.make(native, private, wanted) {
                    Ok((forced, cost)) => {
                        self.state.lock().guard.made(ticket, now(), cost);
                        forced
                    }
                    Err(code) => {
                        give_up(&mut self.state.lock().guard, code);
                        None
                    }
                }
            }
        };
        if forced.is_none() {
            self.state.lock().guard.unserved(ticket);
        }
        forced
    }

    /// Does the work that is due before a call, which may wait for other ranks if `may_wait`, and
    /// returns the state.
    pub(super) fn keep_up(
        &self,
        native: &Native,
        ground: &Ground,
        may_wait: bool,
    ) -> MutexGuard<'_, State> {
        let mut state = self.state.lock();
        match state.guard.due(may_wait) {
            Due::Nothing => state,
            Due::Begin => {
                while let Some(key) = state.guard.undecided() {
                    let challengers = self.challengers(ground, &key);
                    state.guard.offer(key, challengers);
                }
                state.begin(native, ground);
                state
            }
            Due::Complete => {
                let under_way = state.under_way.take();
                // The lock must not be held while waiting for other ranks.
                drop(state);
                let told = under_way.map(|exchange| exchange.wait(native));
                let mut state = self.state.lock();
                state.complete(ground, told);
                state
            }
        }
    }

    /// Waits for all ranks, which all do so before this call.
    pub fn align(&self, native: &Native, ground: &Ground, ticket: &mut Ticket) {
        let waited = AgreedMinimum::begin(native, ground.private(), vec![0])
            .and_then(|exchange| exchange.wait(native));
        let guard = &mut self.state.lock().guard;
        match waited {
            Ok(_) => guard.aligned(ticket, now()),
            Err(code) => give_up(guard, code),
        }
    }

    /// Completes pending exchanges, and keeps the results. The communicator is about to end.
    pub fn finish(&self, native: &Native, ground: &Ground) {
        let mut state = self.state.lock();
        if let Some(exchange) = state.under_way.take() {
            state.complete(ground, Some(exchange.wait(native)));
        }
        if std::mem::replace(&mut state.is_reported, true) {
            return;
        }
        add_results(ground, &state.guard);
        state.guard.end();
    }
}

impl State {
    fn begin(&mut self, native: &Native, ground: &Ground) {
        let values = self.guard.begin(now());
        match AgreedMinimum::begin(native, ground.private(), values) {
            Ok(exchange) => self.under_way = Some(exchange),
            Err(code) => give_up(&mut self.guard, code),
        }
    }

    /// Decides on the result of an exchange.
    fn complete(&mut self, ground: &Ground, told: Option<Result<(Vec<i64>, u64), c_int>>) {
        match told {
            Some(Ok((least, cost))) => {
                let events = self.guard.complete(&least, cost);
                events.iter().for_each(|event| log_event(ground, event));
            }
            Some(Err(code)) => give_up(&mut self.guard, code),
            None => self.guard.end(),
        }
    }
}

/// Stops trying candidates, as after any failed call of the MPI.
pub fn give_up(guard: &mut Guard, code: c_int) {
    log::warn(&format!(
        "guard: an exchange between ranks failed with error {code}; the MPI's own collectives run \
         from now on"
    ));
    guard.end();
}
