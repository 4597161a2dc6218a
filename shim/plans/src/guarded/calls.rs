//! Guarded calls, from their start to their end, and the communicators that have a guard.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use treepie_choice::Candidate;
use treepie_collective::Algorithm;
use treepie_guard::{CellKey, Ticket};
use treepie_mpi::native::Native;
use treepie_mpi::{Comm, HandleAddress, Request, SUCCESS, c_int};

use super::measured;
use crate::communicator::Communicator;
use crate::guard::Forced;

/// All guarded communicators, so that pending exchanges are completed before MPI ends.
static GUARDED: Mutex<Vec<Weak<Communicator>>> = Mutex::new(Vec::new());

/// Guarded call.
pub struct Guarded<'a> {
    communicator: &'a Arc<Communicator>,
    ticket: Ticket,
    /// The MPI's algorithm that runs it.
    forced: Option<Arc<Forced>>,
}

impl Guarded<'_> {
    /// Returns the plan that runs it: its algorithm, and the largest message in bytes; `None` if
    /// the native MPI does.
    pub fn plan(&self) -> Option<(&'static Algorithm, u64)> {
        match self.ticket.candidate() {
            Some(Candidate::Plan { algorithm, segment }) => Some((algorithm, segment)),
            Some(Candidate::Native(_)) | None => None,
        }
    }

    /// True if the native MPI runs all such calls from now on.
    pub fn is_left(&self) -> bool {
        self.ticket.is_for_good
    }

    /// Notes that a plan runs the call, which was started: its time is measured by the
    /// application's calls with the request at this address.
    pub fn started(self, native: &Native, request: HandleAddress<Request>) {
        measured::add(native, request, self.communicator, self.ticket);
    }

    /// Ends the call, with this code.
    pub fn ended(self, code: c_int) {
        ended_call(self.communicator, &self.ticket, code);
    }

    /// Notes that the plan does not serve the call; the same on all ranks.
    pub fn unserved(&self) {
        if let Some(guarding) = &self.communicator.guard {
            guarding.unserved(&self.ticket);
        }
    }

    /// Leaves the call to the native MPI, which may free the communicator in an error handler of
    /// the application.
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

/// Guarded call that the native MPI runs.
pub enum ByNative {
    /// Not measured: the address of the communicator, which does not keep it alive. A reference
    /// count would have to wait until the last message has reached the other core.
    AsItIs(usize),
    /// Measured, or run by another algorithm.
    Watched {
        communicator: Arc<Communicator>,
        ticket: Ticket,
        /// The MPI's algorithm that runs it.
        forced: Option<Arc<Forced>>,
    },
}

impl ByNative {
    /// Creates one for a call that is not measured.
    pub fn as_it_is(communicator: &Arc<Communicator>) -> Self {
        ByNative::AsItIs(Arc::as_ptr(communicator) as usize)
    }

    /// Begins the native call; returns the communicator for it.
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

    /// Ends the start by the native MPI, which returned `code` and stored the application's request
    /// at this address; returns the code for the application.
    pub fn started(
        self,
        native: &Native,
        comm: Comm,
        code: c_int,
        request: HandleAddress<Request>,
    ) -> c_int {
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

    /// Ends the run by the native MPI, which returned `code`; returns the code for the application.
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

/// Notes that a call failed on the communicator that was at this address, if it still exists.
#[cold]
fn fail(address: usize) {
    let all: Vec<Arc<Communicator>> = GUARDED.lock().iter().filter_map(Weak::upgrade).collect();
    let failed = all.iter().find(|one| Arc::as_ptr(one) as usize == address);
    if let Some(guarding) = failed.and_then(|one| one.guard.as_ref()) {
        guarding.fail();
    }
}

/// Ends a call under a guard, with this code.
fn ended_call(communicator: &Communicator, ticket: &Ticket, code: c_int) {
    if code != SUCCESS || ticket.is_measured() {
        communicator
            .guard
            .iter()
            .for_each(|guarding| guarding.leave(ticket, code));
    }
}

/// Guards a call of a cell on a communicator that has a guard. Collective from time to time, unless
/// the call is one that starts a collective.
pub fn enter<'a>(
    native: &Native,
    communicator: &'a Arc<Communicator>,
    key: CellKey,
) -> Option<Guarded<'a>> {
    let guarding = communicator.guard.as_ref()?;
    let mut ticket = guarding.enter(native, communicator, key);
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

/// Registers a new communicator that may have a guard.
pub fn made(communicator: &Arc<Communicator>) {
    if communicator.guard.is_some() {
        let mut all = GUARDED.lock();
        all.retain(|one| one.strong_count() > 0);
        all.push(Arc::downgrade(communicator));
    }
}

/// Ends the guard of a communicator that may have one, before the communicator ends.
pub fn ended(native: &Native, communicator: &Communicator) {
    if let Some(guarding) = &communicator.guard {
        guarding.finish(native, communicator);
    }
}

/// Ends all guards, before MPI ends. A communicator on which other ranks have not begun this rank's
/// exchange is left to the MPI.
pub fn end(native: &Native) {
    let all = std::mem::take(&mut *GUARDED.lock());
    for communicator in all.iter().filter_map(Weak::upgrade) {
        let guard = communicator.guard.as_ref();
        let is_complete = guard.is_none_or(|guard| guard.is_complete_at_the_end(native));
        match is_complete {
            true => ended(native, &communicator),
            false => std::mem::forget(communicator),
        }
    }
}
