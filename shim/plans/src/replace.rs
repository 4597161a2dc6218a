//! Collectives that are complete when they return: run by a plan, or by the native MPI.

use std::cell::Cell;
use std::sync::Arc;

use treepie_choice::Form as ChosenForm;
use treepie_collective::{Algorithm, Amount};
use treepie_guard::CellKey;
use treepie_mpi::native::{Native, native};
use treepie_mpi::system::lock::MutexGuard;
use treepie_mpi::{Call, Comm, SUCCESS, c_int};
use treepie_process::log;
use treepie_profile::settings::Runner;
use treepie_record::Plan;

use crate::answers::ask;
use crate::bytes::runner_of;
use crate::call::Refused;
use crate::call_context::CallContext;
use crate::chosen::Key;
use crate::communicator::Communicator;
use crate::guarded::{self, ByNative, Guarded};
use crate::job::Job;
use crate::passed_on::{is_back, pass_on};
use crate::plans::{make, make_guarded, make_sized};
use crate::repeated::{self, Form};
use crate::setup::{self, Setup};
use crate::sizes::BySize;
use crate::workplace::Workplace;
use crate::{attached, errors, neighbours, sizes};

/// Runs a collective on `comm`: by a plan, which is stored in `ran`, or by `next`, the native MPI's
/// own.
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
            let used = guarded.begin(comm);
            let code = pass_on(native, used, call, || next(used));
            guarded.ran(native, comm, code)
        }
    }
}

/// Outcome of the attempt to replace a call.
enum Replaced {
    /// Replaced by a plan, with this result.
    Yes(c_int),
    /// Left to the native MPI; if under a guard, with the object that ends its measurement.
    No(Option<(&'static Native, ByNative)>),
}

/// Outcome of a plan for a call.
enum Planned {
    /// It ran, or the call was refused: MPI's code for an error.
    Done(Result<(), c_int>),
    /// Possibly only this rank sees the call's error: the native MPI reports it.
    Refused,
    /// There is no plan; the same on all ranks.
    Unserved,
}

/// Call that a plan may run.
struct Case<'a> {
    native: &'static Native,
    setup: &'a Setup,
    runner: &'a Runner,
    communicator: &'a Arc<Communicator>,
    comm: Comm,
    call: &'a Call,
    /// Key by which it may be cached.
    form: Option<Form>,
    /// Tools of plans, locked from the first use on.
    workplace: Option<MutexGuard<'a, Workplace>>,
    ordered: bool,
    /// The guard's cell, if there is a guard.
    key: Option<CellKey>,
    /// True if the guard has left such calls to the native MPI for good.
    is_left: bool,
    exchanges_sizes: bool,
}

impl<'a> Case<'a> {
    /// Creates the case; `None` if the native MPI runs the call on all ranks, and nothing is
    /// measured.
    fn new(
        native: &'static Native,
        setup: &'a Setup,
        communicator: &'a Arc<Communicator>,
        comm: Comm,
        call: &'a Call,
    ) -> Option<Self> {
        let usual = setup.collectives.runner(call.operation);
        let runner = communicator.runner(call.operation, usual);
        let runner = runner_of(native, call, communicator, runner);
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
                ask(native, setup, communicator, runner, (call, form))?
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

    /// Skips the guard from now on if it has left such calls for good.
    fn remember_left(&mut self, guarded: Option<&Guarded>) {
        if let (Some(form), true) = (self.form, guarded.is_some_and(Guarded::is_left)) {
            let lock = || self.communicator.workplace().lock();
            let mut workplace = self.workplace.take().unwrap_or_else(lock);
            workplace.repeated.leave(&form);
        }
    }

    /// Returns the guard's decision on the call.
    fn guarded(&self) -> Option<Guarded<'a>> {
        guarded::enter(self.native, self.communicator, self.key?)
    }
}

/// Runs a plan for a call, or leaves it to the native MPI.
#[inline(never)]
fn replace(setup: &Setup, comm: Comm, call: &Call, ran: &Cell<Option<Plan>>) -> Replaced {
    let usual = setup.collectives.runner(call.operation);
    if usual.all().all(|one| *one == Runner::Native) && !setup.collectives.by_name {
        return Replaced::No(None);
    }
    let Some(native) = native().filter(|native| !is_back(native, comm, call)) else {
        return Replaced::No(None);
    };
    let replaced = attached::with(native, setup, comm, |communicator| {
        let case = Case::new(native, setup, communicator, comm, call);
        case.map_or(Replaced::No(None), |case| replace_case(case, ran))
    });
    match replaced {
        None => Replaced::No(None),
        // The error handler may free the communicator.
        Some(Replaced::Yes(code)) => Replaced::Yes(native.returned(comm, code)),
        Some(left) => left,
    }
}

/// Runs a plan for a call of a communicator; errors have not been passed to its error handler.
fn replace_case(mut case: Case<'_>, ran: &Cell<Option<Plan>>) -> Replaced {
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
            Replaced::Yes(result.err().unwrap_or(SUCCESS))
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

/// Runs the plan of a call that equals a cached one; `None` if it does not, or must be examined.
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

/// Runs the plan of a call: the one that the guard selects, or the one that is chosen.
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
    // Before any step that may fail on a single rank: all count alike.
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
        .and_then(|()| communicator.perform(native, place, &chosen.plan, job.spaces));
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

/// Returns the amount of a call, of which this rank knows its `own`, and the choice based on it, if
/// ranks exchange sizes at a place.
fn sizes_of(
    case: &Case<'_>,
    telling: Option<CallContext>,
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
    let exchanged = communicator
        .uneven
        .exchange(native, communicator, place, call, own.clone())?;
    let (amount, cost) = (exchanged.amount, exchanged.cost);
    let chosen = match *case.runner == Runner::Auto {
        true => (communicator.uneven).choose(communicator, call, &amount, cost),
        false => None,
    };
    Ok((amount, chosen))
}
