//! `treepie cut`: all ranks at one cut at which no message is under way.
//!
//! ```text
//! job     a job that is started here: waves while it runs, what is left when it has ended
//! waves   one wave over a running job
//! then    the user's command, while all ranks are stopped
//! ```
//!
//! Who has to go on before a cut is quiet is decided in `treepie_core::cut`.

mod job;
mod then;
mod waves;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use treepie_core::files::pages::TICK;

use self::waves::Waves;
use super::Outcome;
use super::options::{RunSettings, positive};
use super::why::Chosen;
use crate::error::CommandError;
use crate::input::pages::Look;
use crate::output;
use crate::report::cut::{Left, WaveReport};

/// Stop all ranks where no message is under way, and run a command that saves the job; or verify
/// that every message is received
#[derive(Debug, Args)]
#[command(
    override_usage = "treepie cut [OPTIONS] -- mpirun -np 16 ./app ...\n       \
                            treepie cut [OPTIONS] [JOB]"
)]
pub struct Arguments {
    /// A running job, started with TREEPIE_CUT=true: the process number of its launcher or of a
    /// rank, or the number of the run or its beginning [default: the only one]
    #[arg(value_name = "JOB", conflicts_with = "command")]
    job: Option<String>,
    /// Make a wave every so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = positive, requires = "command")]
    every: Option<f64>,
    /// Make one wave as soon as all ranks are there
    #[arg(long, conflicts_with = "every")]
    now: bool,
    /// Command of the shell that saves the job while its ranks are stopped. It finds the number of
    /// the wave in TREEPIE_CUT_WAVE, the processes of the ranks in TREEPIE_CUT_PROCESSES
    #[arg(long, value_name = "COMMAND")]
    then: Option<String>,
    /// Let everybody go on when there is no quiet cut within so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = positive)]
    patience: f64,
    /// End the command after so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "3600", value_parser = positive)]
    limit: f64,
    /// Of a job that is started: fail where a message was never received, or a receive never
    /// completed. Of a running job: look at the counts without stopping anybody
    #[arg(long)]
    verify: bool,
    /// Directory of the pages, where TREEPIE_PAGES named one
    #[arg(long, value_name = "DIR")]
    pages: Option<PathBuf>,
    /// Print what happened as JSON, on standard output after the job's own
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: RunSettings,
    /// The job as it is usually started
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// What happened.
#[derive(Debug, Serialize)]
struct Answer {
    /// The waves in their order.
    waves: Vec<WaveReport>,
    /// What was under way at the end, or when it was looked at.
    left: Option<Left>,
}

/// Makes the waves, or verifies.
pub fn run(arguments: &Arguments) -> Outcome {
    match arguments.command.is_empty() {
        false => job::run(arguments),
        true => of_running(arguments),
    }
}

/// One wave over a running job, or a look at it.
fn of_running(arguments: &Arguments) -> Outcome {
    if arguments.verify && (arguments.now || arguments.then.is_some()) {
        return Err(CommandError::usage(
            "--verify stops nobody in a running job, --now and --then do; leave one of them out",
        ));
    }
    const REMEDY: &str = "start it with TREEPIE_CUT=true, or with `treepie cut -- mpirun ...`";
    let (pages, job) = (arguments.pages.as_deref(), arguments.job.as_deref());
    let chosen = Chosen::find(pages, job, REMEDY)?;
    let waves = arguments.waves(&chosen);
    let (ranks, size) = waves.look();
    if ranks.iter().any(|rank| rank.stop.is_none()) {
        return Err(CommandError::failed(format!(
            "run {:016x}: its ranks can't be stopped, and don't count what they receive; {REMEDY}",
            chosen.run
        )));
    }
    if ranks.len() < size {
        return Err(CommandError::failed(format!(
            "run {:016x}: {} of its {size} ranks run on this host; a cut needs all of them here",
            chosen.run,
            ranks.len()
        )));
    }
    if arguments.verify {
        return look(arguments, &waves);
    }
    let report = waves.make(1)?;
    let well = report.is_well();
    let text = format!("{}\n", report.text());
    let answer = Answer {
        waves: vec![report],
        left: None,
    };
    match arguments.json {
        true => output::print_json(&answer)?,
        false => output::print(&text)?,
    }
    Ok(ExitCode::from(u8::from(!well)))
}

/// Looks twice, without stopping anybody: what is alike in both is a consistent cut.
fn look(arguments: &Arguments, waves: &Waves) -> Outcome {
    let (first, size) = waves.look();
    thread::sleep(2 * TICK);
    let (second, _) = waves.look();
    if second.is_empty() {
        return Err(CommandError::failed(format!(
            "run {:016x} has no rank on this host any more; there is nothing to look at",
            waves.run
        )));
    }
    if !treepie_core::cut::are_alike(&first, &second) {
        return Err(CommandError::failed(
            "ranks made calls while they were looked at, so that their counts are of no one cut; \
             leave --verify out, and they are stopped",
        ));
    }
    let left = Left::new(&second, size);
    let text = left.text();
    match arguments.json {
        true => output::print_json(&Answer {
            waves: Vec::new(),
            left: Some(left),
        })?,
        false => output::print(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Arguments {
    fn waves(&self, chosen: &Chosen) -> Waves {
        Waves {
            base: chosen.base.clone(),
            run: chosen.run,
            patience: Duration::from_secs_f64(self.patience),
            then: self.then.clone(),
            limit: Duration::from_secs_f64(self.limit),
        }
    }
}

/// Whether a run's ranks may be stopped and none has ended, and all are there.
fn is_whole(look: &Look) -> bool {
    let size = look.any().map_or(0, |page| page.ranks);
    let mut states = look
        .sightings
        .values()
        .map(|sighting| sighting.page.state.stop.as_ref());
    look.sightings.len() == size
        && size > 0
        && states.all(|stop| stop.is_some_and(|stop| !stop.ended))
}
