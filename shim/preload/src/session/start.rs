//! `MPI_Init` and `MPI_Init_thread`: the native MPI starts, then Treepie does what the
//! settings ask for, the same on every rank.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, fmt, thread};

use super::agreement::{Decision, agree};
use super::request::Request;
use super::{errors, exits, finish, hosts, keeper, parts, signals};
use crate::binding::{Bound, bind};
use crate::collectives;
use crate::guard::guarded;
use crate::log;
use crate::mpi::native::{Native, NativeError};
use crate::mpi::{SUCCESS, Word, c_int};
use crate::record::{self, collect};
use crate::reorder;
use crate::world;

/// What this process of the job knows once it has started.
pub struct Session {
    /// Process 0's request: settings and what they name. Only there.
    pub request: Option<Request>,
    /// What all ranks do.
    pub decision: Decision,
}

static STARTED: AtomicBool = AtomicBool::new(false);
static SESSION: OnceLock<Session> = OnceLock::new();

/// The session, once it has started.
pub fn session() -> Option<&'static Session> {
    SESSION.get()
}

/// `MPI_Init`.
///
/// # Safety
/// The caller keeps the contract of `MPI_Init`.
pub unsafe fn init(
    next: unsafe extern "C" fn(Word, Word) -> c_int,
    argc: Word,
    argv: Word,
) -> c_int {
    // SAFETY: the caller's promise.
    started(unsafe { next(argc, argv) })
}

/// `MPI_Init_thread`.
///
/// # Safety
/// The caller keeps the contract of `MPI_Init_thread`.
pub unsafe fn init_thread(
    next: unsafe extern "C" fn(Word, Word, Word, Word) -> c_int,
    argc: Word,
    argv: Word,
    required: Word,
    provided: Word,
) -> c_int {
    // SAFETY: the caller's promise.
    started(unsafe { next(argc, argv, required, provided) })
}

/// Starts the session after the first successful initialisation. Where tools are
/// stacked this is the innermost call, so that they see one world as well.
fn started(code: c_int) -> c_int {
    if code == SUCCESS && !STARTED.swap(true, Ordering::AcqRel) && is_asked_for() {
        guarded("starting", start);
    }
    code
}

/// Whether there is anything to agree on. `TREEPIE_MODE=off`, or neither a mode
/// nor a configuration, leaves the job alone: no call is added to `MPI_Init`.
fn is_asked_for() -> bool {
    match env::var("TREEPIE_MODE") {
        Ok(mode) => !matches!(mode.trim(), "off" | ""),
        Err(_) => env::var_os("TREEPIE_CONFIG").is_some(),
    }
}

fn start() {
    let native = match Native::load() {
        Ok(native) => native,
        Err(error) if launcher_says_first() => return log::error(&error.to_string()),
        Err(_) => return,
    };
    if let Err(error) = start_with(native) {
        log::error(&format!(
            "{error}; the job runs as it would without treepie"
        ));
    }
}

/// Ends the job before the application starts; why has been said.
fn abort(native: &Native) {
    // Hydra drops what it has not passed on yet of a process's output when the
    // process aborts: the reason would be lost.
    thread::sleep(Duration::from_millis(200));
    native.abort(2);
}

/// Whether the launcher's variables call this the first process: for the one
/// message that must be given without MPI's help.
fn launcher_says_first() -> bool {
    [
        "OMPI_COMM_WORLD_RANK",
        "PMI_RANK",
        "PMIX_RANK",
        "SLURM_PROCID",
    ]
    .iter()
    .find_map(|name| env::var(name).ok())
    .is_none_or(|rank| rank == "0")
}

