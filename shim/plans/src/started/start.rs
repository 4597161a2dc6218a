//! Calls that start a collective, and those that prepare a persistent one.

use std::cell::Cell;
use std::sync::Arc;

use treepie_choice::Progress;
use treepie_collective::Operation;
use treepie_guard::{CellKey, Form};
use treepie_mpi::native::{Native, native};
use treepie_mpi::{Call, Comm, HandleAddress, Request, SUCCESS, c_int};
use treepie_process::features::{self, STARTED};
use treepie_profile::settings::{Collectives, Runner};
use treepie_record::Plan;

use super::case::{Case, Out, serving};
use super::requests;
use super::running::Running;
use crate::attached;
use crate::communicator::Communicator;
use crate::guarded::{self, ByNative, Guarded};
use crate::passed_on::{is_back, pass_on};
use crate::setup::{self, Setup};

/// True if plans may replace started collectives by the settings, depending on whether the ranks
/// are in clusters far from each other.
pub fn is_wanted(
    collectives: &Collectives,
    reproducible: bool,
    are_far: bool,
    progress: Progress,
) -> bool {
    let starts = |operation: Operation, runner: &Runner| match runner {
        Runner::Native | Runner::BySize(_) => false,
        Runner::Plan(plan) => progress.allows(plan.algorithm, operation),
        Runner::Auto => are_far || reproducible && operation.reduces(),
    };
    Operation::every().any(|operation| {
        let mut all = collectives.runner(operation).all();
        all.any(|runner| starts(operation, runner))
    })
}

/// Creates the private communicator for the one that `construct` has created at `address`, if it
/// succeeded.
pub fn prepare(address: HandleAddress<Comm>, construct: impl FnOnce() -> c_int) -> c_int {
    let code = construct();
    if features::any(STARTED) && code == SUCCESS {
        prepare_made(address.read());
    }
    code
}

#[cold]
fn prepare_made(comm: Comm) {
    if let (Some(native), Some(setup)) = (native(), setup::active())
        && !native.is_null_communicator(comm)
    {
        attached::with(native, setup, comm, |_| ());
    }
}

/// Completes pending exchanges of guards, and keeps their results: MPI is about to end.
pub fn end_guards(native: &Native) {
    requests::end_trials(native);
    guarded::end(native);
}

/// Outcome of a call that starts.
enum Begun<'a> {
    /// A plan runs it, with or without a guard.
    Running(Arc<Running>, Option<Guarded<'a>>),
    /// It is a request of the native MPI, for which candidates are tried.
    Tried(Arc<Running>),
    /// The native MPI runs it; if under a guard, with the object that ends its measurement.
    Left(Option<ByNative>),
    /// It is refused with this code.
    Refused(c_int),
}

/// Starts a non-blocking collective on `comm`: by a plan, which is stored in `ran`, with its
/// request at `request`; or by `next`, the native MPI's own.
#[inline]
pub fn start(
    next: impl FnOnce() -> c_int,
    comm: Comm,
    call: &Call,
    request: HandleAddress<Request>,
    ran: &Cell<Option<Plan>>,
) -> c_int {
    by_plan(next, (comm, call, request), ran, Form::Nonblocking)
}

/// Prepares a persistent collective on `comm`, as [`start`].
#[inline]
pub fn make_persistent(
    next: impl FnOnce() -> c_int,
    comm: Comm,
    call: &Call,
    request: HandleAddress<Request>,
    ran: &Cell<Option<Plan>>,
) -> c_int {
    by_plan(next, (comm, call, request), ran, Form::Persistent)
}

