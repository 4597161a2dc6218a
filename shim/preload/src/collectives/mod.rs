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
//! | no algorithm is chosen, or it does not serve | a function of operation, root, bytes and order, which are equal on all ranks, and of nothing that a rank remembers of earlier calls |
//! | sizes are exchanged, or not | a function of what all know: settings, calls, earlier exchanges (`sizes`) |
//! | [`Refused::ByNative`] | the native collective returns an error before it communicates |
//! | [`Refused::With`] | an error is returned, and nothing is called |
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
mod call;
mod communicator;
mod device;
mod eager;
mod errors;
mod execute;
mod job;
mod operands;
mod own;
mod packed;
mod runtimes;
mod setup;
mod sizes;
mod unit;

use std::cell::Cell;

use treepie_core::collective::choose::are_bytes_known;
use treepie_core::collective::{Algorithm, Amount, PlanRun, Problem};
use treepie_core::files::configuration::Runner;

use call::Refused;
pub use setup::{Wanted, begin, end, locality};

use crate::log;
use crate::mpi::native::{Native, native};
use crate::mpi::{Call, Comm, SUCCESS, c_int};
use crate::record::{self, Plan};
use communicator::{Chosen, Communicator, Key, Workplace};
use execute::{Place, Prepared, Spaces, execute};
use job::Job;
use setup::Setup;

/// A collective on `comm`: a plan, which is left in `ran`, or `next`, the native MPI's own.
#[inline(always)]
pub fn run(
    next: impl FnOnce() -> c_int,
    comm: Comm,
    call: Call,
    ran: &Cell<Option<Plan>>,
) -> c_int {
    let Some(setup) = setup::active() else {
        return next();
    };
    // Put together here, so that a call that is only counted keeps its arguments in registers.
    replace(setup, comm, &Call { ..call }, ran).unwrap_or_else(next)
}

/// The result of the plan for a call; `None` where the native MPI does it.
#[inline(never)]
fn replace(setup: &Setup, comm: Comm, call: &Call, ran: &Cell<Option<Plan>>) -> Option<c_int> {
    let runner = setup.collectives.runner(call.operation);
    if *runner == Runner::Native {
        return None;
    }
    let native = native()?;
    let communicator = attached::find(native, setup, comm)?;
    let place = communicator.next_call();
    let operation = call.operation;
    let exchanges_sizes = communicator.uneven.is_due(runner, &communicator, operation);
    if call.operation.reduces() && !setup.can_reduce(native, call) {
        return None;
    }
    let ordered =
        call.operation.reduces() && (setup.reproducible || !native.is_commutative(call.op).ok()?);
    let ranks = communicator.clusters.ranks();
    let job = match Job::new(native, call, place, ranks) {
        Ok(job) => job,
        Err(Refused::ByNative) => return None,
        Err(Refused::With(code)) => return Some(outcome(native, comm, Err(code))),
    };
    let errors = errors::Returned::inside(native, comm);
    let root = call.root as usize;
    let (mut amount, mut sized) = (job.amount.clone(), None);
    if exchanges_sizes {
        match sizes::exchange(native, &communicator, (operation, root), amount) {
            Ok(exchanged) => {
                amount = exchanged.amount;
                if *runner == Runner::Auto {
                    let uneven = &communicator.uneven;
                    let call = (operation, root);
                    sized = uneven.choose(&communicator, call, &amount, exchanged.cost);
                }
            }
            Err(code) => {
                job.abandon();
                drop(errors);
                return Some(outcome(native, comm, Err(code)));
            }
        }
    }
    let key = Key {
        operation,
        root,
        amount,
        unit: job.spaces.unit.bytes,
        ordered,
    };
    let chosen = communicator.plan(key, |key| match &sized {
        Some(sized) => Some(make_sized(&communicator, key, sized)),
        None => make(runner, setup, &communicator, key),
    })?;
    let job = match communicator.readable(native, call.operation, job) {
        Ok(job) => job?,
        Err(error) => {
            log::warn(&format!("collectives: {error}"));
            return Some(outcome(native, comm, Err(native.abi.err_intern)));
        }
    };
    ran.set(Some(chosen.run));
    let performed = job
        .load(native, place)
        .and_then(|()| perform(native, &communicator, place, &chosen.plan, job.spaces));
    let result = match performed {
        Ok(()) => job.store(native, place),
        Err(code) => {
            job.abandon();
            Err(code)
        }
    };
    drop(errors);
    Some(outcome(native, comm, result))
}

/// What a call returns whose plan ended like this; the handler of its communicator is told of
/// errors.
fn outcome(native: &Native, comm: Comm, result: Result<(), c_int>) -> c_int {
    match result {
        Ok(()) => SUCCESS,
        Err(code) => {
            native.call_error_handler(comm, code);
            code
        }
    }
}

