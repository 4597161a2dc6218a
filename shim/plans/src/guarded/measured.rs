//! Started collectives whose time is measured, by the application's requests for them, whether a
//! plan or the native MPI runs them.
//!
//! The time of a collective is the program's time that it takes: in the call that starts it, and in
//! those that complete it, test it, or wait for others with it. Progress between these calls costs
//! the program nothing, and no rank can measure how much of its own work it has done: a plan is no
//! better for being complete before it is tested. Costs elsewhere, in other calls in which the MPI
//! calls the progress hook, are part of the time from one start to the next, which the guard
//! considers as well.

use std::sync::Arc;

use treepie_guard::Ticket;
use treepie_mpi::native::Native;
use treepie_mpi::{HandleAddress, Request, Word};
use treepie_record::Completion;

use crate::by_request::{ByRequest, key};
use crate::clock::now;
use crate::communicator::Communicator;

/// Collective that was started, and is not complete.
struct Open {
    communicator: Arc<Communicator>,
    ticket: Ticket,
    /// Nanoseconds of the program's time until now.
    took: u64,
}

/// Collectives that are measured.
static OPEN: ByRequest<Open> = ByRequest::new();

/// True if there are none.
#[inline(always)]
pub fn are_none() -> bool {
    OPEN.is_empty()
}

/// Adds a guarded call that has been started, whose request is at an address.
pub fn add(
    native: &Native,
    request: HandleAddress<Request>,
    communicator: &Arc<Communicator>,
    ticket: Ticket,
) {
    let Some(start) = ticket.start() else {
        return;
    };
    let one = Open {
        communicator: Arc::clone(communicator),
        ticket,
        took: now().saturating_sub(start),
    };
    // MPIs use one request for all operations that complete immediately: the previous one is no
    // longer measured.
    drop(OPEN.insert(native, request.read(), one));
}

/// Removes the request at an address, which is freed.
pub fn forget(native: &Native, request: Request) {
    drop(OPEN.remove(native, request));
}

/// Call that completes or tests requests, some of which are measured.
pub struct Within {
    /// Addresses of the requests, and their previous values.
    requests: Vec<(HandleAddress<Request>, Word)>,
    start: u64,
}

/// Begins the call; `None` if none of its requests is measured.
pub fn enter(native: &Native, completion: &Completion) -> Option<Within> {
    if are_none() {
        return None;
    }
    let first = completion.requests;
    let all = completion.requests(native).enumerate();
    let all = all.map(|(at, request)| (first.nth(native, at), key(native, request)));
    let requests: Vec<_> =
        OPEN.with(|open| all.filter(|(_, one)| open.contains_key(one)).collect());
    (!requests.is_empty()).then(|| Within {
        requests,
        start: now(),
    })
}

impl Within {
    /// Ends the call: a request that it has completed is no longer measured.
    pub fn leave(self, native: &Native) {
        let took = now().saturating_sub(self.start);
        for (address, request) in self.requests {
            let is_complete = key(native, address.read()) != request;
            if let Some(ended) = count(request, took, is_complete) {
                end(&ended);
            }
        }
    }
}

/// Adds nanoseconds to a collective; returns it if it is complete.
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
