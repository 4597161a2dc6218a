//! Calls that complete requests: they go on with the plans of those that they are given, until the
//! native MPI's own procedure need not wait for us any more.

use std::sync::Arc;
use std::thread;

use super::objects;
use super::requests::{among, are_none};
use super::running::Running;
use crate::collectives::guard::{measured, now};
use crate::mpi::native::{Native, native};
use crate::mpi::{Request, SUCCESS, Word, c_int};
use crate::record::Completion;

/// How often nothing may have happened before other processes are let in.
const PATIENCE: u32 = 32;

/// How long a procedure waits for the requests that it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// Until all are complete.
    All,
    /// Until one is complete, which it completes.
    Any,
    /// Until one is complete; it completes all that are.
    Some,
    /// Not at all.
    Not,
}

/// `next` completes requests, or looks at them; it waits so.
#[inline(always)]
pub fn complete(waits: Waits, completion: Completion, next: impl FnOnce() -> c_int) -> c_int {
    match are_none() && measured::are_none() {
        true => next(),
        false => complete_measured(waits, &completion, next),
    }
}

/// `next` looks at a request.
pub fn look(request: Word, next: impl FnOnce() -> c_int) -> c_int {
    let Some(native) = native().filter(|_| !are_none()) else {
        return next();
    };
    // SAFETY: the application's call gives a request.
    let request = unsafe { <Request as crate::mpi::Handle>::from_word(request) };
    for running in among(native, std::iter::once(request)) {
        running.advance(native);
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
    let ours = among(native, completion.requests(native));
    if ours.is_empty() {
        return next();
    }
    let is_measured = ours.iter().any(|running| running.measured().is_some());
    let start = is_measured.then(now);
    let code = match waits {
        Waits::Not => {
            advance(native, &ours);
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
            .filter_map(|running| Some((running.trial()?, running.is_under_way())))
        {
            trial.took(took, !is_under_way);
        }
    }
    let code = match code {
        SUCCESS => tell_errors(native, &ours),
        code => code,
    };
    drop(ours);
    objects::settle(native);
    code
}

/// Whether one is under way, or another thread is about to tell the MPI of its end, which would not
/// always wake a thread that waits in it.
fn are_under_way(ours: &[Arc<Running>]) -> bool {
    let is_open = |running: &Arc<Running>| running.is_under_way() || running.is_held();
    ours.iter().any(is_open)
}

/// Goes on with all; whether something was done.
fn advance(native: &Native, ours: &[Arc<Running>]) -> bool {
    let advanced = ours.iter().filter(|running| running.advance(native));
    advanced.count() > 0
}

fn wait(went_on: bool, idle: &mut u32) {
    *idle = if went_on { 0 } else { *idle + 1 };
    if *idle > PATIENCE {
        thread::yield_now();
    }
}

/// Completes one request or some, in the place of `MPI_Waitany` and `MPI_Waitsome`: those would
/// wait for us. `None` where none of ours is under way, so that they don't.
fn wait_for_one(
    native: &Native,
    waits: Waits,
    completion: &Completion,
    ours: &[Arc<Running>],
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
        // SAFETY: the arguments of the application's call.
        let tested = unsafe {
            match waits {
                Waits::Some => {
                    let told = (completion.completed, completion.indices);
                    native.test_some(count, requests, told, status)
                }
                _ => native.test_any(count, requests, index, status),
            }
        };
        match tested {
            Ok(true) => return Some(SUCCESS),
            Ok(false) => wait(went_on, &mut idle),
            Err(code) => return Some(code),
        }
    }
    None
}

/// What the call returns, of which the handlers of the communicators are told.
fn tell_errors(native: &Native, ours: &[Arc<Running>]) -> c_int {
    let mut first = SUCCESS;
    for (comm, code) in ours.iter().filter_map(|running| running.take_error()) {
        native.call_error_handler(comm, code);
        if first == SUCCESS {
            first = code;
        }
    }
    first
}
