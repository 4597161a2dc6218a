//! `MPI_Init` and `MPI_Init_thread`: the native MPI starts, then Treepie carries out the settings,
//! the same on every rank.

use std::fmt;
use std::time::{Duration, Instant};

use treepie_base::{List, Rank, Slice};
use treepie_jobstate::order::Log;
use treepie_mpi::native::Native;
use treepie_mpi::share::{Group, Members, ShareError, share};
use treepie_mpi::{SUCCESS, Word, c_int};
use treepie_process::guard::guarded;
use treepie_process::log;

use super::decision::{Decision, Next, Opening, Plan};
use super::draft::Draft;
use super::launched::launcher_says_first;
use super::parts::{PARTS, Start, abort};
use super::request::Request;
use super::state::State;
use super::tuning::{self, AppliedTuning};
use super::{finish, hosts, site};

/// `MPI_Init`.
///
/// # Safety
/// The caller keeps the contract of `MPI_Init`.
pub unsafe fn init(
    next: unsafe extern "C-unwind" fn(Word, Word) -> c_int,
    argc: Word,
    argv: Word,
) -> c_int {
    let told = tuning::tell();
    // SAFETY: the caller's promise.
    started(unsafe { next(argc, argv) }, told)
}

/// `MPI_Init_thread`.
///
/// # Safety
/// The caller keeps the contract of `MPI_Init_thread`.
pub unsafe fn init_thread(
    next: unsafe extern "C-unwind" fn(Word, Word, Word, Word) -> c_int,
    argc: Word,
    argv: Word,
    required: Word,
    provided: Word,
) -> c_int {
    let told = tuning::tell();
    // SAFETY: the caller's promise.
    started(unsafe { next(argc, argv, required, provided) }, told)
}

/// Starts the session after the first successful initialisation. If tools are stacked this is the
/// innermost call, so that they see one world as well.
fn started(code: c_int, told: Option<AppliedTuning>) -> c_int {
    if let Some(told) = told {
        told.started(code == SUCCESS);
    }
    if code == SUCCESS && State::begin() {
        let mut agreed = None;
        if site::is_asked_for() {
            guarded("starting", || agreed = start());
        }
        State::started(agreed);
    }
    code
}

/// Returns the decision of all ranks; `None` if they could not agree on one.
fn start() -> Option<Decision> {
    let native = match Native::load() {
        Ok(native) => native,
        Err(error) => {
            if launcher_says_first() {
                log::error(&error.to_string());
            }
            return None;
        }
    };
    let agreed = Starting::new(native).and_then(Starting::run);
    if let Err(error) = &agreed
        && error.is_reported_here()
    {
        log::error(&format!(
            "{error}; the job runs as it would without treepie"
        ));
    }
    agreed.ok()
}

/// Session whose ranks have no decision yet.
struct Starting {
    native: &'static Native,
    /// All ranks, in the launcher's numbering.
    world: Members<'static>,
}

impl Starting {
    fn new(native: &'static Native) -> Result<Self, ShareError> {
        let world = Members::new(native, native.world)?;
        Ok(Starting { native, world })
    }

    /// Obtains the decision, and begins to carry it out.
    fn run(self) -> Result<Decision, ShareError> {
        if self.native.has_parent()? {
            // Spawned jobs inherit the environment; its files belong to the parent.
            log::info("this job was spawned by another: it is neither replayed nor profiled");
            return Ok(Decision::Plain);
        }
        let (mut decision, logs) = self.agree()?;
        match &mut decision {
            Decision::Plain => (),
            Decision::Abort => abort(self.native, &self.world)?,
            Decision::Do(plan) => self.begin(plan, &logs)?,
        }
        Ok(decision)
    }

    /// Returns the decision of all ranks. Process 0 decides, and has the logs of an order that is
    /// replayed.
    fn agree(&self) -> Result<(Decision, List<Rank, Log>), ShareError> {
        let mut steps = Steps::new();
        let (mut draft, mut opening, mut logs) = (None, None, List::new());
        if self.world.rank() == 0 {
            let read = Request::read(self.native, self.world.size());
            steps.ended("files read");
            logs = read.logs;
            let next = match read.request {
                Request::Decided(decision) => Next::Adopt(decision),
                Request::Draft(made) => {
                    draft = Some(made);
                    Next::Look
                }
            };
            opening = Some(Opening {
                log: read.log,
                next,
            });
        }
        let opening = share(&self.world, opening)?;
        log::set_level(opening.log);
        let decision = match opening.next {
            Next::Adopt(decision) => decision,
            Next::Look => self.look(draft, steps)?,
        };
        Ok((decision, logs))
    }

    /// Returns the decision of all ranks, after process 0, which alone has a draft, has gathered
    /// their locations.
    fn look(&self, draft: Option<Box<Draft>>, mut steps: Steps) -> Result<Decision, ShareError> {
        let (processes, inputs) = hosts::processes(self.native, &self.world)?;
        steps.ended("processes heard of");
        let wanted = draft.as_deref().map(|draft| draft.wants(&processes));
        let facts = hosts::facts(&self.world, &processes, wanted.unwrap_or_default())?;
        steps.ended("hardware read");
        let settled = draft.map(|draft| draft.settle(&processes, &inputs, &facts));
        steps.ended("placed");
        let decision = share(&self.world, settled)?;
        steps.ended("told to all");
        if self.world.rank() == 0 {
            log::info(&format!("replay of {} ranks: {steps}", self.world.size()));
        }
        Ok(decision)
    }

    /// Begins the plan that all ranks have agreed on, part by part.
    fn begin(&self, plan: &mut Plan, logs: &Slice<Rank, Log>) -> Result<(), ShareError> {
        let mut start = Start {
            native: self.native,
            processes: &self.world,
            plan,
            logs,
            on_finalize: finish::on_finalize,
        };
        PARTS.iter().try_for_each(|part| part.begin(&mut start))
    }
}

/// Duration of each step of a start, on one process.
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
