//! Started collectives whose time is measured, by the requests that the application has for them,
//! whoever runs them.
//!
//! Measured is what a collective takes of the program's time: the call that starts it, and those
//! that complete it, test it, or wait for others with it. What goes on meanwhile costs the program
//! nothing, and no rank can tell how much of its own work it has done: a plan is no better for
//! being complete sooner than anybody asks. What it may cost elsewhere, where the MPI calls us in
//! other calls, is in the time from one start to the next, which the guard looks at as well.

use std::sync::Arc;

use treepie_guard::Ticket;
use treepie_mpi::native::Native;
use treepie_mpi::{Request, Word};
use treepie_record::{Completion, handle_at};

use crate::by_request::{ByRequest, key};
use crate::clock::now;
use crate::communicator::Communicator;

/// A collective that was started, and is not complete.
struct Open {
    communicator: Arc<Communicator>,
    ticket: Ticket,
    /// Nanoseconds of the program's time until now.
    took: u64,
}

/// Those that are measured.
static OPEN: ByRequest<Open> = ByRequest::new();

/// Whether there are none.
#[inline(always)]
pub fn are_none() -> bool {
    OPEN.is_empty()
}

/// A guarded call has been started, whose request is at an address.
pub fn add(native: &Native, request: Word, communicator: &Arc<Communicator>, ticket: Ticket) {
    let Some(start) = ticket.start() else {
        return;
    };
    let one = Open {
        communicator: Arc::clone(communicator),
        ticket,
        took: now().saturating_sub(start),
    };
    // MPIs give one request to all that are complete at once: what was there is not measured.
    drop(OPEN.insert(native, handle_at(request), one));
}

/// The request at an address is freed.
pub fn forget(native: &Native, request: Request) {
    drop(OPEN.remove(native, request));
}

/// A call that completes requests, or tests them, some of which are measured.
pub struct Within {
    /// Their addresses, and what was there.
    requests: Vec<(Word, Word)>,
    start: u64,
}

/// The call begins; `None` where none of its requests is measured.
pub fn enter(native: &Native, completion: &Completion) -> Option<Within> {
    if are_none() {
        return None;
    }
    let (first, bytes) = (completion.requests, native.abi.handle_bytes);
    let all = completion.requests(native).enumerate();
    let all = all.map(|(at, request)| (first + at * bytes, key(native, request)));
    let requests: Vec<(Word, Word)> =
        OPEN.with(|open| all.filter(|(_, one)| open.contains_key(one)).collect());
    (!requests.is_empty()).then(|| Within {
        requests,
        start: now(),
    })
}

impl Within {
    /// The call ends: where it has completed a request, there is none any more.
    pub fn leave(self, native: &Native) {
        let took = now().saturating_sub(self.start);
        for (address, request) in self.requests {
            let is_complete = key(native, handle_at(address)) != request;
            if let Some(ended) = count(request, took, is_complete) {
                end(&ended);
            }
        }
    }
}

/// Adds nanoseconds to a collective; it is returned where it is complete.
fn count(request: Word, took: u64, is_complete: bool) -> Option<Open> {
    OPEN.with(|open| {
        open.get_mut(&request)?.took += took;
        is_complete.then(|| open.remove(&request))?
    })
}

fn end(ended: &Open) {
    if let Some(guarding) = &ended.communicator.guard {
        guarding.took(&ended.ticket, ended.took);
    }
}
