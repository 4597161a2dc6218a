//! The guard on collectives: each begins with the native MPI, and a plan, or another algorithm of
//! the MPI's, takes its place where it was measured to be quicker. What is decided is in
//! `treepie_guard`; here calls are timed, and ranks tell each other what they measured.
//!
//! Which calls are guarded is the same on all ranks: those that `auto` is asked for, on a
//! communicator in several clusters, or whose ranks all share memory, or wherever the MPI's other
//! algorithms can be tried, unless they are reductions that are to be reproducible. Of those that
//! are started, those for which plans are tried, between clusters far from each other
//! ([`measured`]).

mod cells;
mod exchange;
mod forced;
mod knobs;
pub mod measured;
mod persistent;
mod results;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use once_cell::sync::Lazy;
use parking_lot::{Mutex, MutexGuard};
use treepie_choice::{Candidate, Challenger, Progress};
use treepie_collective::Algorithm;
use treepie_guard::{
    CellKey, Due, Earlier, Event, Form, Guard, Known, MOST_CHALLENGERS, Ticket, WARM_UP,
};
use treepie_mpi::native::Native;
use treepie_mpi::{Comm, SUCCESS, Word, c_int};
use treepie_native::knobs::Knob;
use treepie_process::log;
use treepie_profile::GuardedCell;
use treepie_profile::settings::GuardMode;

use super::communicator::Communicator;
use super::setup::Setup;
pub use cells::key;
pub use exchange::Exchange;
use forced::Forced;
pub use forced::{Ready, end_controls};
pub use knobs::Knobs;
pub use persistent::{add_results, hand_on, of_persistent, of_request};
pub use results::all as results;

/// The guard of one communicator.
pub struct Guarding {
    state: Mutex<State>,
    /// The MPI's other algorithms, where they can be tried here.
    knobs: Option<Arc<Knobs>>,
    /// Whether Open MPI's HAN does the collectives otherwise.
    is_behind_han: bool,
    /// Whether plans can.
    tries_plans: bool,
    /// Who goes on with those of started collectives.
    progress: Progress,
    /// Whether there was a started one.
    has_started: AtomicBool,
    /// What persistent requests have come to, for later ones.
    earlier: Mutex<Earlier>,
}

struct State {
    guard: Guard,
    under_way: Option<Exchange>,
    is_reported: bool,
}

/// All that are guarded, so that what is under way is completed before MPI ends.
static GUARDED: Mutex<Vec<Weak<Communicator>>> = Mutex::new(Vec::new());

/// Nanoseconds since the first call.
pub fn now() -> u64 {
    static START: Lazy<Instant> = Lazy::new(Instant::now);
    START.elapsed().as_nanos() as u64
}

/// What an MPI procedure returned.
fn checked(code: c_int) -> Result<(), c_int> {
    match code {
        SUCCESS => Ok(()),
        code => Err(code),
    }
}

/// A call that is guarded.
pub struct Guarded<'a> {
    communicator: &'a Arc<Communicator>,
    ticket: Ticket,
    /// The algorithm of the MPI's that runs it.
    forced: Option<Arc<Forced>>,
}

impl Guarded<'_> {
    /// The plan that runs it: its algorithm, and the largest message in bytes; `None` where the
    /// native MPI does.
    pub fn plan(&self) -> Option<(&'static Algorithm, u64)> {
        match self.ticket.candidate() {
            Some(Candidate::Plan { algorithm, segment }) => Some((algorithm, segment)),
            Some(Candidate::Native(_)) | None => None,
        }
    }

    /// Whether the native MPI runs all such calls from now on.
    pub fn is_left(&self) -> bool {
        self.ticket.is_for_good
    }

    /// A plan runs the call, which was started: what the application does with the request at this
    /// address tells how long it takes.
    pub fn started(self, native: &Native, request: Word) {
        measured::add(native, request, self.communicator, self.ticket);
    }

    /// The call has ended, with this code.
    pub fn ended(self, code: c_int) {
        ended_call(self.communicator, &self.ticket, code);
    }

    /// The plan does not serve the call, as all ranks see.
    pub fn unserved(&self) {
        if let Some(guarding) = &self.communicator.guard {
            guarding.state.lock().guard.unserved(&self.ticket);
        }
    }

    /// The same for the native MPI, which may end the communicator where it tells the application
    /// of an error.
    pub fn left_to_native(self) -> ByNative {
        match self.ticket.is_measured() || self.forced.is_some() {
            false => ByNative::as_it_is(self.communicator),
            true => ByNative::Watched {
                communicator: Arc::clone(self.communicator),
                ticket: self.ticket,
                forced: self.forced,
            },
        }
    }
}

