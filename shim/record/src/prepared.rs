//! Requests that are prepared once and counted at every start: persistent and
//! partitioned sends, persistent collectives.

use std::sync::Arc;

use treepie_mpi::native::native;
use treepie_mpi::{Call, Comm, Request, Word, c_int};

use super::collectives::Plan;
use super::communicators;
use super::counters::MessageKind;
use super::message::Message;
use super::neighbours;
use super::prepared_request::Prepared;
use super::registry::{Registry, handle_at};
use super::thread::Thread;

static PREPARED: Registry<Request, Prepared> = Registry::new();

/// A send was prepared; the native MPI put its request at `address`.
pub fn send(thread: &Thread, message: &Message, address: Word) {
    let sent = thread.partner_and_bytes(message);
    let prepared = Prepared::Messages(MessageKind::PointToPoint, sent.into_iter().collect());
    PREPARED.set(handle_at(address), Some(prepared));
}

/// A receive from this partner was prepared, if it is one of the world; the native MPI put its
/// request at `address`.
pub fn receive(source: Option<u32>, address: Word) {
    PREPARED.set(handle_at(address), source.map(Prepared::Receive));
}

/// A collective was prepared, which `plan` runs or the native MPI; its request is at `address`.
pub fn collective(comm: Comm, call: &Call, plan: Option<Plan>, address: Word) {
    if let Some(communicator) = communicators::find(comm)
        && let Some(seen) = communicator.observe(call)
    {
        let prepared = Prepared::Collective(communicator, call.operation, seen, plan);
        PREPARED.set(handle_at(address), Some(prepared));
    }
}

/// A neighbourhood collective was prepared, which `plan` runs or the native MPI; its request is at
/// `address`.
pub fn neighbourhood(comm: Comm, call: &Call, plan: Option<Plan>, address: Word) {
    let Some(communicator) = communicators::find(comm) else {
        return;
    };
    let prepared = match plan {
        Some(plan) => {
            let seen = neighbours::observe(&communicator, call);
            Prepared::Collective(communicator, call.operation, seen, Some(plan))
        }
        None => {
            let mut sent = Vec::new();
            neighbours::each_message(&communicator, &call.send, |partner, bytes| {
                sent.push((partner, bytes));
            });
            Prepared::Messages(MessageKind::Neighbourhood, sent)
        }
    };
    PREPARED.set(handle_at(address), Some(prepared));
}

/// From now on a prepared collective is run by this plan, or by the native MPI.
pub fn runs(request: Request, plan: Option<Plan>) {
    let known = PREPARED.find(request);
    if let Some(Prepared::Collective(communicator, operation, seen, _)) = known.as_deref() {
        let (communicator, seen) = (Arc::clone(communicator), seen.clone());
        let prepared = Prepared::Collective(communicator, *operation, seen, plan);
        PREPARED.set(request, Some(prepared));
    }
}

/// `count` requests, an array at `requests`, were started. Receives are only known
/// here where this rank has a page.
pub fn started(thread: &Thread, count: c_int, requests: Word) {
    let Some(native) = native() else { return };
    for at in 0..usize::try_from(count).unwrap_or(0) {
        let request = handle_at(requests + at * native.abi.handle_bytes);
        let find = |request| PREPARED.find(request);
        thread
            .requests
            .with(request, PREPARED.epoch(), find, |prepared| match prepared {
                Prepared::Messages(kind, messages) => {
                    for &(partner, bytes) in messages {
                        thread.count(*kind, partner, bytes);
                    }
                }
                Prepared::Receive(source) => thread.count_posted(*source),
                Prepared::Collective(communicator, operation, seen, plan) => {
                    communicator.count(*operation, seen, *plan);
                }
            });
    }
}

/// What a start of a prepared send or neighbourhood collective sends; nothing of
/// other requests.
pub fn messages_of(request: Request) -> Option<Vec<(MessageKind, u32, u64)>> {
    match &*PREPARED.find(request)? {
        Prepared::Messages(kind, messages) => {
            let message = |&(partner, bytes): &(u32, u64)| (*kind, partner, bytes);
            Some(messages.iter().map(message).collect())
        }
        Prepared::Receive(..) | Prepared::Collective(..) => None,
    }
}

/// The request with this handle is no more.
pub fn ended(request: Request) {
    PREPARED.forget(request);
}
