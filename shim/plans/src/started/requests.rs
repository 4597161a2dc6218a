//! The request that the application has for an operation: one of the native MPI's own, so that all
//! that takes requests takes it, in every language.
//!
//! | operation | request | complete when |
//! |---|---|---|
//! | non-blocking | generalized (`MPI_Grequest_start`) | `MPI_Grequest_complete` was called |
//! | persistent | a receive of nothing from this process (`MPI_Recv_init`) | the message was sent |

use std::sync::Arc;

use treepie_mpi::native::{Callbacks, Native, native};
use treepie_mpi::{Request, SUCCESS, StatusAddress, Word, c_int};
use treepie_record::handle_at;

use super::open::{OPEN, among, are_none};
use super::running::Running;
use super::{objects, progress};
use crate::guarded::measured;

fn remove(native: &Native, request: Request) {
    if let Some(running) = OPEN.remove(native, request) {
        if running.is_under_way() {
            // An error of the program's. Messages are still on their way into its memory.
            std::mem::forget(Arc::clone(&running));
        } else if let Some(trial) = running.trial() {
            trial.end(native);
        }
        objects::end(running);
    }
}

/// MPI is about to end, on all ranks.
pub fn end_trials(native: &Native) {
    let all: Vec<_> = OPEN.with(|open| open.values().cloned().collect());
    let ended = all.iter().filter(|running| !running.is_under_way());
    ended
        .filter_map(|running| running.trial())
        .for_each(|trial| trial.end(native));
}

/// Starts a non-blocking operation, whose request goes to `address`.
///
/// # Errors
/// MPI's code.
pub fn start(native: &Native, running: Arc<Running>, address: Word) -> Result<(), c_int> {
    objects::settle(native);
    let state = Arc::into_raw(Arc::clone(&running)) as Word;
    let callbacks = Callbacks {
        query,
        free,
        cancel: refuse,
    };
    // SAFETY: the state is an operation that is held until it is freed.
    let request = match unsafe { native.start_generalized(callbacks, state) } {
        Ok(request) => request,
        Err(code) => {
            // SAFETY: made above, and known to nobody else.
            drop(unsafe { Arc::from_raw(state as *const Running) });
            return Err(code);
        }
    };
    running.marker.set(request);
    OPEN.insert(native, request, Arc::clone(&running));
    if let Err(code) = begin(native, &running) {
        running.marker.tell(native, running.place());
        native.free_request(request);
        return Err(code);
    }
    // SAFETY: the application's call has a request there.
    unsafe { native.write_handle(address, request) };
    Ok(())
}

/// Begins an operation, with which whoever makes progress goes on where its messages wait.
fn begin(native: &Native, running: &Arc<Running>) -> Result<(), c_int> {
    if running.begin(native)? {
        progress::add(running);
    }
    Ok(())
}

/// Prepares a persistent operation, whose request goes to `address`.
///
/// # Errors
/// MPI's code.
pub fn prepare(native: &Native, running: Arc<Running>, address: Word) -> Result<(), c_int> {
    running.marker.repeat();
    let request = native.prepare_marker(running.place().to_oneself_at_the_end())?;
    running.marker.set(request);
    OPEN.insert(native, request, running);
    // SAFETY: the application's call has a request there.
    unsafe { native.write_handle(address, request) };
    Ok(())
}

/// Gives the application a request for an operation in whose place plans are tried; the native
/// MPI's own is at this address now.
///
/// # Errors
/// MPI's code.
pub fn prepare_tried(native: &Native, running: Arc<Running>, address: Word) -> Result<(), c_int> {
    let own: Request = handle_at(address);
    prepare(native, Arc::clone(&running), address)?;
    if let Some(trial) = running.trial() {
        trial.hold(own, handle_at(address));
    }
    Ok(())
}

/// `count` persistent requests, an array at `requests`, are started by `next`.
pub fn begin_persistent(count: c_int, requests: Word, next: impl FnOnce() -> c_int) -> c_int {
    let code = next();
    if are_none() || code != SUCCESS {
        return code;
    }
    let Some(native) = native() else {
        return code;
    };
    let count = usize::try_from(count).unwrap_or(0);
    let handles = (0..count).map(|at| handle_at(requests + at * native.abi.handle_bytes));
    let begun = among(native, handles);
    let mut first = code;
    for one in begun {
        let Err(failed) = begin(native, &one) else {
            continue;
        };
        // Nobody is to wait for it.
        one.marker.tell(native, one.place());
        if first == SUCCESS {
            native.call_error_handler(one.told(), failed);
            first = failed;
        }
    }
    first
}

/// The request at an address is freed by `next`.
pub fn end_request(address: Word, next: impl FnOnce() -> c_int) -> c_int {
    if are_none() && measured::are_none() {
        return next();
    }
    let request: Request = handle_at(address);
    let code = next();
    if let (SUCCESS, Some(native)) = (code, native()) {
        measured::forget(native, request);
        // A generalized one is removed where the MPI frees it.
        let listed = among(native, std::iter::once(request));
        if listed.iter().any(|one| one.marker.is_persistent()) {
            remove(native, request);
        }
        drop(listed);
        objects::settle(native);
    }
    code
}

/// The request at an address is cancelled by `next`: collectives can't be. The message that
/// completes a persistent one could, and its request would be complete before the collective is.
pub fn cancel(address: Word, next: impl FnOnce() -> c_int) -> c_int {
    let request: Request = handle_at(address);
    let is_ours = |native: &Native| !among(native, std::iter::once(request)).is_empty();
    match !are_none() && native().is_some_and(is_ours) {
        true => SUCCESS,
        false => next(),
    }
}

/// `MPI_Grequest_query_function`. MPIs do different things with an error in the status, and tell
/// the world of it; so what completes the request tells the application.
unsafe extern "C" fn query(_state: Word, status: StatusAddress) -> c_int {
    if let Some(native) = native() {
        // SAFETY: the MPI's own status.
        unsafe { native.set_empty(status) };
    }
    SUCCESS
}

/// `MPI_Grequest_free_function`. The MPI may hold its locks: no call of it here.
unsafe extern "C" fn free(state: Word) -> c_int {
    // SAFETY: the state of `start`, which is freed once.
    let running = unsafe { Arc::from_raw(state as *const Running) };
    running.marker.free();
    if let (Some(native), Some(request)) = (native(), running.marker.request()) {
        remove(native, request);
    }
    SUCCESS
}

/// `MPI_Grequest_cancel_function`: collectives can't be cancelled.
unsafe extern "C" fn refuse(_state: Word, _is_complete: c_int) -> c_int {
    SUCCESS
}
