//! Counted calls, by their roles; the begin and the end of counting.

use std::cell::Cell;
use std::time::Duration;

use treepie_collective::Operation;
use treepie_mpi::{Call, Comm, StatusAddress, Win, Word, c_int};
use treepie_process::features::{self, CANCELLING, COUNTING, CUTS, DELAYS, PAGES, TIMING};
use treepie_traffic::times::CallClass;
use treepie_traffic::windows::{EpochKind, WindowCall};

use super::around::around;
use super::collectives::Plan;
use super::completion::Completion;
use super::counters::MessageKind;
use super::message::Message;
use super::one_sided::Transfer;
use super::page::Note;
use super::received::Taken;
use super::{
    cancelled, communicators, completion, delays, neighbours, page, phases, prepared, received,
    thread,
};

/// Starts counting; with `interval`, the counts of each such time are kept apart.
pub fn begin(interval: Option<Duration>) {
    phases::begin(interval);
    features::begin(COUNTING);
}

/// Has calls timed that are counted.
pub fn begin_timing() {
    features::begin(TIMING);
}

/// Has sends of this rank delayed, by times that are made of `seed`.
pub fn begin_delays(seed: u64) {
    delays::begin(seed);
    features::begin(DELAYS);
}

/// The number of a communicator of the application's among those that were asked for in this way,
/// in the order in which they first were; `None` for those of an MPI's own use.
pub fn number_of(comm: Comm) -> Option<u32> {
    communicators::find(comm).map(|communicator| communicator.number())
}

/// Stops counting; what was counted stays. Within `MPI_Finalize`, of which the time until now
/// counts.
pub fn end() {
    if let Some(thread) = thread::outermost() {
        thread.end_finalize();
    }
    features::end(COUNTING | TIMING | DELAYS);
}

/// `MPI_Finalize`. What the application's own callbacks do in it is counted.
pub fn finalize(note: Note, call: impl FnOnce() -> c_int) -> c_int {
    if features::any(TIMING)
        && let Some(thread) = thread::outermost()
    {
        thread.begin_finalize();
    }
    if features::any(PAGES)
        && let Some(thread) = thread::outermost()
    {
        if features::any(CUTS) {
            page::stop_before(thread.area(), note.procedure);
        }
        thread.begin_note(&note);
    }
    let code = call();
    page::end();
    code
}

/// A receive or a probe.
#[inline(always)]
pub fn receive(note: Note, call: impl FnOnce() -> c_int) -> c_int {
    around(&note, CallClass::Receive, call, |_| ())
}

/// The same, where messages are watched; `call` takes the address of the status.
#[inline(always)]
pub fn receive_watched(
    note: Note,
    call: impl FnOnce(StatusAddress) -> c_int,
    taken: Taken,
) -> c_int {
    match features::any(CUTS) {
        true => received::receive(note, CallClass::Receive, taken, call, |_| ()),
        false => receive(note, || call(taken.status)),
    }
}

/// What is done in few jobs, in a function of its own: what is done in all then keeps the arguments
/// of the application's call in registers.
#[cold]
#[inline(never)]
pub fn apart(call: impl FnOnce() -> c_int) -> c_int {
    call()
}

/// A send.
#[inline(always)]
pub fn send(note: Note, call: impl FnOnce() -> c_int, message: Message) -> c_int {
    around(&note, CallClass::Send, call, |thread| {
        thread.count_send(&message);
    })
}

/// A send and a receive in one; only what is sent counts.
#[inline(always)]
pub fn send_receive(note: Note, call: impl FnOnce() -> c_int, message: Message) -> c_int {
    around(&note, CallClass::SendReceive, call, |thread| {
        thread.count_send(&message);
    })
}

/// The same, where messages are watched; `call` takes the address of the status.
#[inline(always)]
pub fn send_receive_watched(
    note: Note,
    call: impl FnOnce(StatusAddress) -> c_int,
    message: Message,
    taken: Taken,
) -> c_int {
    match features::any(CUTS) {
        true => received::receive(note, CallClass::SendReceive, taken, call, |thread| {
            thread.count_send(&message);
        }),
        false => send_receive(note, || call(taken.status), message),
    }
}

/// A send that goes on after the call: `request` is where the native MPI puts its
/// handle.
#[inline(always)]
pub fn begin_send(
    note: Note,
    call: impl FnOnce() -> c_int,
    message: Message,
    request: Word,
) -> c_int {
    around(&note, CallClass::Send, call, |thread| {
        thread.count_begun_send(&message, request)
    })
}

/// A call that completes requests, or looks at them.
#[inline(always)]
pub fn complete(note: Note, call: impl FnOnce() -> c_int) -> c_int {
    around(&note, CallClass::Wait, call, |_| ())
}

/// The same, where requests are watched; `call` takes the address of the status.
#[inline(always)]
pub fn complete_watched(
    note: Note,
    completion: Completion,
    call: impl FnOnce(StatusAddress) -> c_int,
) -> c_int {
    complete(note, || match features::any(CANCELLING | CUTS) {
        true => completion::complete(&completion, call),
        false => call(completion.status),
    })
}

/// `MPI_Cancel` of the request at `request`.
pub fn cancel(note: Note, call: impl FnOnce() -> c_int, request: Word) -> c_int {
    around(&note, CallClass::Other, call, |thread| {
        cancelled::begun(thread, request)
    })
}

