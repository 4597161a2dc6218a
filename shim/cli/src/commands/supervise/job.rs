//! A supervised job, checked as far as possible before it starts.

use std::path::{Path, PathBuf};

use treepie_launch::error::CommandError;
use treepie_launch::family::{Family, Launcher};
use treepie_launch::{self, allocation, ranks};
use treepie_profile::any::Replayable;
use treepie_resilience::supervision::Roster;

use crate::commands::options::absolute_path;
use crate::commands::supervise::arguments::Arguments;
use crate::commands::supervise::log::Log;

// clap takes a bare `Vec` for an option that is repeated.

/// A supervised job, checked as far as possible before it starts.
pub(super) struct Job<'a> {
    pub(crate) arguments: &'a Arguments,
    pub(crate) launcher: Launcher,
    /// Number of its ranks, if needed and known.
    pub(crate) ranks: usize,
    /// The hosts to choose from; `None` if only the launcher knows them.
    pub(crate) roster: Option<Roster>,
    pub(crate) placement: Option<(PathBuf, Replayable)>,
    pub(crate) record: PathBuf,
    pub(crate) log: Log,
}

impl<'a> Job<'a> {
    pub(crate) fn new(arguments: &'a Arguments) -> Result<Self, CommandError> {
        let launcher = Launcher::detect(&arguments.command)?;
        for command in arguments.commands() {
            require_launcher(&Launcher::detect(command)?)?;
        }
        arguments.check_restart()?;
        let ranks = ranks::for_job(&launcher, &arguments.command);
        let placement = match &arguments.placement {
            Some(path) => Some((absolute_path(path)?, Replayable::read(path)?)),
            None => None,
        };
        if let (Some((path, file)), Some(ranks)) = (&placement, ranks) {
            file.require_ranks(path, ranks)?;
        }
        let roster = roster(arguments, &launcher, ranks)?;
        let record = match &arguments.output {
            Some(path) => absolute_path(path)?,
            None => absolute_path(Path::new(&format!(
                "treepie-supervise-{}",
                std::process::id()
            )))?,
        };
        // The log of a job that cannot be started would block the next.
        treepie_launch::prepare(
            &arguments.command,
            &arguments.settings.variables(Vec::new())?,
        )?;
        let log = Log::new(&record, arguments.printing.quiet)?;
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

/// Requires a launcher: a program or script alone chooses the hosts of its ranks itself.
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
pub(super) fn roster(
    arguments: &Arguments,
    launcher: &Launcher,
    ranks: Option<usize>,
) -> Result<Option<Roster>, CommandError> {
    let of_scheduler = || allocation::of_scheduler().filter(|hosts| !hosts.is_empty());
    let Some(hosts) = arguments.hosts.clone().or_else(of_scheduler) else {
        return if arguments.local {
            Err(CommandError::usage(
                "--local: no hosts are known; name them with --hosts, spare hosts last",
            ))
        } else {
            Ok(None)
        };
    };
    let mut commands = arguments.commands();
    if let Some(option) = commands.find_map(|one| allocation::contradiction(launcher.family, one)) {
        return match arguments.hosts {
            Some(_) => Err(CommandError::usage(format!(
                "{option}: names hosts, as --hosts does; remove one of them"
            ))),
            // The user chooses; the scheduler's list does not matter.
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
