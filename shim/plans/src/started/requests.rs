//! Request of the application for an operation: one of the native MPI's own, so that every
//! procedure accepts it, in every language.

use std::sync::Arc;

use treepie_mpi::native::{Generalized, Native, native};
use treepie_mpi::{HandleAddress, Request, SUCCESS, c_int};

use super::open::{OPEN, among, are_none};
use super::running::Running;
use super::{objects, progress};
use crate::guarded::measured;

fn remove(native: &Native, request: Request) {
    if let Some(running) = OPEN.remove(native, request) {
        if running.is_under_way() {
            // An error of the program. Messages into its memory are still in flight.
            std::mem::forget(Arc::clone(&running));
        } else if let Some(trial) = running.trial() {
            trial.end(native);
        }
        objects::end(running);
    }
}

/// Ends all trials, since MPI is about to end, on all ranks.
pub fn end_trials(native: &Native) {
    let all: Vec<_> = OPEN.with(|open| open.values().cloned().collect());
    let ended = all.iter().filter(|running| !running.is_under_way());
    ended
        .filter_map(|running| running.trial())
        .for_each(|trial| trial.end(native));
}

/// Starts a non-blocking operation, and stores its request at `address`.
///
/// # Errors
/// MPI's code.
pub fn start(
    native: &Native,
    running: Arc<Running>,
    address: HandleAddress<Request>,
) -> Result<(), c_int> {
    objects::settle(native);
    let request = native.start_generalized(Arc::clone(&running))?;
    running.marker.set(request);
    OPEN.insert(native, request, Arc::clone(&running));
    if let Err(code) = begin(native, &running) {
        running.marker.tell(native, running.place());
        native.free_request(request);
        return Err(code);
    }
    address.write(native, request);
    Ok(())
}

/// Begins an operation; if its messages wait for others, adds it to the operations that are
/// advanced in the background.
fn begin(native: &Native, running: &Arc<Running>) -> Result<(), c_int> {
    if running.begin(native)? {
        progress::add(running);
    }
    Ok(())
}

/// Prepares a persistent operation, and stores its request at `address`.
///
/// # Errors
/// MPI's code.
pub fn prepare(
    native: &Native,
    running: Arc<Running>,
    address: HandleAddress<Request>,
) -> Result<(), c_int> {
    running.marker.repeat();
    let request = native.prepare_marker(running.place().to_oneself_at_the_end())?;
    running.marker.set(request);
    OPEN.insert(native, request, running);
    address.write(native, request);
    Ok(())
}

/// Gives the application a request for an operation that is tried by candidates; the native MPI's
/// own is at this address now.
///
/// # Errors
/// MPI's code.
pub fn prepare_tried(
    native: &Native,
    running: Arc<Running>,
    address: HandleAddress<Request>,
) -> Result<(), c_int> {
    let own = address.read();
    prepare(native, Arc::clone(&running), address)?;
    if let Some(trial) = running.trial() {
        trial.hold(own, address.read());
    }
    Ok(())
}

/// Starts `count` persistent requests, an array at `requests`, by `next`.
pub fn begin_persistent(
    count: c_int,
    requests: HandleAddress<Request>,
    next: impl FnOnce() -> c_int,
) -> c_int {
    let code = next();
    if are_none() || code != SUCCESS {
        return code;
    }
    let Some(native) = native() else {
        return code;
    };
    let count = usize::try_from(count).unwrap_or(0);
    let handles = (0..count).map(|at| requests.nth(native, at).read());
    let begun = among(native, handles);
    let mut first = code;
    for one in begun {
        let Err(failed) = begin(native, &one) else {
            continue;
        };
        // No process is to wait for it.
        one.marker.tell(native, one.place());
        if first == SUCCESS {
            native.call_error_handler(one.told(), failed);
            first = failed;
        }
    }
    first
}

/// Frees the request at an address by `next`.
pub fn end_request(address: HandleAddress<Request>, next: impl FnOnce() -> c_int) -> c_int {
    if are_none() && measured::are_none() {
        return next();
    }
    let request = address.read();
    let code = next();
    if let (SUCCESS, Some(native)) = (code, native()) {
        measured::forget(native, request);
        // A generalized one is removed when the MPI frees it.
        let listed = among(native, std::iter::once(request));
        if listed.iter().any(|one| one.marker.is_persistent()) {
            remove(native, request);
        }
        drop(listed);
        objects::settle(native);
    }
    code
}

/// Cancels the request at an address by `next`, unless it belongs to a plan: collectives cannot be
/// cancelled. The message that completes a persistent one could be, and its request would be
/// complete before the collective is.
pub fn cancel(address: HandleAddress<Request>, next: impl FnOnce() -> c_int) -> c_int {
    let request = address.read();
    let is_ours = |native: &Native| !among(native, std::iter::once(request)).is_empty();
    match !are_none() && native().is_some_and(is_ours) {
        true => SUCCESS,
        false => next(),
    }
}

impl Generalized for Running {
    fn freed(&self) {
        self.marker.free();
        if let (Some(native), Some(request)) = (native(), self.marker.request()) {
            remove(native, request);
        }
    }
}
