//! Counted calls, by their roles; start and end of counting.

use std::cell::Cell;
use std::time::Duration;

use treepie_collective::Operation;
use treepie_mpi::{Call, Comm, HandleAddress, Request, StatusAddress, Win, c_int};
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

/// Starts counting; with `interval`, each interval of this length has separate counts.
pub fn begin(interval: Option<Duration>) {
    phases::begin(interval);
    features::begin(COUNTING);
}

/// Starts timing counted calls.
pub fn begin_timing() {
    features::begin(TIMING);
}

/// Delays sends of this rank, by times derived from `seed`.
pub fn begin_delays(seed: u64) {
    delays::begin(seed);
    features::begin(DELAYS);
}

/// Returns the number of a communicator of the application, in the order of their first queries by
/// this function; `None` for internal ones of the MPI.
pub fn number_of(comm: Comm) -> Option<u32> {
    communicators::find(comm).map(|communicator| communicator.number())
}

/// Stops counting; the counts stay. Called within `MPI_Finalize`, whose time until now is counted.
pub fn end() {
    if let Some(thread) = thread::outermost() {
        thread.end_finalize();
    }
    features::end(COUNTING | TIMING | DELAYS);
}

/// Makes `MPI_Finalize`. Calls of the application's own callbacks in it are counted.
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

/// Makes a receive or a probe.
#[inline(always)]
pub fn receive(note: Note, call: impl FnOnce() -> c_int) -> c_int {
    around(&note, CallClass::Receive, call, |_| ())
}

/// Makes a receive or a probe while messages are watched; `call` takes the address of the status.
#[inline(always)]
pub fn receive_watched(note: Note, call: impl Fn(StatusAddress) -> c_int, taken: Taken) -> c_int {
    match features::any(CUTS) {
        true => received::receive(note, CallClass::Receive, taken, &call, &|_| ()),
        false => receive(note, || call(taken.status)),
    }
}

/// Makes a call in a separate function, for work that few jobs need: the common path then keeps the
/// arguments of the application's call in registers.
#[cold]
#[inline(never)]
pub fn apart(call: impl FnOnce() -> c_int) -> c_int {
    call()
}

/// Makes a send.
#[inline(always)]
pub fn send(note: Note, call: impl FnOnce() -> c_int, message: Message) -> c_int {
    around(&note, CallClass::Send, call, |thread| {
        thread.count_send(&message);
    })
}

/// Makes a combined send and receive; only the sent message is counted.
#[inline(always)]
pub fn send_receive(note: Note, call: impl FnOnce() -> c_int, message: Message) -> c_int {
    around(&note, CallClass::SendReceive, call, |thread| {
        thread.count_send(&message);
    })
}

/// Makes a combined send and receive while messages are watched; `call` takes the address of the
/// status.
#[inline(always)]
pub fn send_receive_watched(
    note: Note,
    call: impl Fn(StatusAddress) -> c_int,
    message: Message,
    taken: Taken,
) -> c_int {
    match features::any(CUTS) {
        true => received::receive(note, CallClass::SendReceive, taken, &call, &|thread| {
            thread.count_send(&message);
        }),
        false => send_receive(note, || call(taken.status), message),
    }
}

/// Makes a send that continues after the call: `request` is the address of the new handle.
#[inline(always)]
pub fn begin_send(
    note: Note,
    call: impl FnOnce() -> c_int,
    message: Message,
    request: HandleAddress<Request>,
) -> c_int {
    around(&note, CallClass::Send, call, |thread| {
        thread.count_begun_send(&message, request)
    })
}

/// Makes a call that completes or queries requests.
#[inline(always)]
pub fn complete(note: Note, call: impl FnOnce() -> c_int) -> c_int {
    around(&note, CallClass::Wait, call, |_| ())
}

/// Makes a call that completes or queries requests while requests are watched; `call` takes the
/// address of the status.
#[inline(always)]
pub fn complete_watched(
    note: Note,
    completion: Completion,
    call: impl Fn(StatusAddress) -> c_int,
) -> c_int {
    complete(note, || match features::any(CANCELLING | CUTS) {
        true => completion::complete(&completion, &call),
        false => call(completion.status),
    })
}

