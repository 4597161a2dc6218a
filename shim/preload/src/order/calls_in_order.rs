//! Calls under a recorded or replayed order of receives.

use std::sync::atomic::{AtomicBool, Ordering};

use treepie_base::Rank;
use treepie_jobstate::order::Log;
use treepie_mpi::native::{Native, NativeError};
use treepie_mpi::{Comm, HandleAddress, IntAddress, Request, SUCCESS, StatusAddress, c_int};
use treepie_process::features::{self, ORDER};
use treepie_process::log;
use treepie_record::Completion;

use super::calls::CallKind;
use super::calls::Receive;
use super::calls::call_for;
use super::replaying::{Manner, Replaying};
use super::work::{WORK, Work, enter, is_replayed};
use super::{recorded, replayed, requests, watchdog};

/// Replays this log from now on.
///
/// # Errors
/// A native call that failed.
pub fn replay(native: &Native, rank: Rank, log: &Log, manner: Manner) -> Result<(), NativeError> {
    let replaying = Replaying::new(native, rank, log, manner)?;
    *WORK.lock() = Some(Work::Replaying(Box::new(replaying)));
    watchdog::start(manner.patience);
    features::begin(ORDER);
    Ok(())
}

/// Makes a receive or a probe. `next` takes the communicator, the source, the tag and the status.
#[inline(always)]
pub fn receive(
    receive: Receive,
    next: impl Fn(Comm, c_int, c_int, StatusAddress) -> c_int,
) -> c_int {
    match features::any(ORDER) {
        false => next(receive.comm, receive.source, receive.tag, receive.status),
        true => ordered_receive(&receive, &next),
    }
}

#[cold]
#[inline(never)]
pub(super) fn ordered_receive(
    receive: &Receive,
    next: &dyn Fn(Comm, c_int, c_int, StatusAddress) -> c_int,
) -> c_int {
    let plain = || next(receive.comm, receive.source, receive.tag, receive.status);
    let Some((native, _inside)) = enter() else {
        return plain();
    };
    let Some(call) = receive.open_call(native) else {
        return plain();
    };
    match is_replayed() {
        true => replayed::receive(native, receive, &call, next),
        false => recorded::receive(native, receive, &call, next),
    }
}

/// Prepares a persistent receive, whose request is at `receive.request`.
pub fn prepare(receive: Receive, next: impl FnOnce() -> c_int) -> c_int {
    let code = next();
    if code == SUCCESS
        && features::any(ORDER)
        && let Some((native, _inside)) = enter()
        && let Some(call) = receive.open_call(native)
    {
        let request = native.plain(receive.request.read());
        requests::prepared(request, receive, call);
    }
    code
}

/// Starts `count` requests, an array at `requests`. `next` takes their number and their address.
pub fn start(
    count: c_int,
    requests: HandleAddress<Request>,
    next: impl Fn(c_int, HandleAddress<Request>) -> c_int,
) -> c_int {
    if features::any(ORDER)
        && let Some((native, _inside)) = enter()
    {
        return match is_replayed() {
            true => replayed::start(native, count, requests, next),
            false => recorded::start(native, count, requests, next),
        };
    }
    next(count, requests)
}

/// Completes requests; `kind` is set if MPI leaves open which ones. `next` takes the address of the
/// requests and that of the status.
#[inline(always)]
pub fn complete(
    kind: Option<CallKind>,
    completion: Completion,
    next: impl Fn(HandleAddress<Request>, StatusAddress) -> c_int,
) -> c_int {
    match features::any(ORDER) {
        false => next(completion.requests, completion.status),
        true => ordered_complete(kind, &completion, &next),
    }
}

#[cold]
#[inline(never)]
pub(super) fn ordered_complete(
    kind: Option<CallKind>,
    completion: &Completion,
    next: &dyn Fn(HandleAddress<Request>, StatusAddress) -> c_int,
) -> c_int {
    let Some((native, _inside)) = enter() else {
        return next(completion.requests, completion.status);
    };
    match is_replayed() {
        true => replayed::complete(native, kind, completion, next),
        false => recorded::complete(native, kind, completion, next),
    }
}

/// Queries `request`, or a partition of its message, and leaves it unchanged; `next` takes the
/// request. `flag` is the address of the completion flag.
pub fn look(
    kind: CallKind,
    request: Request,
    flag: IntAddress,
    next: impl Fn(Request) -> c_int,
) -> c_int {
    if features::any(ORDER)
        && let Some((native, _inside)) = enter()
    {
        return match is_replayed() {
            true => replayed::look(native, kind, request, flag, next),
            false => recorded::poll(&call_for(kind, 1), flag, || next(request)),
        };
    }
    next(request)
}

/// Polls an operation without a request; `flag` is the address of its completion flag.
pub fn poll(kind: CallKind, flag: IntAddress, next: impl Fn() -> c_int) -> c_int {
    if features::any(ORDER)
        && let Some((_, _inside)) = enter()
    {
        let call = call_for(kind, 0);
        return match is_replayed() {
            true => replayed::poll(&call, flag, next),
            false => recorded::poll(&call, flag, next),
        };
    }
    next()
}

/// True once rank 0 has warned that the program creates windows.
pub(super) static WINDOWS_SAID: AtomicBool = AtomicBool::new(false);

/// Creates a window. Communication through it is not replayed, which is reported once.
pub fn window(next: impl FnOnce() -> c_int) -> c_int {
    let code = next();
    if code == SUCCESS && features::any(ORDER) {
        window_made();
    }
    code
}

#[cold]
pub(super) fn window_made() {
    let rank = match &mut *WORK.lock() {
        Some(Work::Recording(recording)) => {
            recording.window();
            recording.rank
        }
        Some(Work::Replaying(replaying)) => replaying.rank,
        None => return,
    };
    if rank == Rank(0) && !WINDOWS_SAID.swap(true, Ordering::Relaxed) {
        log::warn(
            "order: the program makes windows (one-sided): the order in which ranks access each \
             other's memory is not replayed, and results that depend on it may differ",
        );
    }
}

/// Cancels the request at an address; `next` takes the address.
pub fn cancel(
    request: HandleAddress<Request>,
    next: impl Fn(HandleAddress<Request>) -> c_int,
) -> c_int {
    if features::any(ORDER)
        && let Some((native, _inside)) = enter()
        && is_replayed()
    {
        return replayed::cancel(native, request, next);
    }
    next(request)
}

/// Frees the request at an address.
pub fn free(request: HandleAddress<Request>, next: impl FnOnce() -> c_int) -> c_int {
    if features::any(ORDER)
        && let Some((native, _inside)) = enter()
    {
        requests::freed(native.plain(request.read()));
    }
    next()
}
