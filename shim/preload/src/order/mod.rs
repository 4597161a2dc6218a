//! The order of receives: recorded into a log, and replayed from one.
//!
//! Entry points call the functions of this file around the native MPI's, within `record`. They are
//! told what MPI leaves open of a call, and call the native procedure with what they choose:
//!
//! ```text
//! calls        a call as entry points tell it
//! recording    what a call gave goes into the log
//! replaying    a call gives what the log says
//! requests     what is known of requests under way
//! journal      the log of this process, in files that outlive it
//! watchdog     ends a replay that waits for what does not come
//! collect      logs of all ranks, to one file at the end and from one at the start
//! ```
//!
//! All calls of a process are in one order, which holds while one thread receives. What a second
//! thread does ends a recording, and a replay.

mod calls;
mod collect;
mod journal;
mod recording;
mod replaying;
mod requests;
mod watchdog;

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use treepie_jobstate::order::Log;
use treepie_mpi::native::{Native, NativeError, native};
use treepie_mpi::{Comm, Request, SUCCESS, StatusAddress, Word, c_int};
use treepie_process::features::{self, ORDER};
use treepie_process::log;
use treepie_profile::settings::AfterEnd;
use treepie_record::{Completion, handle_at};

use calls::call_for;
pub use calls::{CallKind, Receive};
pub use collect::{clear, distribute, end, record, write};
use recording::Recording;
use replaying::Replaying;

/// What is done with the order.
enum Work {
    Recording(Recording),
    Replaying(Box<Replaying>),
}

/// The order of this process. It is not held around a call of the native MPI.
static WORK: Mutex<Option<Work>> = Mutex::new(None);

/// The thread that receives.
static THREAD: OnceLock<ThreadId> = OnceLock::new();

thread_local! {
    /// Whether this thread is in a call that is recorded or replayed: what that calls is not.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// This thread's stay in such a call.
struct Inside;

impl Drop for Inside {
    fn drop(&mut self) {
        let _ = INSIDE.try_with(|inside| inside.set(false));
    }
}

/// The native MPI and the order, for a call of the application's own on the thread that receives.
fn enter() -> Option<(&'static Native, Inside)> {
    let nested = INSIDE.try_with(|inside| inside.replace(true)).ok()?;
    if nested {
        return None;
    }
    let inside = Inside;
    let own = thread::current().id();
    if *THREAD.get_or_init(|| own) != own {
        second_thread();
        return None;
    }
    Some((native()?, inside))
}

/// A second thread receives: an order of calls is no more.
#[cold]
fn second_thread() {
    features::end(ORDER);
    match &mut *WORK.lock() {
        Some(Work::Recording(recording)) => recording.give_up(),
        Some(Work::Replaying(replaying)) => {
            let rank = replaying.rank;
            watchdog::end_job(
                &format!("rank {rank}: order: more than one thread receives, as none did before"),
                watchdog::DIVERGED,
            );
        }
        None => (),
    }
}

/// What the recording does; `None` where the order is not recorded.
fn recording<R>(act: impl FnOnce(&mut Recording) -> R) -> Option<R> {
    match &mut *WORK.lock() {
        Some(Work::Recording(recording)) => Some(act(recording)),
        _ => None,
    }
}

/// The replay, locked; `None` where none is.
fn replaying() -> Option<impl std::ops::DerefMut<Target = Replaying>> {
    MutexGuard::try_map(WORK.lock(), |work| match work {
        Some(Work::Replaying(replaying)) => Some(&mut **replaying),
        _ => None,
    })
    .ok()
}

fn is_replayed() -> bool {
    replaying().is_some()
}

/// How a replay is led, beside its log.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// How long a call may wait for what was recorded.
    pub patience: Option<Duration>,
    /// What is done where the recorded run had ended early.
    pub after_end: AfterEnd,
}

/// Replays this log from now on.
///
/// # Errors
/// A native call that failed.
pub fn replay(native: &Native, rank: usize, log: &Log, manner: Manner) -> Result<(), NativeError> {
    let replaying = Replaying::new(native, rank, log, manner)?;
    *WORK.lock() = Some(Work::Replaying(Box::new(replaying)));
    watchdog::start(manner.patience);
    features::begin(ORDER);
    Ok(())
}

/// A receive or a probe. `next` takes the communicator, the source, the tag and the status.
#[inline(always)]
pub fn receive(
    receive: Receive,
    next: impl Fn(Comm, c_int, c_int, StatusAddress) -> c_int,
) -> c_int {
    match features::any(ORDER) {
        false => next(receive.comm, receive.source, receive.tag, receive.status),
        true => ordered_receive(&receive, next),
    }
}

