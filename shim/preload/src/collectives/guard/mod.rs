//! The guard on collectives: each begins with the native MPI, and a plan takes its place where it
//! was measured to be quicker. What is decided is in `treepie_core::guard`; here calls are timed,
//! and ranks tell each other what they measured.
//!
//! Which calls are guarded is the same on all ranks: those that `auto` is asked for, on a
//! communicator in several clusters, unless they are reductions that are to be reproducible.

mod cells;
mod exchange;
mod results;

use std::sync::{Arc, Weak};
use std::time::Instant;

use once_cell::sync::Lazy;
use parking_lot::Mutex;
use treepie_core::files::configuration::GuardMode;
use treepie_core::files::profile::GuardedCell;
use treepie_core::guard::{Challenger, Due, Event, Guard, Known, Ticket, Way};

use super::communicator::Communicator;
use super::setup::Setup;
use crate::log;
use crate::mpi::native::Native;
use crate::mpi::{Call, SUCCESS, c_int};
use exchange::Exchange;
pub use results::all as results;

/// The guard of one communicator.
pub struct Guarding(Mutex<State>);

struct State {
    guard: Guard,
    under_way: Option<Exchange>,
    is_reported: bool,
}

/// All that are guarded, so that what is under way is completed before MPI ends.
static GUARDED: Mutex<Vec<Weak<Communicator>>> = Mutex::new(Vec::new());

/// Nanoseconds since the first call.
fn now() -> u64 {
    static START: Lazy<Instant> = Lazy::new(Instant::now);
    START.elapsed().as_nanos() as u64
}

/// A call that is guarded.
pub struct Guarded {
    communicator: Arc<Communicator>,
    ticket: Ticket,
}

impl Guarded {
    /// The plan that runs it; `None` where the native MPI does.
    pub fn plan(&self) -> Option<Challenger> {
        match self.ticket.way {
            Way::Native => None,
            Way::Plan(challenger) => Some(challenger),
        }
    }

    /// The call has ended, with this code.
    pub fn ended(self, code: c_int) {
        if code == SUCCESS && !self.ticket.is_measured() {
            return;
        }
        let now = now();
        self.with(|guard, ticket| match code {
            SUCCESS => guard.leave(ticket, now),
            _ => guard.fail(),
        });
    }

    /// The plan does not serve the call, as all ranks see.
    pub fn unserved(&self) {
        self.with(Guard::unserved);
    }

    fn with(&self, act: impl FnOnce(&mut Guard, &Ticket)) {
        if let Some(guarding) = &self.communicator.guard {
            act(&mut guarding.0.lock().guard, &self.ticket);
        }
    }
}

impl Guarding {
    /// The guard of a communicator in so many clusters; `None` where there is none.
    pub fn new(setup: &Setup, ranks: usize, clusters: usize) -> Option<Self> {
        let adopts = match setup.guard {
            GuardMode::Off => return None,
            GuardMode::On => true,
            GuardMode::Report => false,
        };
        if clusters < 2 {
            return None;
        }
        let fitting = |cells: &[GuardedCell]| -> Arc<[Known]> {
            let cells = cells.iter();
            let cells = cells.filter_map(|cell| cell.known(ranks, clusters));
            cells.collect()
        };
        let (known, proven) = (fitting(&setup.known), fitting(&setup.proven));
        Some(Guarding(Mutex::new(State {
            guard: Guard::new(setup.seed, adopts, known, proven),
            under_way: None,
            is_reported: false,
        })))
    }

    /// Does what is due before a call.
    fn keep_up(&self, native: &Native, communicator: &Communicator) {
        let mut state = self.0.lock();
        match state.guard.due() {
            Due::Nothing => (),
            Due::Begin => state.begin(native, communicator),
            Due::Complete => {
                let under_way = state.under_way.take();
                // Nobody waits for a lock as long as for other ranks.
                drop(state);
                let told = under_way.map(|exchange| exchange.wait(native));
                self.0.lock().complete(communicator, told);
            }
        }
    }