/// `MPI_Cancel` of the request at `request`.
pub fn cancel(note: Note, call: impl FnOnce() -> c_int, request: HandleAddress<Request>) -> c_int {
    around(&note, CallClass::Other, call, |thread| {
        cancelled::begun(thread, request)
    })
}

/// Prepares a persistent send: `request` is the address of the new handle.
pub fn send_init(
    note: Note,
    call: impl FnOnce() -> c_int,
    message: Message,
    request: HandleAddress<Request>,
) -> c_int {
    around(&note, CallClass::Send, call, |thread| {
        prepared::send(thread, &message, request)
    })
}

/// Prepares a persistent receive: `request` is the address of the new handle.
pub fn receive_init(
    note: Note,
    call: impl FnOnce() -> c_int,
    request: HandleAddress<Request>,
) -> c_int {
    around(&note, CallClass::Receive, call, |thread| {
        if features::any(PAGES) {
            prepared::receive(thread.source(note.comm, note.source), request);
        }
        if features::any(CUTS) {
            received::prepare(&note);
        }
    })
}

/// Starts `count` persistent requests, an array at `requests`.
pub fn start(
    note: Note,
    call: impl FnOnce() -> c_int,
    count: c_int,
    requests: HandleAddress<Request>,
) -> c_int {
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

/// Makes a collective.
#[inline(always)]
pub fn collective(note: Note, next: impl FnOnce() -> c_int, comm: Comm, call: &Call) -> c_int {
    replaceable(note, |_| next(), comm, call)
}

/// Makes a collective that a plan may run: `run` stores that plan in its argument.
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

/// Prepares a persistent collective: `request` is the address of the new handle. `run` stores the
/// plan that runs it in its argument.
pub fn collective_init(
    note: Note,
    run: impl FnOnce(&Cell<Option<Plan>>) -> c_int,
    comm: Comm,
    call: &Call,
    request: HandleAddress<Request>,
) -> c_int {
    let plan = Cell::new(None);
    around(
        &note,
        CallClass::Collective,
        || run(&plan),
        |_| prepared::collective(comm, call, plan.get(), request),
    )
}

/// Makes a neighbourhood collective that a plan may run: `run` stores that plan in its argument.
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

/// Prepares a persistent neighbourhood collective: `request` is the address of the new handle.
/// `run` stores the plan that runs it in its argument.
pub fn neighbourhood_init(
    note: Note,
    run: impl FnOnce(&Cell<Option<Plan>>) -> c_int,
    comm: Comm,
    call: &Call,
    request: HandleAddress<Request>,
) -> c_int {
    let plan = Cell::new(None);
    around(
        &note,
        CallClass::Neighbourhood,
        || run(&plan),
        |_| prepared::neighbourhood(comm, call, plan.get(), request),
    )
}

/// Makes a put, a get, or an accumulate.
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

/// Makes an accumulate that fetches the previous contents.
#[inline(always)]
pub fn fetch(note: Note, call: impl FnOnce() -> c_int, transfer: Transfer) -> c_int {
    around(&note, CallClass::OneSided, call, |thread| {
        thread.count_moved(&transfer, WindowCall::Accumulate, transfer.origin());
        thread.count_moved(&transfer, WindowCall::Fetch, transfer.result());
    })
}

/// Makes a call that opens an epoch of this kind.
pub fn open_epoch(kind: EpochKind, note: Note, call: impl FnOnce() -> c_int, window: Win) -> c_int {
    around(&note, CallClass::WindowEpoch, call, |thread| {
        thread.count_epoch(WindowCall::Open, Some(kind), window)
    })
}

/// Makes a flush, or a post.
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

/// Makes a call that ends an epoch, or waits for the end of one.
pub fn end_epoch(note: Note, call: impl FnOnce() -> c_int) -> c_int {
    around(&note, CallClass::WindowEpoch, call, |_| ())
}
