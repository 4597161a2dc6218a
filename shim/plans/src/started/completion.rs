//! Calls that complete requests: they advance the plans of their requests, until the native MPI's
//! own procedure no longer depends on this library.

use std::sync::Arc;
use std::thread;

use treepie_mpi::native::{Native, native};
use treepie_mpi::{Comm, Request, SUCCESS, c_int};
use treepie_record::Completion;

use super::objects;
use super::open::{among, are_none, placed_among};
use super::running::Running;
use crate::clock::now;
use crate::guarded::measured;

/// Number of idle turns after which the process yields to others.
const PATIENCE: u32 = 32;

/// Operation, and its index among the requests of a call.
type Placed = (usize, Arc<Running>);

/// Condition until which a procedure waits for its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// Until all are complete.
    All,
    /// Until one is complete, which it completes.
    Any,
    /// Until one is complete; it completes all that are.
    Some,
    /// No wait.
    Not,
}

/// Runs `next`, which completes or tests requests, and waits as `waits` states.
#[inline(always)]
pub fn complete(waits: Waits, completion: Completion, next: impl FnOnce() -> c_int) -> c_int {
    match are_none() && measured::are_none() {
        true => next(),
        false => complete_measured(waits, &completion, next),
    }
}

/// Runs `next`, which queries a request.
pub fn look(request: Request, next: impl FnOnce() -> c_int) -> c_int {
    look_at_all(|_| std::iter::once(request), next)
}

/// Runs `next`, which queries several requests.
pub fn look_at(several: &Completion, next: impl FnOnce() -> c_int) -> c_int {
    look_at_all(|native| several.requests(native), next)
}

/// Advances the requests, then runs `next`. Errors are reported by the call that completes a
/// request, and not by a query.
fn look_at_all<R: Iterator<Item = Request>>(
    requests: impl FnOnce(&'static Native) -> R,
    next: impl FnOnce() -> c_int,
) -> c_int {
    if let Some(native) = native().filter(|_| !are_none()) {
        for running in among(native, requests(native)) {
            running.advance(native);
        }
    }
    next()
}

#[cold]
fn complete_measured(waits: Waits, completion: &Completion, next: impl FnOnce() -> c_int) -> c_int {
    let Some(native) = native() else {
        return next();
    };
    let measured = measured::enter(native, completion);
    let code = complete_ours(native, waits, completion, next);
    if let Some(within) = measured {
        within.leave(native);
    }
    code
}

fn complete_ours(
    native: &Native,
    waits: Waits,
    completion: &Completion,
    next: impl FnOnce() -> c_int,
) -> c_int {
    let ours = placed_among(native, completion.requests(native));
    if ours.is_empty() {
        return next();
    }
    let is_measured = ours.iter().any(|(_, running)| running.measured().is_some());
    let start = is_measured.then(now);
    let code = match waits {
        Waits::Not => {
            for (_, running) in &ours {
                running.advance_far(native);
            }
            next()
        }
        Waits::All => {
            let mut idle = 0;
            while are_under_way(&ours) {
                wait(advance(native, &ours), &mut idle);
            }
            next()
        }
        Waits::Any | Waits::Some => match wait_for_one(native, waits, completion, &ours) {
            Some(code) => code,
            None => next(),
        },
    };
    if let Some(start) = start {
        let took = now().saturating_sub(start);
        for (trial, is_under_way) in ours
            .iter()
            .filter_map(|(_, running)| Some((running.trial()?, running.is_under_way())))
        {
            trial.took(took, !is_under_way);
        }
    }
    let code = match ours.iter().any(|(_, running)| running.code() != SUCCESS) {
        true => tell_errors(native, completion, &ours, code),
        false => code,
    };
    drop(ours);
    objects::settle(native);
    code
}

/// True if one is active, or another thread is about to complete it in the MPI, which would not
/// always wake a thread that waits there.
fn are_under_way(ours: &[Placed]) -> bool {
    let is_open = |(_, running): &Placed| running.is_under_way() || running.is_held();
    ours.iter().any(is_open)
}

/// Advances all; true on any progress.
fn advance(native: &Native, ours: &[Placed]) -> bool {
    let advanced = ours.iter().filter(|(_, running)| running.advance(native));
    advanced.count() > 0
}

fn wait(went_on: bool, idle: &mut u32) {
    *idle = if went_on { 0 } else { *idle + 1 };
    if *idle > PATIENCE {
        thread::yield_now();
    }
}

/// Completes one request or some, instead of `MPI_Waitany` and `MPI_Waitsome`, which would wait for
/// this library's operations. `None` if none of these is active, so that they do not.
fn wait_for_one(
    native: &Native,
    waits: Waits,
    completion: &Completion,
    ours: &[Placed],
) -> Option<c_int> {
    let Completion {
        count,
        requests,
        index,
        status,
        ..
    } = *completion;
    let mut idle = 0;
    while are_under_way(ours) {
        let went_on = advance(native, ours);
        let tested = match waits {
            Waits::Some => {
                let completed = (completion.completed, completion.indices);
                native.test_some(count, requests, completed, status)
            }
            _ => native.test_any(count, requests, index, status),
        };
        match tested {
            Ok(true) => return Some(SUCCESS),
            Ok(false) => wait(went_on, &mut idle),
            Err(code) => return Some(code),
        }
    }
    None
}

/// Returns the code of a call that the native MPI ended with `code`, and that has completed
/// requests some of which failed. Calls the handler of the first one's communicator (MPI 4.1, 9.3),
/// unless the MPI has called one.
fn tell_errors(native: &Native, completion: &Completion, ours: &[Placed], code: c_int) -> c_int {
    if code != SUCCESS && !native.is_in_status(code) {
        return code;
    }
    let failed = ours.iter().filter_map(|(at, running)| {
        let place = completion.status_of(*at)?;
        Some((place, running.take_error()?))
    });
    let failed: Vec<(usize, (Comm, c_int))> = failed.collect();
    let Some(&(_, (comm, error))) = failed.first() else {
        return code;
    };
    if code == SUCCESS {
        native.call_error_handler(comm, error);
    }
    if !completion.array {
        return error;
    }
    let errors = failed.iter().map(|&(place, (_, error))| (place, error));
    completion.put_errors(native, code == SUCCESS, errors);
    native.abi.err_in_status
}
