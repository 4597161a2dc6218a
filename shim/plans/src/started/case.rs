//! Call that starts a collective: selection of the plan that runs it, if any.

use std::sync::Arc;

use treepie_choice::{Form, Progress, direct};
use treepie_collective::{Algorithm, Operation};
use treepie_guard::Form::Nonblocking;
use treepie_guard::{CellKey, Guard, VALUES_OF_REQUEST};
use treepie_mpi::native::Native;
use treepie_mpi::{Call, Comm, c_int};
use treepie_process::log;
use treepie_profile::settings::Runner;

use super::numbers::Numbers;
use super::running::Running;
use super::sizes;
use super::trial::Trial;
use super::uses::Uses;
use super::work::{SizedPlan, Work};
use crate::answers::ask;
use crate::bytes::runner_of;
use crate::call::Refused;
use crate::call_context::CallContext;
use crate::chosen::{Chosen, Key};
use crate::communicator::Communicator;
use crate::job::Job;
use crate::repeated::{self, Answers};
use crate::setup::Setup;
use crate::{attached, neighbours, plans};

/// Reason why no plan runs a call.
pub enum Out {
    /// No plan serves it; the same on all ranks.
    Unserved,
    /// Possibly only this rank sees the call's error: the native MPI reports it.
    Wrong,
    /// It is refused with this code.
    Refused(c_int),
}

/// Call that a plan may run.
pub struct Case<'a> {
    pub native: &'static Native,
    setup: &'static Setup,
    pub communicator: &'a Arc<Communicator>,
    comm: Comm,
    call: &'a Call,
    runner: &'a Runner,
    ordered: bool,
    /// The guard's plan: its algorithm, and the largest message in bytes.
    pub guarded: Option<(&'static Algorithm, u64)>,
    is_persistent: bool,
    /// Guard over the starts of a persistent request, its cell, and the exchanged numbers.
    pub tried: Option<(Guard, CellKey, Numbers)>,
}

impl<'a> Case<'a> {
    /// Creates the case of a call that plans may start on a communicator that is [`serving`] it;
    /// returns it with its cell, if there is a guard.
    pub fn new(
        native: &'static Native,
        setup: &'static Setup,
        (communicator, comm): (&'a Arc<Communicator>, Comm),
        call: &'a Call,
        is_persistent: bool,
    ) -> Option<(Self, Option<CellKey>)> {
        let runner = setup.collectives.runner(call.operation);
        let runner = runner_of(native, call, communicator, runner);
        let answers = answers(native, setup, communicator, (call, runner))?;
        let case = Case {
            native,
            setup,
            communicator,
            comm,
            call,
            runner,
            ordered: answers.ordered,
            guarded: None,
            is_persistent,
            tried: None,
        };
        Some((case, answers.key.map(|key| key.of_form(Nonblocking))))
    }

    /// Returns the operation that a plan runs, at its place.
    ///
    /// # Errors
    /// The reason why no plan runs it.
    pub fn operation(&mut self, place: CallContext) -> Result<Arc<Running>, Out> {
        let Case {
            native,
            setup,
            communicator,
            call,
            runner,
            ..
        } = *self;
        let clusters = &communicator.clusters;
        let job = Job::new(native, call, place, clusters);
        let is_chosen = self.guarded.is_none() && self.tried.is_none();
        let known = match self.is_persistent && is_chosen {
            true => {
                let own = job.as_ref().ok().map(|job| &job.amount);
                sizes::exchange(native, setup, communicator, (call, runner), own)
            }
            false => None,
        };
        let job = match job {
            Ok(job) => job,
            Err(Refused::ByNative) => return Err(Out::Wrong),
            Err(Refused::With(code)) => return Err(Out::Refused(code)),
        };
        let work = self.work(&job, known).ok_or(Out::Unserved)?;
        let job = match job.is_on_device() {
            true => job.copied_by_native(),
            false => job,
        };
        // The same on all ranks, whether or not messages of this one wait.
        let direct = direct(call.operation).map(|direct| direct.name);
        let is_called = setup.progress == Progress::Called
            && work
                .run()
                .is_none_or(|run| Some(run.algorithm.as_str()) != direct);
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
        let running = Running::new(communicator, self.comm, place, work, held, manner);
        Ok(Arc::new(running))
    }

    /// Creates the exchange of numbers for a persistent request; `None`, on all ranks, if no plan
    /// serves it.
    pub fn numbers(&self) -> Option<Numbers> {
        let (setup, communicator) = (self.setup, self.communicator);
        let place = communicator.next_persistent()?;
        Numbers::new(self.native, setup, communicator, (place, VALUES_OF_REQUEST))
    }

    /// Returns the work of the operation; `None` if the native MPI does it.
    fn work(&mut self, job: &Job, known: Option<sizes::AgreedSizes>) -> Option<Work> {
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
            is_acknowledged: false,
        };
        if let Some((guard, cell, numbers)) = self.tried.take() {
            let trial = Trial::new(setup, communicator, (key, cell), guard, numbers);
            return Some(Work::Tried(Box::new(trial)));
        }
        if let (None, Some(named)) = (&known, self.told(&key)) {
            return SizedPlan::new(communicator, key, named)
                .map(|plan| Work::Sized(Box::new(plan)));
        }
        let runner = self.runner;
        let by_size = known.and_then(|known| known.chosen);
        let chosen = communicator.plan(key, |key| match (self.guarded, &by_size) {
            (Some(guarded), _) => plans::make_guarded(communicator, key, guarded),
            (None, Some(by_size)) => Some(plans::make_sized(communicator, key, by_size)),
            (None, None) => plan(runner, setup, communicator, key),
        });
        chosen.map(Work::Plan)
    }

