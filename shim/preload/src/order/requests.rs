//! State of active receives, by their requests.

use std::collections::HashMap;

use once_cell::sync::Lazy;
use parking_lot::Mutex;
use treepie_jobstate::order::Call;
use treepie_mpi::Request;

use super::calls::Receive;

/// Receive whose match is open.
#[derive(Debug, Clone, Copy)]
pub struct Open {
    /// Its number in posting order.
    pub number: u64,
    /// True if any tag matches.
    pub any_tag: bool,
}

/// Persistent receive with a wildcard.
#[derive(Debug, Clone, Copy)]
pub struct Prepared {
    /// Receive as it was prepared.
    pub receive: Receive,
    /// Call of each of its starts.
    pub call: Call,
    /// In a replay, the request that replaces it while it is active.
    pub stand_in: Option<Request>,
}

/// State of requests.
#[derive(Default)]
struct Requests {
    /// While recording: receives whose match comes with the status.
    open: HashMap<Request, Open>,
    /// While replaying: receives whose message is known.
    awaited: HashMap<Request, Call>,
    prepared: HashMap<Request, Prepared>,
}

static REQUESTS: Lazy<Mutex<Requests>> = Lazy::new(Mutex::default);

/// Adds an active receive whose match is open.
pub fn opened(request: Request, open: Open) {
    REQUESTS.lock().open.insert(request, open);
}

/// True if the match of this request is open.
pub fn is_open(request: Request) -> bool {
    REQUESTS.lock().open.contains_key(&request)
}

/// Removes a completed request; returns its receive if its match was open.
pub fn closed(request: Request) -> Option<Open> {
    REQUESTS.lock().open.remove(&request)
}

/// Adds an active receive whose message is known.
pub fn awaited(request: Request, call: Call) {
    REQUESTS.lock().awaited.insert(request, call);
}

/// Returns the call that began this request, if its message is known.
pub fn awaits(request: Request) -> Option<Call> {
    REQUESTS.lock().awaited.get(&request).copied()
}

/// Removes a completed request.
pub fn arrived(request: Request) {
    REQUESTS.lock().awaited.remove(&request);
}

/// Adds a persistent receive.
pub fn prepared(request: Request, receive: Receive, call: Call) {
    let stand_in = None;
    let prepared = Prepared {
        receive,
        call,
        stand_in,
    };
    REQUESTS.lock().prepared.insert(request, prepared);
}

/// Returns the persistent receive of this request.
pub fn preparation(request: Request) -> Option<Prepared> {
    REQUESTS.lock().prepared.get(&request).copied()
}

/// Returns the stand-in of a persistent request while it is active.
pub fn stand_in(request: Request) -> Option<Request> {
    preparation(request)?.stand_in
}

/// Sets or removes the stand-in of a persistent request.
pub fn set_stand_in(request: Request, stand_in: Option<Request>) {
    if let Some(prepared) = REQUESTS.lock().prepared.get_mut(&request) {
        prepared.stand_in = stand_in;
    }
}

/// Removes a freed request.
pub fn freed(request: Request) {
    let mut requests = REQUESTS.lock();
    requests.open.remove(&request);
    requests.awaited.remove(&request);
    requests.prepared.remove(&request);
}
