//! Collectives that are started in one call and completed in another: non-blocking and persistent
//! ones, run by plans.
//!
//! ```text
//! mod          the calls that start, and those that prepare persistent ones
//! case         whether a plan runs a call, and which
//! calls        what was started on a communicator
//! running      an operation: its plan, its memory, and how far it is
//! requests     the request that the application has for it, and whose it is
//! completion   calls that complete requests, which go on with the plans of theirs
//! progress     where the native MPI calls us in whatever it waits
//! waiting      the list of those that others go on with
//! helper       a thread that does so where the native MPI does not
//! objects      datatypes and reductions that the application frees while a plan uses them
//! sizes        of persistent ones, which ranks tell each other where the request is made
//! work         what an operation runs: a plan, or one behind sizes that leaders are told
//! trial        a persistent request whose starts the native MPI runs, or plans that are tried
//! numbers      what ranks tell each other of such a request
//! ```
//!
//! # Nobody else goes on
//!
//! Unless the native MPI or a thread calls us ([`progress`]), a rank goes on with a plan in the
//! calls that complete its request, and nowhere else. Then only such plans are taken whose messages
//! are all sent, and whose receives are all posted, when the operation starts
//! ([`forwards`](treepie_collective::Plan::forwards)): no other rank waits for this one to go
//! on, whatever it does meanwhile.
//!
//! # One rank alone never decides
//!
//! Whether a plan starts hangs on what all ranks know: the settings, the operation, the bytes, and
//! whether our communicator was made, which is done where all wait anyway: at the start for the
//! world, behind the application's constructors for others, or in a blocking collective. Never in
//! the call that starts, which may not wait.
//!
//! Under a guard it hangs on the calls that there were, and on exchanged numbers, which are used
//! from a blocking collective of the same communicator on: in `treepie_guard` it is said why
//! not sooner. A persistent request may have a guard of its own ([`trial`]).

mod calls;
mod case;
mod completion;
mod helper;
mod numbers;
mod objects;
pub mod progress;
mod requests;
mod running;
mod sizes;
mod trial;
mod waiting;
mod work;

use std::cell::Cell;
use std::sync::Arc;

use treepie_choice::Progress;
use treepie_collective::Operation;
use treepie_guard::CellKey;
use treepie_mpi::native::{Native, native};
use treepie_mpi::{Call, Comm, SUCCESS, Word, c_int};
use treepie_process::features::{self, STARTED};
use treepie_profile::settings::{Collectives, Runner};
use treepie_record::{Plan, handle_at};

use super::attached;
use super::guard::{self, ByNative, Guarded};
use super::setup::{self, Setup};
pub use calls::Started;
use case::{Case, Out, serves};
pub use completion::{Waits, complete, look, look_at};
pub use objects::release;
pub use progress::stop_progress;
pub use requests::{begin_persistent, cancel, end_request, end_trials};
use running::Running;

/// Whether plans may take the place of started collectives, as the settings say, between ranks that
/// are in clusters far from each other or not.
pub fn is_wanted(
    collectives: &Collectives,
    reproducible: bool,
    are_far: bool,
    progress: Progress,
) -> bool {
    Operation::every().any(|operation| match collectives.runner(operation) {
        Runner::Native => false,
        Runner::Algorithm(name) => serves(operation, name, progress).is_some(),
        Runner::Auto => are_far || reproducible && operation.reduces(),
    })
}

/// A constructor has made the communicator whose handle is at `address`, if it succeeded: ours is
/// made beside it.
pub fn prepare(address: Word, construct: impl FnOnce() -> c_int) -> c_int {
    let code = construct();
    if features::any(STARTED) && code == SUCCESS {
        prepare_made(handle_at(address));
    }
    code
}

#[cold]
fn prepare_made(comm: Comm) {
    if let (Some(native), Some(setup)) = (native(), setup::active())
        && !native.is_null_communicator(comm)
    {
        attached::find(native, setup, comm);
    }
}

/// How a call that starts goes on.
enum Begun<'a> {
    /// A plan runs it, under a guard or not.
    Running(Arc<Running>, Option<Guarded<'a>>),
    /// It is a request of the native MPI's in whose place plans are tried.
    Tried(Arc<Running>),
    /// The native MPI does; under a guard, which is told of it.
    Left(Option<ByNative>),
    /// It is refused with this code.
    Refused(c_int),
}