/// A send that is only prepared: `request` is where the native MPI puts its handle.
pub fn send_init(
    note: Note,
    call: impl FnOnce() -> c_int,
    message: Message,
    request: Word,
) -> c_int {
    around(&note, CallClass::Send, call, |thread| {
        prepared::send(thread, &message, request)
    })
}

/// A receive that is only prepared: `request` is where the native MPI puts its handle.
pub fn receive_init(note: Note, call: impl FnOnce() -> c_int, request: Word) -> c_int {
    around(&note, CallClass::Receive, call, |thread| {
        if features::any(PAGES) {
            prepared::receive(thread.source(note.comm, note.source), request);
        }
        if features::any(CUTS) {
            received::prepare(&note);
        }
    })
}

/// The start of `count` prepared requests, an array at `requests`.
pub fn start(note: Note, call: impl FnOnce() -> c_int, count: c_int, requests: Word) -> c_int {
    around(&note, CallClass::Send, call, |thread| {
        prepared::started(thread, count, requests);
        if features::any(PAGES) {
            thread.area().started(count, requests);
        }
        if features::any(CUTS) {
            received::started(count, requests);
        }
    })
}

/// A collective.
#[inline(always)]
pub fn collective(note: Note, next: impl FnOnce() -> c_int, comm: Comm, call: &Call) -> c_int {
    replaceable(note, |_| next(), comm, call)
}

/// A collective that a plan may run: `run` leaves it where it is told to.
#[inline(always)]
pub fn replaceable(
    note: Note,
    run: impl FnOnce(&Cell<Option<Plan>>) -> c_int,
    comm: Comm,
    call: &Call,
) -> c_int {
    let plan = Cell::new(None);
    let class = match call.operation {
        Operation::Barrier => CallClass::Barrier,
        _ => CallClass::Collective,
    };
    around(
        &note,
        class,
        || run(&plan),
        |thread| {
            thread.count_collective(&note, comm, call, plan.get());
            if features::any(CUTS) {
                received::begin_collective(note.request);
            }
        },
    )
}

/// A collective that is only prepared: `request` is where its handle goes. `run` leaves the plan
/// that runs it where it is told to.
pub fn collective_init(
    note: Note,
    run: impl FnOnce(&Cell<Option<Plan>>) -> c_int,
    comm: Comm,
    call: &Call,
    request: Word,
) -> c_int {
    let plan = Cell::new(None);
    around(
        &note,
        CallClass::Collective,
        || run(&plan),
        |_| prepared::collective(comm, call, plan.get(), request),
    )
}

/// A neighbourhood collective that a plan may run: `run` leaves it where it is told to.
#[inline(always)]
pub fn neighbourhood(
    note: Note,
    run: impl FnOnce(&Cell<Option<Plan>>) -> c_int,
    comm: Comm,
    call: &Call,
) -> c_int {
    let plan = Cell::new(None);
    around(
        &note,
        CallClass::Neighbourhood,
        || run(&plan),
        |thread| {
            let done = note.as_done();
            thread.with_communicator(comm, |communicator| {
                communicator.count_done(done);
                if let Some(plan) = plan.get() {
                    let seen = neighbours::observe(communicator, call);
                    return communicator.count(call.operation, &seen, Some(plan));
                }
                neighbours::each_message(communicator, &call.send, |partner, bytes| {
                    thread.count(MessageKind::Neighbourhood, partner, bytes);
                });
            });
            if features::any(CUTS) {
                received::begin_collective(note.request);
            }
        },
    )
}

/// A neighbourhood collective that is only prepared: `request` is where its handle goes. `run`
/// leaves the plan that runs it where it is told to.
pub fn neighbourhood_init(
    note: Note,
    run: impl FnOnce(&Cell<Option<Plan>>) -> c_int,
    comm: Comm,
    call: &Call,
    request: Word,
) -> c_int {
    let plan = Cell::new(None);
    around(
        &note,
        CallClass::Neighbourhood,
        || run(&plan),
        |_| prepared::neighbourhood(comm, call, plan.get(), request),
    )
}

/// A put, a get, or an accumulate.
#[inline(always)]
pub fn transfer(
    what: WindowCall,
    note: Note,
    call: impl FnOnce() -> c_int,
    transfer: Transfer,
) -> c_int {
    around(&note, CallClass::OneSided, call, |thread| {
        thread.count_moved(&transfer, what, transfer.origin());
    })
}

/// An accumulate that gets what was there.
#[inline(always)]
pub fn fetch(note: Note, call: impl FnOnce() -> c_int, transfer: Transfer) -> c_int {
    around(&note, CallClass::OneSided, call, |thread| {
        thread.count_moved(&transfer, WindowCall::Accumulate, transfer.origin());
        thread.count_moved(&transfer, WindowCall::Fetch, transfer.result());
    })
}

/// A call that opens an epoch of this kind.
pub fn open_epoch(kind: EpochKind, note: Note, call: impl FnOnce() -> c_int, window: Win) -> c_int {
    around(&note, CallClass::WindowEpoch, call, |thread| {
        thread.count_epoch(WindowCall::Open, Some(kind), window)
    })
}

/// A flush, or a post.
pub fn within_epoch(
    what: WindowCall,
    note: Note,
    call: impl FnOnce() -> c_int,
    window: Win,
) -> c_int {
    around(&note, CallClass::WindowEpoch, call, |thread| {
        thread.count_epoch(what, None, window)
    })
}

/// A call that ends an epoch, or waits for the end of one.
pub fn end_epoch(note: Note, call: impl FnOnce() -> c_int) -> c_int {
    around(&note, CallClass::WindowEpoch, call, |_| ())
}