/// A guarded call that the native MPI runs.
pub enum ByNative {
    /// Nothing is measured: the address of the communicator, which holds nothing. A count of who
    /// holds it would wait for the last message's way to the other core.
    AsItIs(usize),
    /// It is measured, or has another algorithm.
    Watched {
        communicator: Arc<Communicator>,
        ticket: Ticket,
        /// The algorithm of the MPI's that runs it.
        forced: Option<Arc<Forced>>,
    },
}

impl ByNative {
    /// A call of which nothing is measured.
    pub fn as_it_is(communicator: &Arc<Communicator>) -> Self {
        ByNative::AsItIs(Arc::as_ptr(communicator) as usize)
    }

    /// The native MPI is about to run it on the communicator that this returns.
    pub fn begin(&mut self, comm: Comm) -> Comm {
        let ByNative::Watched { forced, .. } = self else {
            return comm;
        };
        let Some(algorithm) = forced else {
            return comm;
        };
        algorithm.begin(comm).unwrap_or_else(|| {
            *forced = None;
            comm
        })
    }

    /// The native MPI has started it with this result, and the application has a request for it at
    /// this address; what the application gets.
    pub fn started(self, native: &Native, comm: Comm, code: c_int, request: Word) -> c_int {
        match self {
            ByNative::Watched {
                communicator,
                ticket,
                ..
            } if code == SUCCESS => {
                measured::add(native, request, &communicator, ticket);
                code
            }
            other => other.ran(native, comm, code),
        }
    }

    /// The native MPI has run it with this result; what the application gets.
    pub fn ran(self, native: &Native, comm: Comm, code: c_int) -> c_int {
        match self {
            ByNative::AsItIs(_) if code == SUCCESS => code,
            ByNative::AsItIs(address) => {
                fail(address);
                code
            }
            ByNative::Watched {
                communicator,
                ticket,
                forced,
            } => {
                let code = match &forced {
                    Some(forced) => forced.ended(native, comm, code),
                    None => code,
                };
                ended_call(&communicator, &ticket, code);
                code
            }
        }
    }
}

/// A call failed on the communicator that was at this address; if it is still there.
#[cold]
fn fail(address: usize) {
    let all: Vec<Arc<Communicator>> = GUARDED.lock().iter().filter_map(Weak::upgrade).collect();
    let failed = all.iter().find(|one| Arc::as_ptr(one) as usize == address);
    if let Some(guarding) = failed.and_then(|one| one.guard.as_ref()) {
        guarding.state.lock().guard.fail();
    }
}

/// A call under a guard has ended, with this code.
fn ended_call(communicator: &Communicator, ticket: &Ticket, code: c_int) {
    let (true, Some(guarding)) = (code != SUCCESS || ticket.is_measured(), &communicator.guard)
    else {
        return;
    };
    let now = now();
    let guard = &mut guarding.state.lock().guard;
    match code {
        SUCCESS => guard.leave(ticket, now),
        _ => guard.fail(),
    }
}