/// What all ranks do, and on process 0 what was asked for. Processes are bound
/// already.
fn decide(native: &Native) -> Result<(Option<Request>, Decision), NativeError> {
    let ranks = native.size(native.world)?;
    let mut request = None;
    let mut steps = Steps::new();
    let mut decision = agree(native, || {
        let (made, decision) = Request::read(native, ranks);
        request = made;
        steps.ended("files read");
        decision
    })?;
    log::set_level(decision.log);
    let mut processes = Vec::new();
    if decision.looks {
        processes = hosts::processes(native)?;
        steps.ended("processes heard of");
        let wanted = request
            .as_ref()
            .is_some_and(|r| r.needs_machines(&processes));
        let machines = hosts::machines(native, &processes, wanted)?;
        steps.ended("hardware read");
        decision = agree(native, || match &mut request {
            Some(request) => {
                let settled = request.settle(decision, &processes, &machines);
                steps.ended("placed");
                settled
            }
            None => decision,
        })?;
        steps.ended("told to all");
        if request.is_some() {
            log::info(&format!("replay of {ranks} ranks: {steps}"));
        }
    }
    if decision.binds {
        let target = request.as_ref().and_then(|r| r.binding.as_ref());
        let bound = bind(native, target, &processes)?;
        // Binding and ranks go together: no placement is applied by half.
        if bound != Bound::All {
            decision.permutation = None;
        }
        decision.abort |= bound == Bound::Abort;
    }
    Ok((request, decision))
}

/// How long each step of a start took, on one process.
struct Steps {
    last: Instant,
    taken: Vec<(&'static str, Duration)>,
}

impl Steps {
    fn new() -> Self {
        Steps {
            last: Instant::now(),
            taken: Vec::new(),
        }
    }

    fn ended(&mut self, step: &'static str) {
        self.taken.push((step, self.last.elapsed()));
        self.last = Instant::now();
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (step, taken) in &self.taken {
            write!(out, "{step} {:.1} ms, ", taken.as_secs_f64() * 1e3)?;
        }
        let all: Duration = self.taken.iter().map(|(_, taken)| *taken).sum();
        write!(out, "{:.1} ms in all", all.as_secs_f64() * 1e3)
    }
}

fn start_with(native: &'static Native) -> Result<(), NativeError> {
    if native.has_parent()? {
        // Spawned jobs inherit the environment; its files are the parent's.
        log::info("this job was spawned by another: it is neither replayed nor profiled");
        return Ok(());
    }
    let (request, decision) = decide(native)?;
    if decision.abort {
        // Process 0 has said why, and ends the job; the others wait for that
        // here, and no rank returns to the application.
        if native.rank(native.world)? == 0 {
            abort(native);
        }
        return native.broadcast(native.world, &mut [0]);
    }
    let mut application_world = native.world;
    if let Some(new_rank) = &decision.permutation {
        world::install(native, new_rank)?;
        application_world = world::substitute(native.world);
    }
    if decision.recording.is_some() {
        collect::prepare(native, application_world)?;
    }
    let wanted = decision.collectives.clone();
    let wanted = match (wanted, &decision.permutation) {
        (Some(wanted), Some(new_rank)) => Some(wanted.renumbered(new_rank)),
        (wanted, _) => wanted,
    };
    if let Some(wanted) = &wanted
        && let Err(error) = collectives::begin(native, application_world, wanted)
    {
        if native.rank(native.world)? == 0 {
            log::error(&format!(
                "{error}; falling back to the MPI's own collectives for all of them"
            ));
            if decision.strict {
                abort(native);
            }
        }
        if decision.strict {
            return native.broadcast(native.world, &mut [0]);
        }
    }
    if let Some(places) = &decision.places {
        reorder::begin(places);
    }
    let changes = decision.permutation.is_some()
        || decision.collectives.is_some()
        || decision.places.is_some();
    if decision.recording.is_some() || changes {
        native.at_finalize(finish::on_finalize)?;
    }
    if let Some(recording) = &decision.recording {
        record::begin(recording.times, recording.window);
        parts::arm(recording, native.rank(application_world)?);
        keeper::start(recording, native.rank(application_world)?);
        signals::catch();
        exits::watch();
        errors::watch(native)?;
    } else if decision.permutation.is_some() {
        // Fatal errors on W' must end the job as those on the world do.
        errors::watch(native)?;
    }
    let _ = SESSION.set(Session { request, decision });
    Ok(())
}
