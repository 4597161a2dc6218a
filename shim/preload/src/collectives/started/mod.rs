//! Collectives that are started in one call and completed in another: non-blocking and persistent
//! ones, run by plans.
//!
//! ```text
//! mod          the calls that start, and those that prepare persistent ones
//! calls        what was started on a communicator
//! running      an operation: its plan, its memory, and how far it is
//! requests     the request that the application has for it, and whose it is
//! completion   calls that complete requests, which go on with the plans of theirs
//! progress     where the native MPI calls us in whatever it waits
//! objects      datatypes and reductions that the application frees while a plan uses them
//! sizes        of persistent ones, which ranks tell each other where the request is made
//! ```
//!
//! # Nobody else goes on
//!
//! Unless the native MPI calls us ([`progress`]), a rank goes on with a plan in the calls that
//! complete its request, and nowhere else. Then only such plans are taken whose messages are all
//! sent, and whose receives are all posted, when the operation starts
//! ([`forwards`](treepie_core::collective::Plan::forwards)): no other rank waits for this one to go
//! on, whatever it does meanwhile.
//!
//! # One rank alone never decides
//!
//! Whether a plan starts hangs on what all ranks know: the settings, the operation, the bytes, and
//! whether our communicator was made, which is done where all wait anyway: at the start for the
//! world, behind the application's constructors for others, or in a blocking collective. Never in
//! the call that starts, which may not wait.

mod calls;
mod completion;
mod objects;
pub mod progress;
mod requests;
mod running;
mod sizes;

use std::cell::Cell;
use std::sync::Arc;

use treepie_core::collective::choose::{Form, Progress, direct};
use treepie_core::collective::{Algorithm, Operation};
use treepie_core::files::configuration::{Collectives, Runner};

use super::attached;
use super::call::Refused;
use super::communicator::{Chosen, Communicator, Key};
use super::job::Job;
use super::neighbours;
use super::place::Place;
use super::plans;
use super::setup::{self, Setup};
use crate::features::{self, STARTED};
use crate::log;
use crate::mpi::native::{Native, native};
use crate::mpi::{Call, Comm, SUCCESS, Word, c_int};
use crate::record::{Plan, handle_at};
pub use calls::Started;
pub use completion::{Waits, complete, look};
pub use objects::release;
pub use progress::stop_progress;
pub use requests::{begin_persistent, end_request};
use running::{Running, Uses};

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

/// The algorithm of this name, where started plans may be of it.
fn serves(operation: Operation, name: &str, progress: Progress) -> Option<&'static Algorithm> {
    Algorithm::find(operation, name).filter(|named| progress.allows(named, operation))
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
enum Begun {
    /// A plan runs it.
    Running(Arc<Running>),
    /// The native MPI does.
    Left,
    /// It is refused with this code.
    Refused(c_int),
}

/// A non-blocking collective on `comm`: a plan, which is left in `ran`, whose request goes to
/// `request`; or `next`, the native MPI's own.
#[inline]
pub fn start(
    next: impl FnOnce() -> c_int,
    comm: Comm,
    call: Call,
    request: Word,
    ran: &Cell<Option<Plan>>,
) -> c_int {
    by_plan(next, (comm, &call, request), ran, (begin, requests::start))
}

/// A persistent collective on `comm`, as [`start`].
#[inline]
pub fn make_persistent(
    next: impl FnOnce() -> c_int,
    comm: Comm,
    call: Call,
    request: Word,
    ran: &Cell<Option<Plan>>,
) -> c_int {
    let way = (prepare_persistent as Make, requests::prepare as HandOver);
    by_plan(next, (comm, &call, request), ran, way)
}

/// Makes an operation of a call, where a plan serves it.
type Make = fn(&'static Native, &'static Setup, Comm, &Call) -> Begun;

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
    let running = match make(native, setup, comm, call) {
        Begun::Left => return next(),
        Begun::Refused(code) => return refused(native, comm, code),
        Begun::Running(running) => running,
    };
    let plan = running.plan();
    match hand_over(native, running, request) {
        Ok(()) => {
            ran.set(Some(plan));
            SUCCESS
        }
        Err(code) => refused(native, comm, code),
    }
}

fn refused(native: &Native, comm: Comm, code: c_int) -> c_int {
    native.call_error_handler(comm, code);
    code
}

/// A non-blocking collective as an operation, of which nothing is done.
fn begin(native: &'static Native, setup: &'static Setup, comm: Comm, call: &Call) -> Begun {
    let Some(communicator) = serving(setup, call, || attached::known(native, setup, comm)) else {
        return Begun::Left;
    };
    let place = communicator.next_started();
    operation(native, setup, (communicator, comm, place), call, false)
}

/// A persistent collective as an operation. Collective, and may wait for others.
fn prepare_persistent(
    native: &'static Native,
    setup: &'static Setup,
    comm: Comm,
    call: &Call,
) -> Begun {
    let communicator = serving(setup, call, || attached::find(native, setup, comm));
    let place = communicator.and_then(|communicator| communicator.next_persistent());
    match communicator.zip(place) {
        Some((communicator, place)) => {
            operation(native, setup, (communicator, comm, place), call, true)
        }
        None => Begun::Left,
    }
}

