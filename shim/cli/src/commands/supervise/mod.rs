//! `treepie supervise`: runs a job again that died, on the hosts that are left, from its newest
//! checkpoint.
//!
//! ```text
//! supervisor  the loop: an attempt, its facts, what follows
//! found       checkpoints on disk; whether an attempt stands still
//! words       the restart command as words
//! log         what happened, in plain words
//! ```
//!
//! `treepie_resilience::supervision` decides what an end means and what follows.

mod found;
mod log;
mod supervisor;
mod words;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use treepie_profile::any::Replayable;
use treepie_resilience::supervision::{Host, Limits, Roster};

use self::log::Log;
use self::supervisor::Supervisor;
use self::words::words;
use super::Outcome;
use super::options::{RunSettings, absolute_path, as_usage, positive, seconds};
use crate::output;
use treepie_launch::error::CommandError;
use treepie_launch::family::{Family, Launcher};
use treepie_launch::signals::{OF_SCHEDULERS, Signals};
use treepie_launch::{self, allocation, ranks};

/// Run a job, and run it again on the hosts that are left when it dies
#[derive(Debug, Args)]
#[command(override_usage = "treepie supervise [OPTIONS] -- mpirun -np 16 ./app ...")]
pub struct Arguments {
    /// Command of the attempts after the first, as one word for the shell; {last} stands for the
    /// newest checkpoint [default: the command of the first]
    #[arg(long, value_name = "COMMAND", value_parser = words)]
    restart: Option<Words>,
    /// Files that the application restarts from; * and ? stand for letters of a name
    #[arg(long, value_name = "PATTERN")]
    checkpoints: Option<PathBuf>,
    /// Checkpoints are on the hosts' own disks: ranks stay on their hosts, and a spare host takes
    /// the place of a lost one
    #[arg(long, conflicts_with = "placement")]
    local: bool,
    /// Placement or profile to run with, as for `treepie replay`; a profile is placed anew on the
    /// hosts that are left
    #[arg(long, value_name = "FILE")]
    placement: Option<PathBuf>,
    /// Hosts and the ranks that each takes, such as n[1-4]:16, spare hosts last [default: those of
    /// the scheduler]
    #[arg(long, value_name = "HOSTS", value_parser = allocation::named)]
    hosts: Option<Hosts>,
    /// Ranks that a host takes at most when too few hosts are left [default: as before]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    ranks_per_host: Option<u32>,
    /// Attempts in all
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    attempts: u32,
    /// Start no attempt after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    time: Option<f64>,
    /// Wait so many seconds before the next attempt
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pause: f64,
    /// An attempt that ends within so many seconds, without a new checkpoint, has failed at once
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    at_once: f64,
    /// End an attempt that has written no checkpoint for so many seconds; without --checkpoints,
    /// one whose ranks have made no MPI call, as their pages have it
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    stall: Option<f64>,
    /// A host that does not answer within so many seconds is lost
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = positive)]
    answer: f64,
    /// Directory for the log and the profiles of all attempts, which all hosts see [default:
    /// treepie-supervise-PID]
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Print what happened as JSON, on standard output after the job's own
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: RunSettings,
    /// The job as it is usually started
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

// clap takes a bare `Vec` for an option that is repeated.
type Words = Vec<OsString>;
type Hosts = Vec<Host>;

/// A supervised job, checked as far as it can be before it starts.
struct Job<'a> {
    arguments: &'a Arguments,
    launcher: Launcher,
    /// Its ranks, where they matter and are known.
    ranks: usize,
    /// The hosts to choose from; none where the launcher alone knows them.
    roster: Option<Roster>,
    placement: Option<(PathBuf, Replayable)>,
    record: PathBuf,
    log: Log,
}

/// Runs the job until it is finished or given up.
pub fn run(arguments: &Arguments) -> Outcome {
    let job = Job::new(arguments)?;
    let signals = Signals::take_over(OF_SCHEDULERS)?;
    let supervised = Supervisor::new(job, &signals)?.run()?;
    if arguments.json {
        output::print_json(&supervised)?;
    }
    Ok(ExitCode::from(supervised.status))
}

impl Arguments {
    fn limits(&self) -> Limits {
        Limits {
            attempts: self.attempts as usize,
            time: self.time.map(Duration::from_secs_f64),
            at_once: Duration::from_secs_f64(self.at_once),
        }
    }

