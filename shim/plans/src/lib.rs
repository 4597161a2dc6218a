//! Collectives replaced by plans: a call becomes a problem, the problem a plan, and
//! the plan is run over the native point-to-point on a communicator of our own.
//!
//! # One rank alone never decides
//!
//! A rank in the native collective and a rank in a plan wait for each other for ever. So each way
//! out of the plan is one that all ranks of the communicator take together, or one that
//! communicates with nobody:
//!
//! | way out | why no rank is alone |
//! |---|---|
//! | nothing is replaced, or not this operation | the settings are rank 0's, and all agree that they are set up (`setup`) |
//! | the communicator has no plans | it is an inter-communicator, of one process, or of several jobs, as all see; or making ours failed somewhere, on which all agree (`attached`) |
//! | the MPI does not reduce this datatype with this operation | both are the same arguments on all ranks |
//! | the guard leaves a call to the MPI | it counts calls, and reads exchanged numbers (`guard`) |
//! | the guard has another algorithm of the MPI's run it | as above; it was made ready at a call at which all ranks said that they can (`guard::forced`), and which operations are open to that, all told each other (`guard::knobs`) |
//! | the program has set an algorithm of the MPI's itself (`MPI_T`) | MPI has it do so on all ranks (the variable's scope), or its own collectives would not work; before the first trial, as the row above |
//! | no algorithm is chosen, or it does not serve | a function of operation, root, bytes and order, which are equal on all ranks, and of nothing that a rank remembers of earlier calls |
//! | sizes are exchanged, or told | settings, guard, number of calls, exchanges (`sizes`) |
//! | [`Refused::ByNative`] | the native collective returns an error before it communicates |
//! | [`Refused::With`] | an error is returned, and nothing is called |
//! | the communicator has no topology that all ranks know, or, where the plan is chosen, one whose blocks the MPI may take for each other | what is learnt where it is made is the same on all (`neighbours`) |
//! | data are in memory that the processor can't read (`device`) | where a rank had an accelerator's runtime when the communicator was first used, all tell each other at each call; where one came later, that rank's data are copied by the MPI, and it stays in the plan |
//! | an error inside a plan | the same, as by a native collective; its messages meet no later ones |
//! | no memory | the process is aborted, and with it the job |
//!
//! How data lie in memory is no way out: counts and datatypes may differ from rank to rank as long
//! as their signatures agree, and what can't be used where it is is copied (`packed`). Plans count
//! bytes where they move data, and elements, which are the same on all ranks, where they reduce.
//!
//! Whether operands must stay in order is asked of the operation. MPI lets ranks give functions of
//! their own that differ (MPI 4.1, 6.9.1) but for one operation; where some say that it commutes
//! and others not, Open MPI and MPICH wait for ever as well, since they choose their algorithms by
//! it.

mod attached;
mod by_request;
mod call;
mod communicator;
mod device;
mod eager;
mod errors;
mod execute;
mod guard;
mod job;
mod left;
mod lock;
mod neighbours;
mod operands;
mod own;
mod packed;
mod place;
mod plans;
pub mod platform;
mod repeated;
mod runtimes;
mod setup;
mod sizes;
mod started;
mod telling;
mod transport;
mod unit;

use std::cell::Cell;
use std::sync::Arc;

use treepie_choice::Form as ChosenForm;
use treepie_collective::{Algorithm, Amount, Operation};
use treepie_guard::CellKey;
use treepie_mpi::native::{Native, native};
use treepie_mpi::{Call, Comm, SUCCESS, c_int};
use treepie_process::log;
use treepie_profile::settings::Runner;
use treepie_record::Plan;

use call::Refused;
use communicator::{Communicator, Key, Workplace};
pub use device::is_possible as may_have_device_memory;
use execute::{Prepared, Spaces};
use guard::{ByNative, Guarded};
pub use guard::{Exchange, now, results as guard_results};
use job::Job;
use lock::MutexGuard;
use place::Place;
use plans::{make, make_guarded, make_sized};
use repeated::{Answers, Form};
use setup::Setup;
pub use setup::{Wanted, begin, end, locality};
use sizes::BySize;
pub use started::{
    Waits, begin_persistent, cancel, complete, end_request, look, look_at, make_persistent,
    prepare, release, start, stop_progress,
};

