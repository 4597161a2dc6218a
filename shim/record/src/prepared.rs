//! Persistent requests, which are prepared once and counted at every start: persistent and
//! partitioned sends, persistent collectives.

use std::sync::Arc;

use treepie_mpi::native::native;
use treepie_mpi::{Call, Comm, HandleAddress, Request, c_int};

use super::collectives::Plan;
use super::communicators;
use super::counters::MessageKind;
use super::message::Message;
use super::neighbours;
use super::prepared_request::Prepared;
use super::registry::Registry;
use super::thread::Thread;

static PREPARED: Registry<Request, Prepared> = Registry::new();

/// Registers a prepared send, whose request the native MPI stored at `address`.
pub fn send(thread: &Thread, message: &Message, address: HandleAddress<Request>) {
    let sent = thread.partner_and_bytes(message);
    let prepared = Prepared::Messages(MessageKind::PointToPoint, sent.into_iter().collect());
    PREPARED.set(address.read(), Some(prepared));
}

/// Registers a prepared receive from this partner, if it is one of the world; the native MPI stored
/// its request at `address`.
pub fn receive(source: Option<u32>, address: HandleAddress<Request>) {
    PREPARED.set(address.read(), source.map(Prepared::Receive));
}

/// Registers a prepared collective, run by `plan` or by the native MPI; its request is at
/// `address`.
pub fn collective(comm: Comm, call: &Call, plan: Option<Plan>, address: HandleAddress<Request>) {
    if let Some(communicator) = communicators::find(comm)
        && let Some(seen) = communicator.observe(call)
    {
        let prepared = Prepared::Collective(communicator, call.operation, seen, plan);
        PREPARED.set(address.read(), Some(prepared));
    }
}

/// Registers a prepared neighbourhood collective, run by `plan` or by the native MPI; its request
/// is at `address`.
pub fn neighbourhood(comm: Comm, call: &Call, plan: Option<Plan>, address: HandleAddress<Request>) {
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
    PREPARED.set(address.read(), Some(prepared));
}

/// Sets the plan that runs a prepared collective from now on; `None` for the native MPI.
pub fn runs(request: Request, plan: Option<Plan>) {
    let known = PREPARED.find(request);
    if let Some(Prepared::Collective(communicator, operation, seen, _)) = known.as_deref() {
        let (communicator, seen) = (Arc::clone(communicator), seen.clone());
        let prepared = Prepared::Collective(communicator, *operation, seen, plan);
        PREPARED.set(request, Some(prepared));
    }
}

/// Counts the start of `count` requests, an array at `requests`. Receives are only registered here
/// if this rank has a page.
pub fn started(thread: &Thread, count: c_int, requests: HandleAddress<Request>) {
    let Some(native) = native() else { return };
    for at in 0..usize::try_from(count).unwrap_or(0) {
        let request = requests.nth(native, at).read();
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

/// Returns the messages of a start of a prepared send or neighbourhood collective; `None` for other
/// requests.
pub fn messages_of(request: Request) -> Option<Vec<(MessageKind, u32, u64)>> {
    match &*PREPARED.find(request)? {
        Prepared::Messages(kind, messages) => {
            let message = |&(partner, bytes): &(u32, u64)| (*kind, partner, bytes);
            Some(messages.iter().map(message).collect())
        }
        Prepared::Receive(..) | Prepared::Collective(..) => None,
    }
}

/// Removes the request with this handle, which has ended.
pub fn ended(request: Request) {
    PREPARED.forget(request);
}
