//! Persistent request for which candidates are tried: it contains the native MPI's own request, and
//! each start is run by that, or by a plan. `treepie_guard` explains why all ranks run a given
//! start alike, and why a start may wait for an exchange.

use std::sync::Arc;

use parking_lot::Mutex;
use treepie_choice::Candidate;
use treepie_guard::{CellKey, Due, Guard, Ticket, Work as Amount};
use treepie_mpi::native::{Native, Requests};
use treepie_mpi::{Request, c_int};
use treepie_record as record;

use super::numbers::Numbers;
use super::work::{StartedBy, Starts};
use crate::chosen::{Chosen, Key};
use crate::clock::now;
use crate::communicator::Communicator;
use crate::guard::{add_results, give_up, log_event};
use crate::plans;
use crate::setup::Setup;

/// Runner of the starts of a persistent request.
pub struct Trial {
    setup: &'static Setup,
    communicator: Arc<Communicator>,
    cell: CellKey,
    /// Key of its plans in the cache.
    key: Key,
    state: Mutex<State>,
}

struct State {
    guard: Guard,
    numbers: Numbers,
    /// The native MPI's request, and the application's.
    requests: Option<[Request; 2]>,
    /// Start that is measured, and the nanoseconds of the program's time that it has taken so far.
    measured: Option<(Ticket, u64)>,
    /// Last plan that ran it.
    plan: Option<(Candidate, Arc<Chosen>)>,
    /// Plan that was last passed to the record.
    told: Option<record::Plan>,
}

impl Trial {
    /// Creates a trial for calls of a cell, with a separate guard.
    pub fn new(
        setup: &'static Setup,
        communicator: &Arc<Communicator>,
        (key, cell): (Key, CellKey),
        guard: Guard,
        numbers: Numbers,
    ) -> Self {
        Trial {
            setup,
            communicator: Arc::clone(communicator),
            cell,
            key,
            state: Mutex::new(State {
                guard,
                numbers,
                requests: None,
                measured: None,
                plan: None,
                told: None,
            }),
        }
    }

    /// Returns the plan of a candidate; `None`, on all ranks, if none serves the call.
    fn plan(&self, state: &mut State, candidate: Candidate) -> Option<Arc<Chosen>> {
        let Candidate::Plan { algorithm, segment } = candidate else {
            return None;
        };
        if let Some((of, chosen)) = &state.plan
            && of.is_like(&candidate)
        {
            return Some(Arc::clone(chosen));
        }
        let key = Key {
            guarded: Some((algorithm.name, segment)),
            ..self.key.clone()
        };
        let make = |key: &Key| plans::make_guarded(&self.communicator, key, (algorithm, segment));
        let chosen = self.communicator.plan(key, make)?;
        state.plan = Some((candidate, Arc::clone(&chosen)));
        Some(chosen)
    }

    /// Does the work that is due before a start: all ranks have begun an exchange that is to be
    /// completed.
    fn keep_up(&self, native: &Native, state: &mut State) {
        match state.guard.due(true) {
            Due::Nothing => (),
            Due::Begin => {
                while let Some(key) = state.guard.undecided() {
                    let progress = self.setup.progress;
                    let challengers = self.communicator.challengers_started(&key, progress);
                    state.guard.offer(key, challengers);
                }
                let values = state.guard.begin(now());
                if let Err(code) = state.numbers.begin(native, &values) {
                    give_up(&mut state.guard, code);
                }
            }
            Due::Complete => self.complete(native, state),
        }
    }

    fn complete(&self, native: &Native, state: &mut State) {
        match state.numbers.wait(native) {
            Ok((least, cost)) => {
                let events = state.guard.complete(least, cost);
                events
                    .iter()
                    .for_each(|event| log_event(&self.communicator, event));
                if let Some(guarding) = &self.communicator.guard {
                    guarding.hand_on(&self.cell, &state.guard);
                }
            }
            Err(code) => give_up(&mut state.guard, code),
        }
    }
}

impl Starts for Trial {
    fn hold(&self, native_request: Request, request: Request) {
        self.state.lock().requests = Some([native_request, request]);
    }

    fn start(&self, native: &Native) -> Result<StartedBy, c_int> {
        let state = &mut *self.state.lock();
        self.keep_up(native, state);
        let ticket = state.guard.enter(self.cell, now);
        state.measured = ticket.is_measured().then_some((ticket, 0));
        let Some([own, request]) = state.requests else {
            return Err(native.abi.err_intern);
        };
        let chosen = ticket.candidate().and_then(|one| self.plan(state, one));
        if ticket.candidate().is_some() && chosen.is_none() {
            state.guard.unserved(&ticket);
        }
        let run = chosen.as_ref().map(|chosen| chosen.run);
        if state.told != run {
            record::runs(request, run);
            state.told = run;
        }
        let Some(chosen) = chosen else {
            if let Err(code) = native.start(own) {
                state.guard.fail();
                return Err(code);
            }
            let mut requests = Requests::default();
            requests.push(native, own, 0);
            return Ok(StartedBy::Native(requests));
        };
        Ok(StartedBy::Plan(chosen))
    }

    fn took(&self, nanoseconds: u64, is_complete: bool) {
        let state = &mut *self.state.lock();
        let Some((ticket, took)) = &mut state.measured else {
            return;
        };
        *took += nanoseconds;
        if is_complete {
            state.guard.took(ticket, *took, Amount::default());
            state.measured = None;
        }
    }

    fn measured_since(&self) -> Option<u64> {
        let state = self.state.lock();
        state.measured.as_ref()?.0.start()
    }

    fn fail(&self) {
        let state = &mut *self.state.lock();
        state.guard.fail();
        state.measured = None;
    }

    fn end(&self, native: &Native) {
        let state = &mut *self.state.lock();
        let Some([own, _]) = state.requests.take() else {
            return;
        };
        if state.numbers.is_under_way() {
            self.complete(native, state);
        }
        add_results(&self.communicator, &state.guard);
        state.guard.end();
        native.free_request(own);
    }
}