/// What guards have under way is completed, and what they found is kept: MPI is about to end.
pub fn end_guards(native: &Native) {
    started::end_trials(native);
    guard::end(native);
}

/// A collective on `comm`: a plan, which is left in `ran`, or `next`, the native MPI's own.
#[inline(always)]
pub fn run(
    next: impl FnOnce(Comm) -> c_int,
    comm: Comm,
    call: &Call,
    ran: &Cell<Option<Plan>>,
) -> c_int {
    let Some(setup) = setup::active() else {
        return next(comm);
    };
    match replace(setup, comm, call, ran) {
        Replaced::Yes(code) => code,
        Replaced::No(None) => next(comm),
        Replaced::No(Some((native, mut guarded))) => {
            let code = next(guarded.begin(comm));
            guarded.ran(native, comm, code)
        }
    }
}

/// Whether a call was replaced.
enum Replaced {
    /// By a plan, with this result.
    Yes(c_int),
    /// The native MPI is to run it; under a guard, which is told of its end.
    No(Option<(&'static Native, ByNative)>),
}

/// How a plan for a call went.
enum Planned {
    /// It ran, or the call was refused: MPI's code for an error.
    Done(Result<(), c_int>),
    /// This rank alone may see that the call is wrong: the native MPI says so.
    Refused,
    /// There is no plan, as all ranks see.
    Unserved,
}

/// A call that a plan may run.
struct Case<'a> {
    native: &'static Native,
    setup: &'a Setup,
    runner: &'a Runner,
    communicator: &'a Arc<Communicator>,
    comm: Comm,
    call: &'a Call,
    /// By which it may be known.
    form: Option<Form>,
    /// What plans are run with, held from the first look on.
    workplace: Option<MutexGuard<'a, Workplace>>,
    ordered: bool,
    /// The guard's cell, where there is a guard.
    key: Option<CellKey>,
    /// The guard has left such calls to the native MPI for good.
    is_left: bool,
    exchanges_sizes: bool,
}

impl<'a> Case<'a> {
    /// `None` where the native MPI does the call on all ranks, and nothing is measured.
    fn new(setup: &'a Setup, comm: Comm, call: &'a Call) -> Option<Self> {
        let usual = setup.collectives.runner(call.operation);
        if *usual == Runner::Native && !setup.collectives.by_name {
            return None;
        }
        let native = native()?;
        let communicator = attached::find(native, setup, comm)?;
        let runner = communicator.runner(call.operation, usual);
        if *runner == Runner::Native {
            return None;
        }
        let mut form = Form::new(native, call);
        if call.operation.is_among_neighbours() {
            if !neighbours::are_served(call.operation, &communicator.clusters, runner) {
                return None;
            }
            form = form.filter(|_| !communicator.has_borders());
        }
        let mut case = Case {
            native,
            setup,
            runner,
            communicator,
            comm,
            call,
            form,
            workplace: None,
            ordered: false,
            key: None,
            is_left: false,
            exchanges_sizes: false,
        };
        let workplace = communicator.workplace().lock();
        let known = case.form.and_then(|form| workplace.repeated.answers(&form));
        let answers = match known {
            Some(answers) => {
                case.workplace = Some(workplace);
                answers
            }
            None => {
                drop(workplace);
                ask(native, setup, communicator, (call, form))?
            }
        };
        case.is_left = answers.is_left && !communicator.counts_all();
        case.ordered = answers.ordered;
        case.key = answers.key;
        if case.key.is_none() {
            let uneven = &communicator.uneven;
            case.exchanges_sizes = uneven.is_due(runner, communicator, call.operation);
        }
        Some(case)
    }

    /// Asks the guard no more, where it has left such calls for good.
    fn remember_left(&mut self, guarded: Option<&Guarded>) {
        if let (Some(form), true) = (self.form, guarded.is_some_and(Guarded::is_left)) {
            let lock = || self.communicator.workplace().lock();
            let mut workplace = self.workplace.take().unwrap_or_else(lock);
            workplace.repeated.leave(&form);
        }
    }