impl Guarding {
    /// The guard of a communicator with these ranks of the application's world in so many clusters,
    /// where plans are tried or not; `None` where there is none.
    pub fn new(setup: &Setup, ranks: &[usize], clusters: usize, tries_plans: bool) -> Option<Self> {
        let adopts = match setup.guard {
            GuardMode::Off => return None,
            GuardMode::On => true,
            GuardMode::Report => false,
        };
        let knobs = setup.knobs.clone();
        let is_behind_han = knobs
            .as_ref()
            .is_some_and(|knobs| knobs.are_behind_han(ranks));
        if !tries_plans && knobs.is_none() {
            return None;
        }
        let (ranks, library) = (ranks.len(), knobs.as_ref().map(|knobs| knobs.library));
        let is_allowed = |known: &Known| match (known.challenger.candidate, &knobs) {
            (Candidate::Plan { algorithm, .. }, _) => match known.key.form {
                Form::Blocking => tries_plans,
                // A store may be of an MPI that calls us, and this one does not.
                Form::Nonblocking | Form::Persistent => {
                    setup.progress.allows(algorithm, known.key.operation)
                }
            },
            (Candidate::Native(_), Some(knobs)) => knobs.allow(known, ranks),
            (Candidate::Native(_), None) => false,
        };
        let fitting = |cells: &[GuardedCell]| -> Arc<[Known]> {
            let cells = cells.iter();
            let cells = cells.filter_map(|cell| cell.known(ranks, clusters, library));
            cells.filter(is_allowed).collect()
        };
        let (known, proven) = (fitting(&setup.known), fitting(&setup.proven));
        let state = State {
            guard: Guard::new(setup.seed, adopts, known, proven),
            under_way: None,
            is_reported: false,
        };
        Some(Guarding {
            state: Mutex::new(state),
            knobs,
            is_behind_han,
            tries_plans,
            progress: setup.progress,
            has_started: AtomicBool::new(false),
            earlier: Mutex::default(),
        })
    }

    /// Whether it has to see all calls from now on, those too that were left to the native MPI for
    /// good: what ranks tell each other is used by the first that may wait, which has to be the
    /// same on all.
    pub fn counts_all(&self) -> bool {
        self.has_started.load(Ordering::Relaxed)
    }

    /// What is tried for the calls of a cell, the best first. Of the MPI's other algorithms nothing
    /// is predicted: they come behind the best plans.
    fn challengers(&self, communicator: &Communicator, key: &CellKey) -> Vec<Challenger> {
        if key.form != Form::Blocking {
            return communicator.challengers_started(key, self.progress);
        }
        let mut all = match self.tries_plans {
            true => communicator.challengers(key),
            false => Vec::new(),
        };
        let (others, ranks) = (self.knobs.as_ref(), communicator.clusters.ranks());
        let others = others.map(|knobs| knobs.challengers(key, ranks));
        let others = others.unwrap_or_default();
        all.truncate(MOST_CHALLENGERS.saturating_sub(others.len()));
        all.extend(others);
        all
    }