#[cold]
#[inline(never)]
fn ordered_receive(
    receive: &Receive,
    next: impl Fn(Comm, c_int, c_int, StatusAddress) -> c_int,
) -> c_int {
    let plain = || next(receive.comm, receive.source, receive.tag, receive.status);
    let Some((native, _inside)) = enter() else {
        return plain();
    };
    let Some(call) = receive.open_call(native) else {
        return plain();
    };
    match is_replayed() {
        true => replaying::receive(native, receive, &call, next),
        false => recording::receive(native, receive, &call, next),
    }
}

/// A receive that is only prepared: its request is at `receive.request`.
pub fn prepare(receive: Receive, next: impl FnOnce() -> c_int) -> c_int {
    let code = next();
    if code == SUCCESS
        && features::any(ORDER)
        && let Some((native, _inside)) = enter()
        && let Some(call) = receive.open_call(native)
    {
        let request = native.plain(handle_at::<Request>(receive.request));
        requests::prepared(request, receive, call);
    }
    code
}

/// The start of `count` requests, an array at `requests`. `next` starts so many, from an address.
pub fn start(count: c_int, requests: Word, next: impl Fn(c_int, Word) -> c_int) -> c_int {
    if features::any(ORDER)
        && let Some((native, _inside)) = enter()
    {
        return match is_replayed() {
            true => replaying::start(native, count, requests, next),
            false => recording::start(native, count, requests, next),
        };
    }
    next(count, requests)
}

/// A call that completes requests; `kind` where MPI leaves open which. `next` takes the address of
/// the requests and that of the status.
#[inline(always)]
pub fn complete(
    kind: Option<CallKind>,
    completion: Completion,
    next: impl Fn(Word, StatusAddress) -> c_int,
) -> c_int {
    match features::any(ORDER) {
        false => next(completion.requests, completion.status),
        true => ordered_complete(kind, &completion, next),
    }
}

#[cold]
#[inline(never)]
fn ordered_complete(
    kind: Option<CallKind>,
    completion: &Completion,
    next: impl Fn(Word, StatusAddress) -> c_int,
) -> c_int {
    let Some((native, _inside)) = enter() else {
        return next(completion.requests, completion.status);
    };
    match is_replayed() {
        true => replaying::complete(native, kind, completion, next),
        false => recording::complete(native, kind, completion, next),
    }
}

/// A look at `request`, or at a part of its message, which leaves it as it is; `next` takes it.
/// `flag` is where it says whether it is complete.
pub fn look(kind: CallKind, request: Word, flag: Word, next: impl Fn(Word) -> c_int) -> c_int {
    if features::any(ORDER)
        && let Some((native, _inside)) = enter()
    {
        return match is_replayed() {
            true => replaying::look(native, kind, request, flag, next),
            false => recording::poll(&call_for(kind, 1), flag, || next(request)),
        };
    }
    next(request)
}

/// A poll of something that is no request; `flag` is where it says whether that is done.
pub fn poll(kind: CallKind, flag: Word, next: impl Fn() -> c_int) -> c_int {
    if features::any(ORDER)
        && let Some((_, _inside)) = enter()
    {
        let call = call_for(kind, 0);
        return match is_replayed() {
            true => replaying::poll(&call, flag, next),
            false => recording::poll(&call, flag, next),
        };
    }
    next()
}

/// Whether rank 0 has said that the program makes windows.
static WINDOWS_SAID: AtomicBool = AtomicBool::new(false);

/// A procedure that makes a window. What goes through it is not replayed, which is said once.
pub fn window(next: impl FnOnce() -> c_int) -> c_int {
    let code = next();
    if code == SUCCESS && features::any(ORDER) {
        window_made();
    }
    code
}

#[cold]
fn window_made() {
    let rank = match &mut *WORK.lock() {
        Some(Work::Recording(recording)) => {
            recording.window();
            recording.rank
        }
        Some(Work::Replaying(replaying)) => replaying.rank,
        None => return,
    };
    if rank == 0 && !WINDOWS_SAID.swap(true, Ordering::Relaxed) {
        log::warn(
            "order: the program makes windows (one-sided): the order in which ranks access each \
             other's memory is not replayed, and results that depend on it may differ",
        );
    }
}

/// The cancellation of the request at an address; `next` takes the address.
pub fn cancel(request: Word, next: impl Fn(Word) -> c_int) -> c_int {
    if features::any(ORDER)
        && let Some((native, _inside)) = enter()
        && is_replayed()
    {
        return replaying::cancel(native, request, next);
    }
    next(request)
}

/// The end of the request at an address.
pub fn free(request: Word, next: impl FnOnce() -> c_int) -> c_int {
    if features::any(ORDER)
        && let Some((native, _inside)) = enter()
    {
        requests::freed(native.plain(handle_at(request)));
    }
    next()
}

/// Says why the order is not recorded any more.
fn give_up(rank: usize, problem: &str) {
    log::error(&format!(
        "rank {rank}: order: {problem}; what follows is not recorded"
    ));
}
