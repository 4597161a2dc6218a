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
//!
//! Under a guard it hangs on the calls that there were, and on exchanged numbers, which are used
//! from a blocking collective of the same communicator on: in `treepie_core::guard` it is said why
//! not sooner.

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
use treepie_core::guard::CellKey;
use treepie_core::guard::Form::Nonblocking;

use super::call::Refused;
use super::communicator::{Chosen, Communicator, Key};
use super::guard::{self, ByNative, Guarded};
use super::job::Job;
use super::neighbours;
use super::place::Place;
use super::plans;
use super::repeated::{self, Answers};
use super::setup::{self, Setup};
use super::{ask, attached};
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
enum Begun<'a> {
    /// A plan runs it, under a guard or not.
    Running(Arc<Running>, Option<Guarded<'a>>),
    /// The native MPI does; under a guard, which is told of it.
    Left(Option<ByNative>),
    /// It is refused with this code.
    Refused(c_int),
}

/// Why no plan runs a call.
enum Out {
    /// No plan serves it, as all ranks see.
    Unserved,
    /// This rank alone may see that the call is wrong: the native MPI says so.
    Wrong,
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
    };
    let plan = running.plan();
    match (hand_over(native, running, request), guarded) {
        (Ok(()), guarded) => {
            if let Some(guarded) = guarded {
                guarded.started(native, request);
            }
            ran.set(Some(plan));
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

/// What the MPI says of a call, or has said of one like it.
fn answers(
    native: &Native,
    setup: &Setup,
    communicator: &Communicator,
    call: &Call,
) -> Option<Answers> {
    let form = match call.operation.is_among_neighbours() && communicator.has_borders() {
        true => None,
        false => repeated::Form::new(native, call),
    };
    let known = form.and_then(|form| communicator.workplace().lock().repeated.answers(&form));
    known.or_else(|| ask(native, setup, communicator, (call, form)))
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
    if let Some(None) = guarded {
        return Begun::Left(None);
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

/// A call that a plan may run.
struct Case<'a> {
    native: &'static Native,
    setup: &'static Setup,
    communicator: &'static Arc<Communicator>,
    comm: Comm,
    call: &'a Call,
    ordered: bool,
    /// The plan that the guard says: its algorithm, and the largest message in bytes.
    guarded: Option<(&'static Algorithm, u64)>,
    is_persistent: bool,
}

impl<'a> Case<'a> {
    /// A call that plans may start, and its cell, if there is a guard. Where a persistent request
    /// is made, our communicator is too.
    fn new(
        native: &'static Native,
        setup: &'static Setup,
        comm: Comm,
        call: &'a Call,
        is_persistent: bool,
    ) -> Option<(Self, Option<CellKey>)> {
        let communicator = serving(setup, call, || match is_persistent {
            true => attached::find(native, setup, comm),
            false => attached::known(native, setup, comm),
        })?;
        let answers = answers(native, setup, communicator, call)?;
        let case = Case {
            native,
            setup,
            communicator,
            comm,
            call,
            ordered: answers.ordered,
            guarded: None,
            is_persistent,
        };
        Some((case, answers.key.map(|key| key.of_form(Nonblocking))))
    }

    /// The operation that a plan runs, at its place.
    fn operation(&self, place: Place) -> Result<Arc<Running>, Out> {
        let Case {
            native,
            setup,
            communicator,
            call,
            ..
        } = *self;
        let clusters = &communicator.clusters;
        let job = Job::new(native, call, place, clusters);
        let known = match self.is_persistent && self.guarded.is_none() {
            true => {
                let own = job.as_ref().ok().map(|job| &job.amount);
                sizes::exchange(native, setup, communicator, call, own)
            }
            false => None,
        };
        let job = match job {
            Ok(job) => job,
            Err(Refused::ByNative) => return Err(Out::Wrong),
            Err(Refused::With(code)) => return Err(Out::Refused(code)),
        };
        let chosen = self.chosen(&job, known).ok_or(Out::Unserved)?;
        let job = match job.is_on_device() {
            true => job.copied_by_native(),
            false => job,
        };
        // The same on all ranks, whether or not messages of this one wait.
        let is_called = chosen.run.algorithm != direct(call.operation);
        let (place, waiting) = match is_called && !self.is_persistent {
            false => (place, None),
            true => match communicator.next_waiting(place) {
                Some((place, number)) => (place, Some(number)),
                None => return Err(too_many(native, call)),
            },
        };
        let listed = neighbours::listed(call, clusters, place.rank);
        let uses = Uses::of(native, call, listed);
        let communicator = Arc::clone(communicator);
        let (held, manner) = ((job, uses), (waiting, is_called));
        let running = Running::new(communicator, self.comm, place, chosen, held, manner);
        Ok(Arc::new(running))
    }

    /// The plan; `None` where the native MPI does it.
    fn chosen(&self, job: &Job, known: Option<sizes::Known>) -> Option<Arc<Chosen>> {
        let (setup, communicator, call) = (self.setup, self.communicator, self.call);
        let key = Key {
            operation: call.operation,
            root: call.root as usize,
            amount: match &known {
                Some(known) => known.amount.clone(),
                None => job.amount.clone(),
            },
            unit: job.spaces.unit.bytes,
            ordered: self.ordered,
            guarded: self.guarded.map(|(named, segment)| (named.name, segment)),
            form: Form::Started(setup.progress),
        };
        let runner = setup.collectives.runner(call.operation);
        let by_size = known.and_then(|known| known.chosen);
        communicator.plan(key, |key| match (self.guarded, &by_size) {
            (Some(guarded), _) => plans::make_guarded(communicator, key, guarded),
            (None, Some(by_size)) => Some(plans::make_sized(communicator, key, by_size)),
            (None, None) => plan(runner, setup, communicator, key),
        })
    }
}

/// Others may be in their plans already: this rank can't turn to the MPI.
#[cold]
fn too_many(native: &Native, call: &Call) -> Out {
    log::error(&format!(
        "{}: a non-blocking collective that was started thousands of others ago on the same \
         communicator is not complete yet; complete it first, or set TREEPIE_STARTED=native",
        call.operation,
    ));
    Out::Refused(native.abi.err_intern)
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