    /// The guard's word on the call.
    fn guarded(&self) -> Option<Guarded<'a>> {
        guard::enter(self.native, self.communicator, self.key?)
    }
}

/// What the MPI says of a call, and of those like it if it has a form; `None` where it does not
/// reduce the datatype with the operation.
fn ask(
    native: &Native,
    setup: &Setup,
    communicator: &Communicator,
    (call, form): (&Call, Option<Form>),
) -> Option<Answers> {
    let mut ordered = false;
    if call.operation.reduces() {
        if !setup.can_reduce(native, call) {
            return None;
        }
        ordered = setup.reproducible || !native.is_commutative(call.op).ok()?;
    }
    let is_guarded = is_guarded(setup, communicator, call.operation);
    let key = is_guarded.then(|| guard::key(native, call, communicator, ordered));
    let answers = Answers {
        ordered,
        key,
        is_left: false,
    };
    if let Some(form) = form {
        let mut workplace = communicator.workplace().lock();
        workplace.repeated.learn(native, form, answers);
    }
    Some(answers)
}

/// Whether it is measured which way is quicker: for what is chosen, and may change.
fn is_guarded(setup: &Setup, communicator: &Communicator, operation: Operation) -> bool {
    communicator.guard.is_some()
        && *setup.collectives.runner(operation) == Runner::Auto
        && !(setup.reproducible && operation.reduces())
}

/// Runs a plan for a call, or says that the native MPI is to run it.
#[inline(never)]
fn replace(setup: &Setup, comm: Comm, call: &Call, ran: &Cell<Option<Plan>>) -> Replaced {
    let Some(mut case) = Case::new(setup, comm, call) else {
        return Replaced::No(None);
    };
    let native = case.native;
    if case.is_left {
        return Replaced::No(Some((native, ByNative::as_it_is(case.communicator))));
    }
    let guarded = case.guarded();
    let left =
        |guarded: Option<Guarded>| Replaced::No(guarded.map(|one| (native, one.left_to_native())));
    let plan = guarded.as_ref().map(Guarded::plan);
    if let Some(None) = plan {
        case.remember_left(guarded.as_ref());
        return left(guarded);
    }
    let plan = plan.flatten();
    let planned = match run_again(&mut case, plan, ran) {
        Some(result) => Planned::Done(result),
        None => run_plan(&case, plan, ran),
    };
    match planned {
        Planned::Done(result) => {
            if let Some(guarded) = guarded {
                guarded.ended(result.err().unwrap_or(SUCCESS));
            }
            Replaced::Yes(outcome(case.native, comm, result))
        }
        Planned::Refused => left(guarded),
        Planned::Unserved => {
            if let Some(guarded) = &guarded {
                guarded.unserved();
            }
            left(guarded)
        }
    }
}