/// The communicator that `find` finds, where plans may start this collective on it.
fn serving(
    setup: &'static Setup,
    call: &Call,
    find: impl FnOnce() -> Option<&'static Arc<Communicator>>,
) -> Option<&'static Arc<Communicator>> {
    let runner = setup.collectives.runner(call.operation);
    if *runner == Runner::Native {
        return None;
    }
    find().filter(|communicator| {
        let is_served = !call.operation.is_among_neighbours()
            || neighbours::are_served(call.operation, &communicator.clusters, runner);
        // First of all, so that a call that is left to the MPI on near ranks costs little.
        let is_far = *runner != Runner::Auto
            || communicator.clusters.are_far()
            || keeps_bits(setup, call.operation);
        is_far && is_served && communicator.can_start()
    })
}

/// Whether a plan runs an operation wherever its ranks are, for equal results everywhere.
fn keeps_bits(setup: &Setup, operation: Operation) -> bool {
    setup.reproducible && operation.reduces()
}

/// A call as an operation that a plan runs, at its place.
fn operation(
    native: &'static Native,
    setup: &'static Setup,
    (communicator, comm, place): (&Arc<Communicator>, Comm, Place),
    call: &Call,
    is_persistent: bool,
) -> Begun {
    let mut ordered = false;
    if call.operation.reduces() {
        if !setup.can_reduce(native, call) {
            return Begun::Left;
        }
        match native.is_commutative(call.op) {
            Ok(commutes) => ordered = setup.reproducible || !commutes,
            Err(_) => return Begun::Left,
        }
    }
    let clusters = &communicator.clusters;
    let job = Job::new(native, call, place, clusters);
    let known = match is_persistent {
        true => {
            let own = job.as_ref().ok().map(|job| &job.amount);
            sizes::exchange(native, setup, communicator, call, own)
        }
        false => None,
    };
    let job = match job {
        Ok(job) => job,
        Err(Refused::ByNative) => return Begun::Left,
        Err(Refused::With(code)) => return Begun::Refused(code),
    };
    let key = Key {
        operation: call.operation,
        root: call.root as usize,
        amount: match &known {
            Some(known) => known.amount.clone(),
            None => job.amount.clone(),
        },
        unit: job.spaces.unit.bytes,
        ordered,
        guarded: None,
        form: Form::Started(setup.progress),
    };
    let runner = setup.collectives.runner(call.operation);
    let by_size = known.and_then(|known| known.chosen);
    let chosen = communicator.plan(key, |key| match &by_size {
        Some(by_size) => Some(plans::make_sized(communicator, key, by_size)),
        None => plan(runner, setup, communicator, key),
    });
    let Some(chosen) = chosen else {
        return Begun::Left;
    };
    let job = match job.is_on_device() {
        true => job.copied_by_native(),
        false => job,
    };
    // The same on all ranks, whether or not messages of this one wait.
    let is_called = chosen.run.algorithm != direct(call.operation);
    let (place, waiting) = match is_called && !is_persistent {
        false => (place, None),
        true => match communicator.next_waiting(place) {
            Some((place, number)) => (place, Some(number)),
            None => return too_many(native, call),
        },
    };
    let listed = neighbours::listed(call, clusters, place.rank);
    let uses = Uses::of(native, call, listed);
    let communicator = Arc::clone(communicator);
    let (held, manner) = ((job, uses), (waiting, is_called));
    let running = Running::new(communicator, comm, place, chosen, held, manner);
    Begun::Running(Arc::new(running))
}

/// Others may be in their plans already: this rank can't turn to the MPI.
#[cold]
fn too_many(native: &Native, call: &Call) -> Begun {
    log::error(&format!(
        "{}: a non-blocking collective that was started thousands of others ago on the same \
         communicator is not complete yet; complete it first, or set TREEPIE_STARTED=native",
        call.operation,
    ));
    Begun::Refused(native.abi.err_intern)
}

/// This rank's plan; `None` where the native MPI does it.
fn plan(runner: &Runner, setup: &Setup, communicator: &Communicator, key: &Key) -> Option<Chosen> {
    let bytes = plans::bytes(key);
    match runner {
        Runner::Native => None,
        Runner::Algorithm(name) => {
            let Some(strategy) = serves(key.operation, name, setup.progress) else {
                let reason = format!("messages of {name} wait for others");
                plans::tell(communicator, key, bytes, "native", 0, &reason);
                return None;
            };
            let segment = communicator.eager_limit();
            let reason = "as the setting says";
            plans::tell(communicator, key, bytes, strategy.name, segment, reason);
            plans::of_key(communicator, key, strategy, segment)
        }
        Runner::Auto => {
            let choice = communicator.choose_started(key, bytes, setup.progress);
            let by_rule = || Algorithm::find(key.operation, direct(key.operation));
            let strategy = choice
                .strategy
                .or_else(|| keeps_bits(setup, key.operation).then(by_rule).flatten());
            let segment = choice.segment.min(communicator.eager_limit());
            let name = strategy.map_or("native", |strategy| strategy.name);
            plans::tell(communicator, key, bytes, name, segment, &choice.reason());
            plans::of_key(communicator, key, strategy?, segment)
        }
    }
}