    /// The algorithm of the MPI's that is to run a call, made ready at its first call, which is the
    /// same on all ranks; `None` where it can't be, on any. Collective then.
    fn forced(
        &self,
        native: &Native,
        communicator: &Communicator,
        (ticket, knob): (&mut Ticket, Knob),
    ) -> Option<Arc<Forced>> {
        let forced = match communicator.ready.get(&knob) {
            Some(forced) => forced,
            // A communicator of a few calls is not worth a duplicate.
            None if self.state.lock().guard.calls() <= WARM_UP => return None,
            None => {
                let library = self.knobs.as_ref()?.library;
                let private = communicator.private();
                let wanted = (library, knob, self.is_behind_han);
                match communicator.ready.make(native, private, wanted) {
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

    /// Does what is due before a call, which may wait for other ranks or not, and goes on with the
    /// state.
    fn keep_up(
        &self,
        native: &Native,
        communicator: &Communicator,
        may_wait: bool,
    ) -> MutexGuard<'_, State> {
        let mut state = self.state.lock();
        match state.guard.due(may_wait) {
            Due::Nothing => state,
            Due::Begin => {
                while let Some(key) = state.guard.undecided() {
                    let challengers = self.challengers(communicator, &key);
                    state.guard.offer(key, challengers);
                }
                state.begin(native, communicator);
                state
            }
            Due::Complete => {
                let under_way = state.under_way.take();
                // Nobody waits for a lock as long as for other ranks.
                drop(state);
                let told = under_way.map(|exchange| exchange.wait(native));
                let mut state = self.state.lock();
                state.complete(communicator, told);
                state
            }
        }
    }

    /// Waits for all ranks, which all do so before this call.
    fn align(&self, native: &Native, communicator: &Communicator, ticket: &mut Ticket) {
        let waited = Exchange::begin(native, communicator.private(), vec![0])
            .and_then(|exchange| exchange.wait(native));
        let guard = &mut self.state.lock().guard;
        match waited {
            Ok(_) => guard.aligned(ticket, now()),
            Err(code) => give_up(guard, code),
        }
    }

    /// Completes what is under way, and keeps the results. The communicator is about to end.
    fn finish(&self, native: &Native, communicator: &Communicator) {
        let mut state = self.state.lock();
        if let Some(exchange) = state.under_way.take() {
            state.complete(communicator, Some(exchange.wait(native)));
        }
        if std::mem::replace(&mut state.is_reported, true) {
            return;
        }
        add_results(communicator, &state.guard);
        state.guard.end();
    }
}

impl State {
    fn begin(&mut self, native: &Native, communicator: &Communicator) {
        let values = self.guard.begin(now());
        match Exchange::begin(native, communicator.private(), values) {
            Ok(exchange) => self.under_way = Some(exchange),
            Err(code) => give_up(&mut self.guard, code),
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
                events.iter().for_each(|event| tell(communicator, event));
            }
            Some(Err(code)) => give_up(&mut self.guard, code),
            None => self.guard.end(),
        }
    }
}

/// As after any call of the MPI's that failed: nothing more is tried.
pub fn give_up(guard: &mut Guard, code: c_int) {
    log::warn(&format!(
        "guard: an exchange between ranks failed with error {code}; the MPI's own collectives run \
         from now on"
    ));
    guard.end();
}

/// A cell, for messages.
fn named(key: &CellKey, ranks: usize) -> String {
    let size = match key.bytes {
        Some(bytes) => format!("up to {bytes} bytes"),
        None => "any size".to_owned(),
    };
    let root = key
        .root
        .map_or(String::new(), |root| format!(", root {root}"));
    let collective = key.form.named(key.operation);
    format!("{collective} of {size}{root} on {ranks} ranks")
}

/// Says what was decided, once.
pub fn tell(communicator: &Communicator, event: &Event) {
    if communicator.rank() != 0 {
        return;
    }
    let ranks = communicator.clusters.ranks();
    let text = match event {
        Event::Cell(key, plan, state) => {
            format!("{}: {} {state}", named(key, ranks), plan.candidate)
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

/// Guards a call of a cell on a communicator that has a guard. Collective now and then, unless the
/// call is one that starts a collective.
pub fn enter<'a>(
    native: &Native,
    communicator: &'a Arc<Communicator>,
    key: CellKey,
) -> Option<Guarded<'a>> {
    let guarding = communicator.guard.as_ref()?;
    let may_wait = key.form == Form::Blocking;
    if !may_wait {
        guarding.has_started.store(true, Ordering::Relaxed);
    }
    let mut state = guarding.keep_up(native, communicator, may_wait);
    let mut ticket = state.guard.enter(key, now);
    drop(state);
    let forced = match ticket.candidate() {
        Some(Candidate::Native(knob)) => guarding.forced(native, communicator, (&mut ticket, knob)),
        Some(Candidate::Plan { .. }) | None => None,
    };
    if ticket.is_aligned() {
        guarding.align(native, communicator, &mut ticket);
    }
    Some(Guarded {
        communicator,
        ticket,
        forced,
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

/// MPI is about to end. A communicator on which other ranks have not begun what this one has is
/// left to it.
pub fn end(native: &Native) {
    let all = std::mem::take(&mut *GUARDED.lock());
    for communicator in all.iter().filter_map(Weak::upgrade) {
        let is_complete = communicator.guard.as_ref().is_none_or(|guarding| {
            let mut state = guarding.state.lock();
            let under_way = state.under_way.as_mut();
            under_way.is_none_or(|exchange| exchange.is_complete_at_the_end(native))
        });
        match is_complete {
            true => ended(native, &communicator),
            false => std::mem::forget(communicator),
        }
    }
}