    /// The commands of all attempts.
    fn commands(&self) -> impl Iterator<Item = &[OsString]> {
        [Some(&self.command), self.restart.as_ref()]
            .into_iter()
            .flatten()
            .map(Vec::as_slice)
    }

    /// Refuses a restart command that cannot be started.
    fn check_restart(&self) -> Result<(), CommandError> {
        let Some(restart) = &self.restart else {
            return Ok(());
        };
        let names_last = restart
            .iter()
            .any(|word| word.to_string_lossy().contains(supervisor::LAST));
        if names_last && self.checkpoints.is_none() {
            return Err(CommandError::usage(
                "--restart: {last} is the newest of the files that --checkpoints names; give that too",
            ));
        }
        treepie_launch::prepare(restart, &[]).map(|_| ())
    }
}

impl<'a> Job<'a> {
    fn new(arguments: &'a Arguments) -> Result<Self, CommandError> {
        let launcher = Launcher::detect(&arguments.command)?;
        for command in arguments.commands() {
            require_launcher(&Launcher::detect(command)?)?;
        }
        arguments.check_restart()?;
        let ranks = ranks::for_job(&launcher, &arguments.command);
        let placement = match &arguments.placement {
            Some(path) => Some((
                absolute_path(path)?,
                Replayable::read(path).map_err(as_usage)?,
            )),
            None => None,
        };
        if let (Some((path, file)), Some(ranks)) = (&placement, ranks) {
            file.require_ranks(path, ranks).map_err(as_usage)?;
        }
        let roster = roster(arguments, &launcher, ranks)?;
        let record = match &arguments.record {
            Some(path) => absolute_path(path)?,
            None => absolute_path(Path::new(&format!(
                "treepie-supervise-{}",
                std::process::id()
            )))?,
        };
        // A log of a job that can't be started would be in the way of the next.
        treepie_launch::prepare(
            &arguments.command,
            &arguments.settings.variables(Vec::new())?,
        )?;
        let log = Log::new(&record, arguments.settings.quiet)?;
        Ok(Job {
            arguments,
            launcher,
            ranks: ranks.unwrap_or(1),
            roster,
            placement,
            record,
            log,
        })
    }
}

/// A program or script alone starts its ranks where nobody else decides.
fn require_launcher(launcher: &Launcher) -> Result<(), CommandError> {
    match launcher.family {
        Family::Plain => Err(CommandError::usage(format!(
            "{}: is no launcher that is known; give mpirun, mpiexec or srun itself",
            launcher.path.display()
        ))),
        _ => Ok(()),
    }
}

/// The hosts to choose from, those of the user or of the scheduler.
fn roster(
    arguments: &Arguments,
    launcher: &Launcher,
    ranks: Option<usize>,
) -> Result<Option<Roster>, CommandError> {
    let of_scheduler = || allocation::of_scheduler().filter(|hosts| !hosts.is_empty());
    let Some(hosts) = arguments.hosts.clone().or_else(of_scheduler) else {
        return match arguments.local {
            true => Err(CommandError::usage(
                "--local: no hosts are known; name them with --hosts, spare hosts last",
            )),
            false => Ok(None),
        };
    };
    let mut commands = arguments.commands();
    if let Some(option) = commands.find_map(|one| allocation::contradiction(launcher.family, one)) {
        return match arguments.hosts {
            Some(_) => Err(CommandError::usage(format!(
                "{option}: names hosts, as --hosts does; remove one of them"
            ))),
            // The user chooses; the scheduler's list says nothing of that.
            None => Ok(None),
        };
    }
    let Some(ranks) = ranks else {
        return match arguments.hosts {
            Some(_) => Err(CommandError::usage(
                "--hosts: the number of ranks is not known; give it to the launcher with -n",
            )),
            None => Ok(None),
        };
    };
    let most = arguments.ranks_per_host.map(|most| most as usize);
    let roster = Roster::new(hosts, most, arguments.local);
    match roster.clone().choose(ranks) {
        Ok(_) => Ok(Some(roster)),
        Err(error) if arguments.hosts.is_some() => {
            Err(CommandError::usage(format!("--hosts: {error}")))
        }
        Err(_) => Ok(None),
    }
}
