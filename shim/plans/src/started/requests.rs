//! The request that the application has for an operation: one of the native MPI's own, so that all
//! that takes requests takes it, in every language.
//!
//! | operation | request | complete when |
//! |---|---|---|
//! | non-blocking | generalized (`MPI_Grequest_start`) | `MPI_Grequest_complete` was called |
//! | persistent | a receive of nothing from this process (`MPI_Recv_init`) | the message was sent |

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use once_cell::sync::OnceCell;
use treepie_mpi::native::{Callbacks, Native, native};
use treepie_mpi::{Request, SUCCESS, StatusAddress, Word, c_int};
use treepie_process::log;
use treepie_record::handle_at;

use super::objects;
use super::running::Running;
use crate::by_request::{ByRequest, key};
use crate::guard::measured;
use crate::place::Place;

/// What tells the native MPI that an operation has ended.
#[derive(Debug, Default)]
pub struct Marker {
    request: OnceCell<Request>,
    is_persistent: AtomicBool,
    /// The native MPI knows the request no more.
    is_freed: AtomicBool,
}

impl Marker {
    /// Whether its request is started again and again.
    pub fn is_persistent(&self) -> bool {
        self.is_persistent.load(Ordering::Relaxed)
    }

    /// The operation is started again and again.
    pub fn repeat(&self) {
        self.is_persistent.store(true, Ordering::Relaxed);
    }

    /// Tells the end of an operation whose messages are at `place`.
    pub fn tell(&self, native: &Native, place: Place) {
        let Some(&request) = self.request.get() else {
            return;
        };
        let told = match self.is_persistent() {
            true => native.send_marker(place.to_oneself_at_the_end()),
            false if self.is_freed.load(Ordering::Acquire) => Ok(()),
            false => native.complete_generalized(request),
        };
        if let Err(code) = told {
            log::error(&format!(
                "a started collective has ended, and its request can't be completed: error {code}"
            ));
        }
    }
}

/// Operations that were not told to be complete, and persistent ones.
static OPEN: ByRequest<Arc<Running>> = ByRequest::new();

/// Whether there are none.
#[inline(always)]
pub fn are_none() -> bool {
    OPEN.is_empty()
}

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

/// The operations among these requests.
pub fn among(native: &Native, requests: impl Iterator<Item = Request>) -> Vec<Arc<Running>> {
    let placed = placed_among(native, requests).into_iter();
    placed.map(|(_, running)| running).collect()
}

/// The same, with their places among the requests.
pub fn placed_among(
    native: &Native,
    requests: impl Iterator<Item = Request>,
) -> Vec<(usize, Arc<Running>)> {
    OPEN.with(|open| {
        let find = |(at, request)| Some((at, open.get(&key(native, request))?.clone()));
        requests.enumerate().filter_map(find).collect()
    })
}

/// MPI is about to end, on all ranks.
pub fn end_trials(native: &Native) {
    let all: Vec<_> = OPEN.with(|open| open.values().cloned().collect());
    let ended = all.iter().filter(|running| !running.is_under_way());
    ended
        .filter_map(|running| running.trial())
        .for_each(|trial| trial.end(native));
}

/// Whether an operation uses an object of the application's with this handle.
pub fn use_handle(handle: Word) -> bool {
    OPEN.with(|open| open.values().any(|running| running.uses(handle)))
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
    // Set once: the operation is new.
    let _ = running.marker.request.set(request);
    OPEN.insert(native, request, Arc::clone(&running));
    if let Err(code) = Running::begin(&running, native) {
        running.marker.tell(native, running.place());
        native.free_request(request);
        return Err(code);
    }
    // SAFETY: the application's call has a request there.
    unsafe { native.write_handle(address, request) };
    Ok(())
}

/// Prepares a persistent operation, whose request goes to `address`.
///
/// # Errors
/// MPI's code.
pub fn prepare(native: &Native, running: Arc<Running>, address: Word) -> Result<(), c_int> {
    running.marker.repeat();
    let request = native.prepare_marker(running.place().to_oneself_at_the_end())?;
    // Set once: the operation is new.
    let _ = running.marker.request.set(request);
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
        trial.is_made(own, handle_at(address));
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
        let Err(failed) = Running::begin(&one, native) else {
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
    running.marker.is_freed.store(true, Ordering::Release);
    if let (Some(native), Some(&request)) = (native(), running.marker.request.get()) {
        remove(native, request);
    }
    SUCCESS
}

/// `MPI_Grequest_cancel_function`: collectives can't be cancelled.
unsafe extern "C" fn refuse(_state: Word, _is_complete: c_int) -> c_int {
    SUCCESS
}