/// A non-blocking collective on `comm`: a plan, which is left in `ran`, whose request goes to
/// `request`; or `next`, the native MPI's own.
#[inline]
pub fn start(
    next: impl FnOnce() -> c_int,
    comm: Comm,
    call: &Call,
    request: Word,
    ran: &Cell<Option<Plan>>,
) -> c_int {
    by_plan(next, (comm, call, request), ran, (begin, requests::start))
}

/// A persistent collective on `comm`, as [`start`].
#[inline]
pub fn make_persistent(
    next: impl FnOnce() -> c_int,
    comm: Comm,
    call: &Call,
    request: Word,
    ran: &Cell<Option<Plan>>,
) -> c_int {
    let way = (prepare_persistent as Make, requests::prepare as HandOver);
    by_plan(next, (comm, call, request), ran, way)
}

/// Makes an operation of a call, where a plan serves it.
type Make = fn(&'static Native, &'static Setup, Comm, &Call) -> Begun<'static>;

/// Gives the application a request for an operation, at an address.
type HandOver = fn(&Native, Arc<Running>, Word) -> Result<(), c_int>;

#[inline]
fn by_plan(
    next: impl FnOnce() -> c_int,
    (comm, call, request): (Comm, &Call, Word),
    ran: &Cell<Option<Plan>>,
    (make, hand_over): (Make, HandOver),
) -> c_int {
    if !features::any(STARTED) {
        return next();
    }
    let Some((native, setup)) = native().zip(setup::active()) else {
        return next();
    };
    let (running, guarded) = match make(native, setup, comm, call) {
        Begun::Left(None) => return next(),
        Begun::Left(Some(left)) => return left.started(native, comm, next(), request),
        Begun::Refused(code) => return refused(native, comm, code),
        Begun::Running(running, guarded) => (running, guarded),
        Begun::Tried(running) => {
            return match next() {
                SUCCESS => requests::prepare_tried(native, running, request)
                    .map_or_else(|code| refused(native, comm, code), |()| SUCCESS),
                code => code,
            };
        }
    };
    let plan = running.plan();
    match (hand_over(native, running, request), guarded) {
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
            refused(native, comm, code)
        }
    }
}

fn refused(native: &Native, comm: Comm, code: c_int) -> c_int {
    native.call_error_handler(comm, code);
    code
}

/// A non-blocking collective as an operation, of which nothing is done.
fn begin(
    native: &'static Native,
    setup: &'static Setup,
    comm: Comm,
    call: &Call,
) -> Begun<'static> {
    let Some((mut case, key)) = Case::new(native, setup, comm, call, false) else {
        return Begun::Left(None);
    };
    let communicator = case.communicator;
    let guarded = key.and_then(|key| guard::enter(native, communicator, key));
    let plan = guarded.as_ref().map(Guarded::plan);
    if let Some(None) = plan {
        return Begun::Left(guarded.map(Guarded::left_to_native));
    }
    case.guarded = plan.flatten();
    match case.operation(communicator.next_started()) {
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
    }
}

/// A persistent collective as an operation. Collective, and may wait for others.
fn prepare_persistent(
    native: &'static Native,
    setup: &'static Setup,
    comm: Comm,
    call: &Call,
) -> Begun<'static> {
    let Some((mut case, key)) = Case::new(native, setup, comm, call, true) else {
        return Begun::Left(None);
    };
    let communicator = case.communicator;
    let guarded = key.map(|key| guard::of_persistent(native, communicator, key));
    if let (Some(None), Some(key)) = (guarded, key) {
        return try_persistent(&mut case, key).unwrap_or(Begun::Left(None));
    }
    let Some(place) = communicator.next_persistent() else {
        return Begun::Left(None);
    };
    case.guarded = guarded.flatten();
    match case.operation(place) {
        Ok(running) => Begun::Running(running, None),
        Err(Out::Refused(code)) => Begun::Refused(code),
        Err(Out::Unserved | Out::Wrong) => Begun::Left(None),
    }
}

/// A persistent collective in whose place plans are tried; `None` where none is, as all ranks see.
fn try_persistent(case: &mut Case, key: CellKey) -> Option<Begun<'static>> {
    let mut numbers = None;
    let (guard, cell) = guard::of_request(case.communicator, key, |values| {
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
