//! Arguments of `treepie supervise`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use treepie_base::time;
use treepie_launch::error::CommandError;
use treepie_launch::{self, allocation};
use treepie_resilience::supervision::{Host, Limits};

use crate::commands::options::{Printing, RunSettings, positive};
use crate::commands::supervise::words::words;

/// Placeholder for the newest checkpoint in the restart command.
pub const LAST: &str = "{last}";

/// Run a job, and run it again on the remaining hosts if it dies
#[derive(Debug, Args)]
#[command(override_usage = "treepie supervise [OPTIONS] -- mpirun -np 16 ./app ...")]
pub struct Arguments {
    /// Command of the attempts after the first, as one word for the shell; {last} is replaced by
    /// the newest checkpoint [default: the command of the first]
    #[arg(long, value_name = "COMMAND", value_parser = words)]
    pub(crate) restart: Option<RestartCommand>,
    /// Files from which the application restarts; * and ? match characters of a name
    #[arg(long, value_name = "PATTERN")]
    pub(crate) checkpoint_files: Option<PathBuf>,
    /// Checkpoints are on the hosts' own disks: ranks stay on their hosts, and a spare host
    /// replaces a lost one
    #[arg(long, conflicts_with = "placement")]
    pub(crate) local: bool,
    /// Placement or profile to run with, like `treepie replay`; a profile is placed again on the
    /// remaining hosts
    #[arg(long, value_name = "FILE")]
    pub(crate) placement: Option<PathBuf>,
    /// Hosts and the ranks that each takes, such as n[1-4]:16, spare hosts last [default: those of
    /// the scheduler]
    #[arg(long, value_name = "HOSTS", value_parser = allocation::named)]
    pub(crate) hosts: Option<HostList>,
    /// Maximum number of ranks on a host if too few hosts are left [default: as before]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) ranks_per_host: Option<u32>,
    /// Maximum number of attempts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) attempts: u32,
    /// Start no attempt after this time
    #[arg(long, value_name = "TIME", value_parser = positive)]
    time_limit: Option<Duration>,
    /// Wait for this time before the next attempt
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = time::parse)]
    pub(crate) pause: Duration,
    /// An attempt that ends within this time, without a new checkpoint, has failed immediately
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time::parse)]
    at_once: Duration,
    /// End an attempt that has written no checkpoint for this time; without --checkpoint-files,
    /// one whose ranks have made no MPI call, according to their pages
    #[arg(long, value_name = "TIME", value_parser = positive)]
    pub(crate) stall: Option<Duration>,
    /// A host that does not answer within this time is lost
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = positive)]
    pub(crate) host_timeout: Duration,
    /// Directory for the log and the profiles of all attempts, shared by all hosts [default:
    /// treepie-supervise-PID]
    #[arg(long, short, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) printing: Printing,
    #[command(flatten)]
    pub(crate) settings: RunSettings,
    /// The usual command line of the job
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

impl Arguments {
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            attempts: self.attempts as usize,
            time: self.time_limit,
            at_once: self.at_once,
        }
    }

    /// The commands of all attempts.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &[OsString]> {
        [Some(&self.command), self.restart.as_ref()]
            .into_iter()
            .flatten()
            .map(Vec::as_slice)
    }

    /// Refuses a restart command that cannot be started.
    pub(crate) fn check_restart(&self) -> Result<(), CommandError> {
        let Some(restart) = &self.restart else {
            return Ok(());
        };
        let names_last = restart
            .iter()
            .any(|word| word.to_string_lossy().contains(LAST));
        if names_last && self.checkpoint_files.is_none() {
            return Err(CommandError::usage(
                "--restart: {last} is the newest of the files that --checkpoint-files names; give that too",
            ));
        }
        let none: [(&str, OsString); 0] = [];
        treepie_launch::prepare(restart, &none).map(|_| ())
    }
}

pub(crate) type RestartCommand = Vec<OsString>;

pub(super) type HostList = Vec<Host>;