    /// Returns the algorithm of a call whose sizes ranks send to the leaders of their clusters, and
    /// its largest message in bytes; `None`, on all ranks, if they send none.
    fn told(&self, key: &Key) -> Option<(&'static Algorithm, u64)> {
        let (setup, communicator, operation) = (self.setup, self.communicator, key.operation);
        // All ranks know all sizes of persistent requests.
        let is_known = self.is_persistent && self.guarded.is_none();
        let is_told = operation.tells_all_sizes() || operation.is_among_neighbours() || is_known;
        if is_told || setup.progress != Progress::Called {
            return None;
        }
        let named = match (self.guarded, self.runner) {
            (Some(guarded), _) => guarded,
            (None, Runner::Native | Runner::BySize(_)) => return None,
            (None, Runner::Plan(plan)) => {
                let serves = setup.progress.allows(plan.algorithm, operation);
                let largest = started_segment(communicator, plan.segment);
                (serves.then_some(plan.algorithm)?, largest)
            }
            (None, Runner::Auto) => {
                let choice = communicator.choose_started(key, None, setup.progress);
                (choice.algorithm?, choice.segment)
            }
        };
        let ranks = communicator.clusters.ranks();
        (named.0.needs_leaders() && named.0.allows(ranks)).then_some(named)
    }
}

/// Returns the MPI's answers about a call, cached or new.
fn answers(
    native: &Native,
    setup: &Setup,
    communicator: &Communicator,
    (call, runner): (&Call, &Runner),
) -> Option<Answers> {
    let form = match call.operation.is_among_neighbours() && communicator.has_borders() {
        true => None,
        false => repeated::Form::new(native, call),
    };
    let known = form.and_then(|form| communicator.workplace().lock().repeated.answers(&form));
    known.or_else(|| ask(native, setup, communicator, runner, (call, form)))
}

/// Returns the private communicator for `comm`, if plans may start this collective on it. For a
/// persistent request, it is created if necessary.
pub fn serving(
    native: &Native,
    setup: &Setup,
    comm: Comm,
    call: &Call,
    is_persistent: bool,
) -> Option<Arc<Communicator>> {
    let runner = setup.collectives.runner(call.operation);
    let is_native = |runner: &Runner| *runner == Runner::Native;
    if runner.all().all(is_native) {
        return None;
    }
    let serving = |communicator: &Arc<Communicator>| {
        let runner = runner_of(native, call, communicator, runner);
        let is_served = !call.operation.is_among_neighbours()
            || neighbours::are_served(call.operation, &communicator.clusters, runner);
        // First of all, so that a call that is left to the MPI on near ranks costs little.
        let is_far = *runner != Runner::Auto
            || communicator.clusters.are_far()
            || keeps_bits(setup, call.operation);
        let is_ours = !is_native(runner) && is_far && is_served;
        (is_ours && communicator.can_start()).then(|| Arc::clone(communicator))
    };
    match is_persistent {
        true => attached::with(native, setup, comm, serving),
        false => attached::with_made(native, comm, serving),
    }?
}

/// True if a plan runs an operation independently of the locality of its ranks, for equal results
/// everywhere.
fn keeps_bits(setup: &Setup, operation: Operation) -> bool {
    setup.reproducible && operation.reduces()
}

/// Other ranks may have begun their plans already: this rank cannot use the MPI instead.
#[cold]
fn too_many(native: &Native, call: &Call) -> Out {
    log::error(&format!(
        "{}: a non-blocking collective that was started thousands of others ago on the same \
         communicator is not complete yet; complete it first, or set TREEPIE_STARTED=native",
        call.operation,
    ));
    Out::Refused(native.abi.err_intern)
}

/// Returns this rank's plan; `None` if the native MPI runs the call.
fn plan(runner: &Runner, setup: &Setup, communicator: &Communicator, key: &Key) -> Option<Chosen> {
    let bytes = key.bytes();
    match runner {
        Runner::Native | Runner::BySize(_) => None,
        Runner::Plan(plan) => {
            if !setup.progress.allows(plan.algorithm, key.operation) {
                let reason = format!("messages of {} wait for others", plan.algorithm.name);
                plans::tell(communicator, key, bytes, "native", 0, &reason);
                return None;
            }
            let segment = started_segment(communicator, plan.segment);
            let reason = "as the setting says";
            plans::tell(communicator, key, bytes, &plan.name(), segment, reason);
            plans::of_key(communicator, key, plan, segment)
        }
        Runner::Auto => {
            let choice = communicator.choose_started(key, bytes, setup.progress);
            let by_rule = || direct(key.operation);
            // All ranks know the sizes of persistent requests: leaders receive none.
            let algorithm = choice
                .algorithm
                .filter(|algorithm| !algorithm.needs_leaders())
                .or_else(|| keeps_bits(setup, key.operation).then(by_rule).flatten());
            let segment = choice.segment.min(communicator.eager_limit());
            let name = algorithm.map_or("native", |algorithm| algorithm.name);
            plans::tell(communicator, key, bytes, name, segment, &choice.reason());
            plans::of_key(communicator, key, &algorithm?.into(), segment)
        }
    }
}

/// Returns the largest message, in bytes, of a started plan, whose messages are all sent
/// immediately.
fn started_segment(communicator: &Communicator, named: Option<u64>) -> u64 {
    let eager = communicator.eager_limit();
    named.map_or(eager, |segment| segment.min(eager))
}
