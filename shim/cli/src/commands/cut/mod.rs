//! `treepie cut`: all ranks at one cut at which no message is under way.
//!
//! ```text
//! job           a job that is started here: waves while it runs, what is left when it has ended
//! waves         one wave over a running job
//! members       its ranks on all hosts
//! coordinator   this command on another host, for the ranks there and of further hosts
//! here          the ranks of this host
//! then          the user's command, while all ranks are stopped
//! ```
//!
//! `treepie_jobstate::cut` decides which ranks have to go on before a cut is quiet.

mod coordinator;
mod here;
mod job;
mod members;
mod then;
mod waves;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use treepie_jobstate::pages::TICK;
use treepie_jobstate::waits::Rank;

use self::members::{Members, Which};
use self::waves::Waves;
use super::Outcome;
use super::options::{RunSettings, positive};
use super::why::{Chosen, named_base};
use crate::output;
use treepie_launch::error::CommandError;
use treepie_report::cut::{Left, WaveReport};
use treepie_report::input::pages::usual_base;

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
    /// Ranks run on these hosts, too: treepie there coordinates them, for all of them on the first
    /// one; once for each cluster
    #[arg(long, value_name = "HOST,...", value_parser = hosts)]
    cluster: Vec<Hosts>,
    /// Command that runs another on a host: called with the host, then the command
    #[arg(long, value_name = "COMMAND", default_value = "ssh")]
    remote_shell: String,
    /// Obey orders for the ranks of this host and those of --cluster
    #[arg(long, hide = true)]
    coordinate: bool,
    /// The number that the runs were given
    #[arg(long, hide = true, value_parser = hexadecimal)]
    given: Option<u64>,
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
        true if arguments.coordinate => coordinate(arguments),
        true => of_running(arguments),
    }
}

/// The hosts of a cluster.
#[derive(Debug, Clone)]
struct Hosts(Vec<String>);

fn hosts(text: &str) -> Result<Hosts, String> {
    let hosts: Vec<String> = text.split(',').map(|host| host.trim().to_owned()).collect();
    let is_name = |host: &String| !host.is_empty() && !host.starts_with('-');
    match hosts.iter().all(is_name) {
        true => Ok(Hosts(hosts)),
        false => Err(format!("`{text}` is no list of hosts; write n1,n2,n3")),
    }
}

fn hexadecimal(text: &str) -> Result<u64, String> {
    u64::from_str_radix(text, 16).map_err(|error| format!("`{text}`: {error}"))
}

/// Obeys orders for ranks.
fn coordinate(arguments: &Arguments) -> Outcome {
    let base = arguments.pages.clone().unwrap_or_else(usual_base);
    let run = arguments.job.as_deref().map(hexadecimal).transpose();
    let which = match (arguments.given, run.map_err(CommandError::usage)?) {
        (Some(given), _) => Which::Given(given),
        (None, Some(run)) => Which::Run(run),
        (None, None) => {
            return Err(CommandError::usage(
                "--coordinate: needs the number of a run",
            ));
        }
    };
    coordinator::serve(arguments.members(base, which)?)
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
    let run = chosen.run;
    let mut waves = arguments.waves(chosen.base, Which::Run(run))?;
    let (ranks, size) = waves.members.look()?;
    if size == 0 {
        return Err(CommandError::failed(format!(
            "run {run:016x} has no rank on this host or those of --cluster: it has ended, or keeps \
             its pages in another directory; name that with --pages"
        )));
    }
    if ranks.iter().any(|rank| rank.stop.is_none()) {
        return Err(CommandError::failed(format!(
            "run {run:016x}: its ranks can't be stopped, and don't count what they receive; {REMEDY}"
        )));
    }
    if ranks.len() < size {
        return Err(CommandError::failed(format!(
            "run {run:016x}: {} of its {size} ranks run on this host and those of --cluster; a cut \
             needs all of them",
            ranks.len()
        )));
    }
    if arguments.verify {
        return look(arguments, &mut waves.members, run);
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
fn look(arguments: &Arguments, members: &mut Members, run: u64) -> Outcome {
    let (first, size) = members.look()?;
    thread::sleep(2 * TICK);
    let (second, _) = members.look()?;
    if second.is_empty() {
        return Err(CommandError::failed(format!(
            "run {run:016x} has no rank on this host any more; there is nothing to look at"
        )));
    }
    if !treepie_jobstate::cut::are_alike(&first, &second) {
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
    fn members(&self, base: PathBuf, which: Which) -> Result<Members, CommandError> {
        let mut clusters: Vec<Vec<String>> = self
            .cluster
            .iter()
            .map(|cluster| cluster.0.clone())
            .collect();
        // Of a coordinator, each host of its own cluster is asked by itself.
        if self.coordinate {
            let hosts = clusters.into_iter().flatten();
            clusters = hosts.map(|host| vec![host]).collect();
        }
        let pages = named_base(&base)?;
        let remote = (&*self.remote_shell, pages.as_deref());
        Members::new(base, which, &clusters, remote)
    }

    fn waves(&self, base: PathBuf, which: Which) -> Result<Waves, CommandError> {
        Ok(Waves {
            members: self.members(base, which)?,
            patience: Duration::from_secs_f64(self.patience),
            then: self.then.clone(),
            limit: Duration::from_secs_f64(self.limit),
        })
    }
}

/// Whether a run's ranks may be stopped and none has ended, and all are there.
fn is_whole(ranks: &[Rank], size: usize) -> bool {
    let mut stops = ranks.iter().map(|rank| rank.stop.as_ref());
    ranks.len() == size && size > 0 && stops.all(|stop| stop.is_some_and(|stop| !stop.ended))
}