/// This rank's plan; `None` where the native MPI does it.
fn make(runner: &Runner, setup: &Setup, communicator: &Communicator, key: &Key) -> Option<Chosen> {
    let problem = Problem {
        operation: key.operation,
        root: key.root,
        amount: &key.amount,
        clusters: &communicator.clusters,
        ordered: key.ordered,
        network: communicator.network.as_deref(),
        unit_bytes: key.unit,
    };
    let mean =
        |parts: &[u64]| Some(parts.iter().sum::<u64>() * key.unit / parts.len().max(1) as u64);
    let bytes = match &key.amount {
        Amount::Each(units) => Some(units * key.unit),
        Amount::Blocks(parts) if are_bytes_known(key.operation) => mean(parts),
        Amount::KnownBlocks(parts) | Amount::Table(parts) => mean(parts),
        Amount::Blocks(_) | Amount::Exchanged { .. } => None,
    };
    let (strategy, segment) = match runner {
        Runner::Native => return None,
        Runner::Algorithm(name) => {
            let strategy = Algorithm::find(key.operation, name)?;
            let segment = communicator.segment(strategy, key, bytes);
            if communicator.rank() == 0 {
                tell(
                    communicator,
                    key,
                    bytes,
                    strategy.name,
                    segment,
                    "as the setting says",
                );
            }
            (strategy, segment)
        }
        Runner::Auto => {
            let is_grid = communicator.clusters.count() > 1;
            if !(is_grid || setup.reproducible && key.operation.reduces()) {
                return None;
            }
            let choice = communicator.choose(key, bytes);
            if communicator.rank() == 0 {
                let name = choice.strategy.map_or("native", |strategy| strategy.name);
                tell(
                    communicator,
                    key,
                    bytes,
                    name,
                    choice.segment,
                    &choice.reason(),
                );
            }
            let segment = communicator.largest_message(&choice, bytes);
            (choice.strategy?, segment)
        }
    };
    if let Some(requirement) = strategy.unmet(&problem) {
        if communicator.rank() == 0 {
            let reason = format!("{} needs {requirement}", strategy.name);
            tell(communicator, key, bytes, "native", segment, &reason);
        }
        return None;
    }
    Some(planned(communicator, &problem, strategy, segment))
}

/// This rank's plan for sizes that all ranks know.
fn make_sized(communicator: &Communicator, key: &Key, sized: &sizes::BySize) -> Chosen {
    let segment = communicator.eager_limit();
    if communicator.rank() == 0 {
        let (name, reason) = (sized.strategy.name, &sized.reason);
        tell(communicator, key, None, name, segment, reason);
    }
    let problem = communicator.problem(key.operation, key.root, &key.amount);
    planned(communicator, &problem, sized.strategy, segment)
}

/// This rank's plan of a strategy, in messages of up to `segment` bytes.
fn planned(
    communicator: &Communicator,
    problem: &Problem,
    strategy: &'static Algorithm,
    segment: u64,
) -> Chosen {
    let segment = (segment / problem.unit_bytes.max(1)).max(1);
    Chosen {
        plan: Prepared::new(strategy.plan(problem, communicator.rank(), segment)),
        run: record::plan(PlanRun {
            algorithm: strategy.name.to_owned(),
            segment,
            unit_bytes: problem.unit_bytes,
            ordered: problem.ordered,
        }),
    }
}

/// Says what was chosen and why, once for each plan.
fn tell(
    communicator: &Communicator,
    key: &Key,
    bytes: Option<u64>,
    strategy: &str,
    segment: u64,
    reason: &str,
) {
    let amount = match bytes {
        Some(bytes) => format!("{bytes} bytes"),
        None => "uneven parts".to_owned(),
    };
    let clusters = &communicator.clusters;
    log::info(&format!(
        "{} of {amount} on {} ranks in {} cluster(s), root {}: {strategy}, in messages of up to \
         {segment} bytes ({reason})",
        key.operation,
        clusters.ranks(),
        clusters.count(),
        key.root
    ));
}

/// Runs a plan on what the spaces say, and on the communicator's own scratch.
fn perform(
    native: &Native,
    communicator: &Communicator,
    place: Place,
    plan: &Prepared,
    mut spaces: Spaces,
) -> Result<(), c_int> {
    let mut workplace = communicator.workplace().lock();
    let Workplace { scratch, account } = &mut *workplace;
    spaces.scratch = scratch.hold(&spaces.unit, plan.plan().scratch());
    // SAFETY: the spaces are the application's buffers, of the length that its
    // counts say, or scratch buffers that were made for them.
    let result = unsafe { execute(native, plan, &spaces, place, account) };
    if result.is_err() {
        // What is under way may still use it.
        std::mem::forget(std::mem::take(&mut *workplace));
    }
    result
}
