//! `MPI_Init` and `MPI_Init_thread`: the native MPI starts, then Treepie does what the
//! settings ask for, the same on every rank.

use std::time::{Duration, Instant};
use std::{env, fmt, thread};

use treepie_jobstate::order::Log;
use treepie_mpi::native::Native;
use treepie_mpi::share::{Group, Members, ShareError, gather_to_all, share};
use treepie_mpi::{Comm, SUCCESS, Word, c_int};
use treepie_plans as collectives;
use treepie_process::guard::guarded;
use treepie_process::log;
use treepie_record::page::{self, Run};
use treepie_record::{self as record, collect};

use super::decision::{Decision, Next, Opening, Order, OrderWay, Pages, Recording, Replay};
use super::launched::launcher_says_first;
use super::request::{Draft, Request};
use super::tuning::{self, Told};
use super::{
    State, errors, exits, finish, hosts, learning, meeting, monitor, partial, redundancy, signals,
};
use crate::binding::bind_this_thread;
use crate::order::Manner;
use crate::{one_sided, order, reorder, world};

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

/// Starts the session after the first successful initialisation. Where tools are
/// stacked this is the innermost call, so that they see one world as well.
fn started(code: c_int, told: Option<Told>) -> c_int {
    if let Some(told) = told {
        told.started(code == SUCCESS);
    }
    if code == SUCCESS && State::begin() {
        let mut agreed = None;
        if is_asked_for() {
            guarded("starting", || agreed = start());
        }
        State::started(agreed);
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

/// What all ranks do from now on; nothing where they could not agree on it.
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
        && error.is_told_here()
    {
        log::error(&format!(
            "{error}; the job runs as it would without treepie"
        ));
    }
    agreed.ok()
}

/// What ranks do beside what was decided.
struct Further {
    pages: Option<Pages>,
    order: Option<Order>,
}

/// A session whose ranks do not know yet what to do.
struct Starting {
    native: &'static Native,
    /// All ranks, as the launcher has numbered them.
    world: Members<'static>,
}

impl Starting {
    fn new(native: &'static Native) -> Result<Self, ShareError> {
        let world = Members::new(native, native.world)?;
        Ok(Starting { native, world })
    }

    /// Does what is asked for, from now on until the job ends.
    fn run(self) -> Result<Decision, ShareError> {
        if self.native.has_parent()? {
            // Spawned jobs inherit the environment; its files are the parent's.
            log::info("this job was spawned by another: it is neither replayed nor profiled");
            return Ok(Decision::Plain);
        }
        let (mut decision, further, logs) = self.agree()?;
        self.adopt(&mut decision, further, &logs)?;
        Ok(decision)
    }

    /// What all ranks do, and what they do beside it. Process 0 decides, and has the logs of an
    /// order that is replayed.
    fn agree(&self) -> Result<(Decision, Further, Vec<Log>), ShareError> {
        let mut steps = Steps::new();
        let (mut draft, mut opening, mut logs) = (None, None, Vec::new());
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
                pages: read.pages,
                order: read.order,
            });
        }
        let opening = share(&self.world, opening)?;
        log::set_level(opening.log);
        let decision = match opening.next {
            Next::Adopt(decision) => decision,
            Next::Look => self.look(draft, steps)?,
        };
        let further = Further {
            pages: opening.pages,
            order: opening.order,
        };
        Ok((decision, further, logs))
    }

    /// What all ranks do, once process 0, which alone has a draft, knows where they are.
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

    /// Does what all ranks have agreed on.
    fn adopt(
        &self,
        decision: &mut Decision,
        further: Further,
        logs: &[Log],
    ) -> Result<(), ShareError> {
        let native = self.native;
        let Further { pages, order } = further;
        let world = match decision {
            Decision::Plain => return Ok(()),
            Decision::Abort => return self.abort(),
            Decision::Profile(_) => native.world,
            Decision::Replay(replay) => self.rearrange(replay)?,
        };
        if decision.recording().is_some() || pages.is_some() || order.is_some() {
            collect::prepare(native, world)?;
        }
        if let Decision::Replay(replay) = decision {
            self.replace(replay, world)?;
        }
        if let Some(recording) = decision.recording_mut() {
            // Known now, and the same on all ranks.
            recording.run.locality = locality_text();
        }
        if decision.needs_an_end() || order.is_some() {
            native.at_finalize(finish::on_finalize)?;
        }
        if decision.collects() || order.as_ref().is_some_and(Order::is_recorded) {
            meeting::prepare(native)?;
        }
        if let Some(recording) = decision.recording() {
            let rank = native.rank(world)?;
            record::begin(recording.times, recording.interval);
            if !recording.for_store {
                if recording.parts {
                    partial::arm(recording, rank);
                }
                monitor::start(recording, rank);
                signals::catch();
                exits::watch();
            }
            errors::watch(native)?;
        } else if world != native.world {
            // Fatal errors on W' must end the job as those on the world do.
            errors::watch(native)?;
        }
        if let Some(pages) = pages {
            self.keep_page(&pages, decision.recording())?;
        }
        if let Some(order) = order {
            self.follow(order, decision, world, logs)?;
        }
        if matches!(decision, Decision::Replay(replay) if replay.learns) {
            learning::keep_platform();
            learning::begin();
        }
        Ok(())
    }

    /// Records or replays the order of receives. Calls are counted then, whether or not there is a
    /// profile: communicators are known by that.
    fn follow(
        &self,
        order: Order,
        decision: &Decision,
        world: Comm,
        logs: &[Log],
    ) -> Result<(), ShareError> {
        if decision.recording().is_none() {
            record::begin(false, None);
        }
        if let Some(seed) = order.delays {
            record::begin_delays(seed);
        }
        let rank = self.native.rank(world)?;
        match order.way {
            OrderWay::Record(path, of) => {
                order::record(self.native, &self.world, (path, of.0, of.1), rank)?;
            }
            OrderWay::Replay {
                patience,
                after_end,
            } => {
                let new_rank = match decision {
                    Decision::Replay(replay) => replay.permutation.as_deref(),
                    _ => None,
                };
                let rank_of = |process: usize| match new_rank {
                    Some(new_rank) => new_rank[process] as usize,
                    None => process,
                };
                let logs = (self.world.rank() == 0).then_some(logs);
                let log = order::distribute(&self.world, logs, rank_of)?;
                let manner = Manner {
                    patience,
                    after_end,
                };
                order::replay(self.native, rank, &log, manner)?;
            }
        }
        Ok(())
    }

    /// Keeps this rank's page. Its calls are counted then, whether or not there is a profile. A
    /// rank without a page is said, and harms nobody.
    fn keep_page(&self, pages: &Pages, recording: Option<&Recording>) -> Result<(), ShareError> {
        if recording.is_none() {
            record::begin(false, None);
        }
        let run = Run {
            directory: pages.directory.as_deref(),
            number: pages.run,
            given: pages.given,
            ranks: self.world.size(),
            world: world::of_application(self.native),
            stops: pages.stops,
        };
        let begun = page::begin(self.native, &run);
        if begun.is_ok() && recording.is_none_or(|recording| recording.for_store) {
            exits::watch();
        }
        self.warn_once(begun.err().map(|error| error.to_string()))
    }

    /// Says what hinders this rank, unless it hinders one before it, too. Collective.
    fn warn_once(&self, problem: Option<String>) -> Result<(), ShareError> {
        let hindered = self.world.allgather(u8::from(problem.is_some()))?;
        if hindered.contains(&1) {
            let all = gather_to_all(&self.world, &problem)?;
            let first = all.iter().position(|other| *other == problem);
            if let Some(problem) = problem
                && first == Some(self.world.rank())
            {
                log::warn(&problem);
            }
        }
        Ok(())
    }

    /// Binds the processes and gives them new ranks. The application's world is returned.
    fn rearrange(&self, replay: &Replay) -> Result<Comm, ShareError> {
        let process = self.world.rank();
        if let Some(&core) = replay.cores.as_ref().and_then(|cores| cores.get(process)) {
            bind_this_thread(core as usize);
        }
        if let Some(new_rank) = &replay.permutation {
            world::install(self.native, new_rank)?;
            if process == 0 {
                redundancy::tell_of_moved_sets(new_rank);
            }
        }
        Ok(world::of_application(self.native))
    }

    /// Replaces collectives, and has communicators reordered.
    fn replace(&self, replay: &Replay, world: Comm) -> Result<(), ShareError> {
        if let Some(wanted) = &replay.collectives {
            let wanted = match &replay.permutation {
                Some(new_rank) => wanted.clone().renumbered(new_rank),
                None => wanted.clone(),
            };
            if let Err(error) = collectives::begin(self.native, world, &wanted) {
                if self.world.rank() == 0 {
                    log::error(&format!(
                        "{error}; falling back to the MPI's own collectives for all of them"
                    ));
                }
                if replay.strict {
                    self.abort()?;
                }
            }
        }
        if let Some(places) = &replay.places {
            reorder::begin(places);
        }
        if let Some(gathering) = &replay.gathers {
            one_sided::begin(gathering);
        }
        Ok(())
    }

    /// Ends the job before the application starts: process 0, which has said why, does it, the
    /// others wait for that, and no rank returns to the application.
    fn abort(&self) -> Result<(), ShareError> {
        if self.world.rank() == 0 {
            // Hydra drops what it has not passed on yet of a process's output when the
            // process aborts: the reason would be lost.
            thread::sleep(Duration::from_millis(200));
            self.native.abort(2);
        }
        Ok(self.world.broadcast(&mut [0])?)
    }
}

/// Where plans see the ranks, as profiles have it.
fn locality_text() -> Option<String> {
    let text = treepie_profile::locality_text(collectives::locality()?);
    text.inspect_err(|error| log::error(&error.to_string()))
        .ok()
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