#[inline]
fn by_plan(
    next: impl FnOnce() -> c_int,
    (comm, call, request): (Comm, &Call, HandleAddress<Request>),
    ran: &Cell<Option<Plan>>,
    form: Form,
) -> c_int {
    if !features::any(STARTED) {
        return next();
    }
    let Some((native, setup)) = native().zip(setup::active()) else {
        return next();
    };
    if is_back(native, comm, call) {
        return next();
    }
    let is_persistent = form == Form::Persistent;
    let Some(communicator) = serving(native, setup, comm, call, is_persistent) else {
        return next();
    };
    let of = (&communicator, comm);
    let begun = match is_persistent {
        true => prepare_persistent(native, setup, of, call),
        false => begin(native, setup, of, call),
    };
    let (running, guarded) = match begun.unwrap_or(Begun::Left(None)) {
        Begun::Left(None) => return next(),
        Begun::Left(Some(left)) => {
            let code = pass_on(native, comm, call, next);
            return left.started(native, comm, code, request);
        }
        Begun::Refused(code) => return native.returned(comm, code),
        Begun::Running(running, guarded) => (running, guarded),
        Begun::Tried(running) => {
            return match pass_on(native, comm, call, next) {
                SUCCESS => requests::prepare_tried(native, running, request)
                    .map_or_else(|code| native.returned(comm, code), |()| SUCCESS),
                code => code,
            };
        }
    };
    let plan = running.plan();
    let handed_over = match is_persistent {
        true => requests::prepare(native, running, request),
        false => requests::start(native, running, request),
    };
    match (handed_over, guarded) {
        (Ok(()), guarded) => {
            if let Some(guarded) = guarded {
                guarded.started(native, request);
            }
            ran.set(plan);
            SUCCESS
        }
        (Err(code), guarded) => {
            if let Some(guarded) = guarded {
                guarded.ended(code);
            }
            native.returned(comm, code)
        }
    }
}

/// Returns a non-blocking collective as an operation that has not begun; `None` if the native MPI
/// runs it, and nothing is measured.
fn begin<'a>(
    native: &'static Native,
    setup: &'static Setup,
    of: (&'a Arc<Communicator>, Comm),
    call: &'a Call,
) -> Option<Begun<'a>> {
    let (mut case, key) = Case::new(native, setup, of, call, false)?;
    let communicator = of.0;
    let guarded = key.and_then(|key| guarded::enter(native, communicator, key));
    let plan = guarded.as_ref().map(Guarded::plan);
    if let Some(None) = plan {
        return Some(Begun::Left(guarded.map(Guarded::left_to_native)));
    }
    case.guarded = plan.flatten();
    Some(match case.operation(communicator.next_started()) {
        Ok(running) => Begun::Running(running, guarded),
        Err(Out::Refused(code)) => {
            if let Some(guarded) = guarded {
                guarded.ended(code);
            }
            Begun::Refused(code)
        }
        Err(out) => {
            if let (Out::Unserved, Some(guarded)) = (out, &guarded) {
                guarded.unserved();
            }
            Begun::Left(guarded.map(Guarded::left_to_native))
        }
    })
}

/// Returns a persistent collective as an operation, as [`begin`]. Collective, and may wait for
/// others.
fn prepare_persistent<'a>(
    native: &'static Native,
    setup: &'static Setup,
    of: (&'a Arc<Communicator>, Comm),
    call: &'a Call,
) -> Option<Begun<'a>> {
    let (mut case, key) = Case::new(native, setup, of, call, true)?;
    let communicator = of.0;
    let guarded = communicator.guard.as_ref().zip(key);
    let guarded = guarded.map(|(guard, key)| guard.of_persistent(native, communicator, key));
    if let (Some(None), Some(key)) = (guarded, key) {
        return try_persistent(&mut case, key);
    }
    let place = communicator.next_persistent()?;
    case.guarded = guarded.flatten();
    match case.operation(place) {
        Ok(running) => Some(Begun::Running(running, None)),
        Err(Out::Refused(code)) => Some(Begun::Refused(code)),
        Err(Out::Unserved | Out::Wrong) => None,
    }
}

/// Returns a persistent collective for which candidates are tried; `None`, on all ranks, if there
/// are none.
fn try_persistent<'a>(case: &mut Case<'a>, key: CellKey) -> Option<Begun<'a>> {
    let mut numbers = None;
    let guarding = case.communicator.guard.as_ref()?;
    let (guard, cell) = guarding.of_request(case.communicator, key, |values| {
        let numbers = numbers.insert(case.numbers()?);
        numbers.least_of(case.native, &values)
    })?;
    let numbers = match numbers {
        Some(numbers) => numbers,
        None => case.numbers()?,
    };
    let place = case.communicator.next_persistent()?;
    case.tried = Some((guard, cell, numbers));
    match case.operation(place) {
        Ok(running) => Some(Begun::Tried(running)),
        Err(Out::Refused(code)) => Some(Begun::Refused(code)),
        Err(Out::Unserved | Out::Wrong) => None,
    }
}