    /// Completes what is under way, and keeps the results. The communicator, or MPI, is about to
    /// end.
    fn finish(&self, native: &Native, communicator: &Communicator) {
        let mut state = self.0.lock();
        if let Some(exchange) = state.under_way.take() {
            state.complete(communicator, Some(exchange.wait(native)));
        }
        if std::mem::replace(&mut state.is_reported, true) {
            return;
        }
        // All ranks have the same results.
        if communicator.rank() == 0 {
            let clusters = &communicator.clusters;
            let (ranks, clusters) = (clusters.ranks(), clusters.count());
            let found = state.guard.summaries();
            let cells = found
                .iter()
                .map(|one| GuardedCell::new(one, ranks, clusters));
            results::add(cells);
        }
        state.guard.end();
    }
}

impl State {
    fn begin(&mut self, native: &Native, communicator: &Communicator) {
        while let Some(key) = self.guard.undecided() {
            self.guard.offer(key, communicator.challengers(&key));
        }
        let values = self.guard.begin(now());
        match Exchange::begin(native, communicator.private(), values) {
            Ok(exchange) => self.under_way = Some(exchange),
            Err(code) => self.give_up(code),
        }
    }

    /// Decides by what an exchange told.
    fn complete(
        &mut self,
        communicator: &Communicator,
        told: Option<Result<(Vec<i64>, u64), c_int>>,
    ) {
        match told {
            Some(Ok((least, cost))) => {
                let events = self.guard.complete(&least, cost);
                if communicator.rank() == 0 {
                    events.iter().for_each(|event| tell(communicator, event));
                }
            }
            Some(Err(code)) => self.give_up(code),
            None => self.guard.end(),
        }
    }

    /// As after any call of the MPI's that failed: nothing more is tried.
    fn give_up(&mut self, code: c_int) {
        log::warn(&format!(
            "guard: an exchange between ranks failed with error {code}; the MPI's own collectives \
             run from now on"
        ));
        self.guard.end();
    }
}

/// Says what was decided, once.
fn tell(communicator: &Communicator, event: &Event) {
    let ranks = communicator.clusters.ranks();
    let text = match event {
        Event::Cell(key, plan, state) => {
            let size = match key.bytes {
                Some(bytes) => format!("up to {bytes} bytes"),
                None => "any size".to_owned(),
            };
            let root = key
                .root
                .map_or(String::new(), |root| format!(", root {root}"));
            let (operation, name) = (key.operation, plan.algorithm.name);
            format!("{operation} of {size}{root} on {ranks} ranks: {name} {state}")
        }
        Event::Different => format!(
            "ranks call different collectives on a communicator of {ranks}: left to the MPI"
        ),
        Event::Failed => {
            format!("a collective failed on a communicator of {ranks} ranks: left to the MPI")
        }
    };
    log::info(&format!("guard: {text}"));
}

/// Guards a call on a communicator that has a guard. Collective now and then.
pub fn enter(
    native: &Native,
    communicator: &Arc<Communicator>,
    call: &Call,
    ordered: bool,
) -> Option<Guarded> {
    let guarding = communicator.guard.as_ref()?;
    guarding.keep_up(native, communicator);
    let key = cells::key(native, call, communicator, ordered);
    let ticket = guarding.0.lock().guard.enter(key, now);
    Some(Guarded {
        communicator: Arc::clone(communicator),
        ticket,
    })
}

/// A communicator that may have a guard was made.
pub fn made(communicator: &Arc<Communicator>) {
    if communicator.guard.is_some() {
        let mut all = GUARDED.lock();
        all.retain(|one| one.strong_count() > 0);
        all.push(Arc::downgrade(communicator));
    }
}

/// A communicator that may have a guard is about to end.
pub fn ended(native: &Native, communicator: &Communicator) {
    if let Some(guarding) = &communicator.guard {
        guarding.finish(native, communicator);
    }
}

/// MPI is about to end.
pub fn end(native: &Native) {
    let all = std::mem::take(&mut *GUARDED.lock());
    for communicator in all.iter().filter_map(Weak::upgrade) {
        ended(native, &communicator);
    }
}
