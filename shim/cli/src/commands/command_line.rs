//! Command line: its subcommands, and the functions that run them.

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use treepie_launch::error::CommandError;

use crate::commands::groups::grouped;
use crate::commands::outcome::Outcome;
use crate::commands::{
    compare, completions, convert, cut, doctor, exec, help, hosts, learning, manual, map, predict,
    probe, profile, prove, read_hwloc_file, reference, replay, report, show, supervise, tune, why,
};

/// Version of the package, and the commit from which it was built, if known.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), env!("COMMIT_OF_BUILD"));

/// Measures the traffic between the ranks of an MPI job, computes the core for each rank, and runs
/// the same program again with this placement.
#[derive(Debug, Parser)]
#[command(
    name = "treepie",
    version = VERSION,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
#[command(after_help = "\
The usual way:
  treepie profile -o app.profile.yaml -- mpirun -np 16 ./app
  treepie map app.profile.yaml --topology 4:2:2
  treepie replay app.placement.yaml -- mpirun -np 16 ./app

`treepie COMMAND --help` lists the options, `treepie help TOPIC` shows a page of the book:
placement, hangs, tuning, modules, support, variables, ...; `treepie help` lists all.")]
pub struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Profile(profile::Arguments),
    Map(Box<map::Arguments>),
    Replay(replay::Arguments),
    Exec(exec::Arguments),
    Hosts(hosts::Arguments),
    Run(learning::run::Arguments),
    History(learning::history::Arguments),
    Forget(learning::forget::Arguments),
    Prove(prove::Arguments),
    Supervise(supervise::Arguments),
    Cut(cut::Arguments),
    Show(show::Arguments),
    Report(report::Arguments),
    Compare(compare::Arguments),
    Convert(convert::Arguments),
    Doctor(doctor::Arguments),
    Probe(probe::Arguments),
    Predict(predict::Arguments),
    Tune(tune::Arguments),
    Why(why::Arguments),
    Completions(completions::Arguments),
    Manual(manual::Arguments),
    Help(help::Arguments),
    #[command(hide = true)]
    ReadHwlocFile(read_hwloc_file::Arguments),
    #[command(hide = true)]
    Reference(reference::Arguments),
}

/// The command as shown to users: internal subcommands are left out.
fn for_users() -> clap::Command {
    let all = CommandLine::command();
    let shown = all.get_subcommands().filter(|one| !one.is_hide_set());
    let mut command = clap::Command::new("treepie")
        .version(VERSION)
        .disable_help_subcommand(true)
        .subcommands(shown.cloned());
    if let Some(about) = all.get_about() {
        command = command.about(about.clone());
    }
    if let Some(way) = all.get_after_help() {
        command = command.after_help(way.clone());
    }
    command
}

impl CommandLine {
    /// Reads the arguments of this process.
    ///
    /// # Errors
    /// Errors of clap, which are also its help and its version.
    pub fn read() -> Result<Self, clap::Error> {
        let matches = grouped(CommandLine::command()).try_get_matches()?;
        CommandLine::from_arg_matches(&matches)
    }

    /// The subcommand that the arguments of this process name.
    pub fn named() -> Option<String> {
        let mut words = std::env::args_os().skip(1).map(|word| word.into_string());
        let name = words.next()?.ok()?;
        CommandLine::command().find_subcommand(&name)?;
        Some(name)
    }

    /// Runs the subcommand.
    ///
    /// # Errors
    /// Returns the error that stops it.
    pub fn run(self) -> Outcome {
        let runs_job = self.command.runs_job();
        let outcome = self.command.run();
        match runs_job {
            true => outcome.map_err(CommandError::beside_job),
            false => outcome,
        }
    }
}

impl Command {
    /// True if its exit status is that of a job.
    fn runs_job(&self) -> bool {
        match self {
            Command::Profile(_) | Command::Replay(_) | Command::Run(_) => true,
            Command::Supervise(_) | Command::Exec(_) => true,
            Command::Cut(arguments) => !arguments.command.is_empty(),
            _ => false,
        }
    }

    fn run(self) -> Outcome {
        match self {
            Command::Profile(arguments) => profile::run(&arguments),
            Command::Map(arguments) => map::run(&arguments),
            Command::Replay(arguments) => replay::run(&arguments),
            Command::Exec(arguments) => exec::run(&arguments),
            Command::Hosts(arguments) => hosts::run(&arguments),
            Command::Run(arguments) => learning::run::run(&arguments),
            Command::History(arguments) => learning::history::run(&arguments),
            Command::Forget(arguments) => learning::forget::run(&arguments),
            Command::Prove(arguments) => prove::run(&arguments),
            Command::Supervise(arguments) => supervise::run(&arguments),
            Command::Cut(arguments) => cut::run(&arguments),
            Command::Show(arguments) => show::run(&arguments),
            Command::Report(arguments) => report::run(&arguments),
            Command::Compare(arguments) => compare::run(&arguments),
            Command::Convert(arguments) => convert::run(&arguments),
            Command::Doctor(arguments) => doctor::run(&arguments),
            Command::Probe(arguments) => probe::run(&arguments),
            Command::Predict(arguments) => predict::run(&arguments),
            Command::Tune(arguments) => tune::run(&arguments),
            Command::Why(arguments) => why::run(&arguments),
            Command::Completions(arguments) => completions::run(&arguments, for_users()),
            Command::Manual(arguments) => manual::run(&arguments, for_users()),
            Command::Help(arguments) => help::run(&arguments, grouped(CommandLine::command())),
            Command::ReadHwlocFile(arguments) => read_hwloc_file::run(&arguments),
            Command::Reference(arguments) => {
                let mut command = CommandLine::command();
                command.build();
                reference::run(&arguments, &command)
            }
        }
    }
}