/// Runs the plan of a call that is like one before it; `None` where it is not, or has to be looked
/// at.
fn run_again(
    case: &mut Case<'_>,
    guarded: Option<(&'static Algorithm, u64)>,
    ran: &Cell<Option<Plan>>,
) -> Option<Result<(), c_int>> {
    let mut workplace = case.workplace.take()?;
    let (native, communicator, form) = (case.native, case.communicator, case.form?);
    if !communicator.is_in_memory() || !communicator.is_readable(native, case.call) {
        return None;
    }
    let guarded = guarded.map(|(algorithm, segment)| (algorithm.name, segment));
    let Workplace { repeated, tools } = &mut *workplace;
    let known = repeated.plan(&form, guarded)?;
    let place = communicator.next_call();
    ran.set(Some(known.chosen.run));
    let spaces = known.spaces(case.call);
    Some(tools.perform(native, place, &known.chosen.plan, spaces))
}

/// Runs the plan of a call: the one that the guard says, or the one that is chosen.
fn run_plan(
    case: &Case<'_>,
    guarded: Option<(&'static Algorithm, u64)>,
    ran: &Cell<Option<Plan>>,
) -> Planned {
    let Case {
        native,
        setup,
        runner,
        communicator,
        comm,
        call,
        form,
        ordered,
        exchanges_sizes,
        ..
    } = *case;
    debug_assert!(case.workplace.is_none(), "it is locked below");
    let (operation, root) = (call.operation, call.root as usize);
    let algorithm = guarded.map(|(algorithm, _)| algorithm);
    let tells_leader = || sizes::are_told_to_leaders(runner, communicator, operation, algorithm);
    // Before anything that one rank may find out alone: all count alike.
    let telling = (exchanges_sizes || tells_leader()).then(|| communicator.next_call());
    let place = communicator.next_call();
    let job = match Job::new(native, call, place, &communicator.clusters) {
        Ok(job) => job,
        Err(Refused::ByNative) => return Planned::Refused,
        Err(Refused::With(code)) => return Planned::Done(Err(code)),
    };
    let errors = errors::Returned::inside(native, comm);
    let (amount, sized) = match sizes_of(case, telling, &job.amount) {
        Ok(known) => known,
        Err(code) => {
            job.abandon();
            drop(errors);
            return Planned::Done(Err(code));
        }
    };
    let key = Key {
        operation,
        root,
        amount,
        unit: job.spaces.unit.bytes,
        ordered,
        guarded: guarded.map(|(algorithm, segment)| (algorithm.name, segment)),
        form: ChosenForm::Blocking,
        is_acknowledged: false,
    };
    let key = communicator.of_call(place.call, key);
    let chosen = communicator.plan(key, |key| match (&sized, guarded) {
        (_, Some(plan)) => make_guarded(communicator, key, plan),
        (Some(sized), None) => Some(make_sized(communicator, key, sized)),
        (None, None) => make(runner, setup, communicator, key),
    });
    let Some(chosen) = chosen else {
        return Planned::Unserved;
    };
    let job = match communicator.readable(native, call.operation, job) {
        Ok(Some(job)) => job,
        Ok(None) => return Planned::Unserved,
        Err(error) => {
            log::warn(&format!("collectives: {error}"));
            return Planned::Done(Err(native.abi.err_intern));
        }
    };
    ran.set(Some(chosen.run));
    let performed = job
        .load(native, place)
        .and_then(|()| perform(native, communicator, place, &chosen.plan, job.spaces));
    if let (Ok(()), Some(form), true) = (performed, form, job.is_direct()) {
        let planned = repeated::Planned {
            guarded: guarded.map(|(algorithm, segment)| (algorithm.name, segment)),
            unit: job.spaces.unit,
            chosen,
        };
        communicator
            .workplace()
            .lock()
            .repeated
            .keep(&form, planned);
    }
    let result = match performed {
        Ok(()) => job.store(native, place),
        Err(code) => {
            job.abandon();
            Err(code)
        }
    };
    drop(errors);
    Planned::Done(result)
}

/// The amount of a call, of which this rank knows its `own`, and what was chosen by it, where ranks
/// tell each other of sizes at a place.
fn sizes_of(
    case: &Case<'_>,
    telling: Option<Place>,
    own: &Amount,
) -> Result<(Amount, Option<BySize>), c_int> {
    let (native, communicator) = (case.native, case.communicator);
    let call = (case.call.operation, case.call.root as usize);
    let Some(place) = telling else {
        return Ok((own.clone(), None));
    };
    if !case.exchanges_sizes {
        let told = sizes::tell_leader(native, communicator, place, call, own)?;
        return Ok((told, None));
    }
    let exchanged = sizes::exchange(native, communicator, place, call, own.clone())?;
    let (amount, cost) = (exchanged.amount, exchanged.cost);
    let chosen = match *case.runner == Runner::Auto {
        true => (communicator.uneven).choose(communicator, call, &amount, cost),
        false => None,
    };
    Ok((amount, chosen))
}

/// What a call returns whose plan ended like this; the handler of its communicator is told of
/// errors, and may end it.
fn outcome(native: &Native, comm: Comm, result: Result<(), c_int>) -> c_int {
    match result {
        Ok(()) => SUCCESS,
        Err(code) => {
            native.call_error_handler(comm, code);
            code
        }
    }
}

/// Runs a plan on what the spaces say, and on the communicator's own scratch.
fn perform(
    native: &Native,
    communicator: &Communicator,
    place: Place,
    plan: &Prepared,
    spaces: Spaces,
) -> Result<(), c_int> {
    let tools = &mut communicator.workplace().lock().tools;
    tools.perform(native, place, plan, spaces)
}
