//! What is known of receives under way, by their requests.

use std::collections::HashMap;

use once_cell::sync::Lazy;
use parking_lot::Mutex;
use treepie_jobstate::order::Call;
use treepie_mpi::Request;

use super::calls::Receive;

/// A receive whose match is open.
#[derive(Debug, Clone, Copy)]
pub struct Open {
    /// Its number in posting order.
    pub number: u64,
    /// Any tag would do.
    pub any_tag: bool,
}

/// A persistent receive with a wildcard.
#[derive(Debug, Clone, Copy)]
pub struct Prepared {
    /// As it was prepared.
    pub receive: Receive,
    /// Each start of it.
    pub call: Call,
    /// In a replay, the request that stands for it while it is under way.
    pub stand_in: Option<Request>,
}

/// The requests.
#[derive(Default)]
struct Requests {
    /// Recorded: the match comes with the status.
    open: HashMap<Request, Open>,
    /// Replayed: receives of a message that is known.
    awaited: HashMap<Request, Call>,
    prepared: HashMap<Request, Prepared>,
}

static REQUESTS: Lazy<Mutex<Requests>> = Lazy::new(Mutex::default);

/// A receive was begun whose match is open.
pub fn opened(request: Request, open: Open) {
    REQUESTS.lock().open.insert(request, open);
}

/// Whether the match of this request is open.
pub fn is_open(request: Request) -> bool {
    REQUESTS.lock().open.contains_key(&request)
}

/// The request is complete: its receive, if its match was open.
pub fn closed(request: Request) -> Option<Open> {
    REQUESTS.lock().open.remove(&request)
}

/// A receive was begun of a message that is known.
pub fn awaited(request: Request, call: Call) {
    REQUESTS.lock().awaited.insert(request, call);
}

/// The call that began this request, if its message is known.
pub fn awaits(request: Request) -> Option<Call> {
    REQUESTS.lock().awaited.get(&request).copied()
}

/// The request is complete.
pub fn arrived(request: Request) {
    REQUESTS.lock().awaited.remove(&request);
}

/// A receive was prepared.
pub fn prepared(request: Request, receive: Receive, call: Call) {
    let stand_in = None;
    let prepared = Prepared {
        receive,
        call,
        stand_in,
    };
    REQUESTS.lock().prepared.insert(request, prepared);
}

/// What was prepared with this request.
pub fn preparation(request: Request) -> Option<Prepared> {
    REQUESTS.lock().prepared.get(&request).copied()
}

/// What stands for a prepared request while it is under way.
pub fn stand_in(request: Request) -> Option<Request> {
    preparation(request)?.stand_in
}

/// From now on this stands for a prepared request, or nothing.
pub fn set_stand_in(request: Request, stand_in: Option<Request>) {
    if let Some(prepared) = REQUESTS.lock().prepared.get_mut(&request) {
        prepared.stand_in = stand_in;
    }
}

/// The request is no more.
pub fn freed(request: Request) {
    let mut requests = REQUESTS.lock();
    requests.open.remove(&request);
    requests.awaited.remove(&request);
    requests.prepared.remove(&request);
}
