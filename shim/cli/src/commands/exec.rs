//! `treepie exec`: one program with the library preloaded.

use std::ffi::OsString;

use clap::Args;
use treepie_base::note;
use treepie_launch::error::CommandError;
use treepie_launch::family::{Family, Launcher};
use treepie_launch::injection::Invocation;
use treepie_launch::{job, shown, surroundings};
use treepie_profile::settings::{Mode, SITE_VARIABLE, variable_of};

use crate::commands::options::assignment;
use crate::commands::outcome::Outcome;

/// Become a program, with the library preloaded into it alone
///
/// Placed between a launcher and the program, it does not affect the launcher, its helpers and the
/// shell: mpirun -np 16 treepie exec --mode profile -- ./app. Without a mode, here or in the
/// environment, the site's policy decides.
#[derive(Debug, Args)]
#[command(override_usage = "mpirun -np 16 treepie exec [OPTIONS] -- ./app ...")]
pub struct Arguments {
    /// Mode of the library: off, profile, replay, auto
    #[arg(long, value_name = "MODE", value_parser = str::parse::<Mode>)]
    mode: Option<Mode>,
    /// Any setting of the library, such as output=app.profile.yaml; may be repeated. `treepie help
    /// variables` has a list
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Replaces this process by the program; without the library, and with a warning, if the library is
/// not available.
pub fn run(arguments: &Arguments) -> Outcome {
    let launcher = Launcher::detect(&arguments.command)?;
    if launcher.family != Family::Plain {
        let name = arguments.command[0].display();
        return Err(CommandError::usage(format!(
            "{name} starts a job, and exec becomes one of its programs; write `{name} ... treepie \
             exec -- PROGRAM`, or `treepie profile -- {name} ...`"
        )));
    }
    let plain = || Invocation::plain(&launcher, &arguments.command);
    let invocation = match surroundings::is_disabled() {
        true => plain(),
        false => with_library(arguments).unwrap_or_else(|error| {
            note!("{error}; the program runs without treepie");
            plain()
        }),
    };
    Err(job::become_program(&invocation))
}

fn with_library(arguments: &Arguments) -> Result<Invocation, CommandError> {
    let mode = match arguments.mode {
        Some(mode) => (variable_of("mode"), mode.to_string()),
        None => (SITE_VARIABLE.to_owned(), "true".to_owned()),
    };
    let set = arguments.set.iter();
    let set = set.map(|(name, value)| (variable_of(name), value.clone()));
    let variables: Vec<(String, OsString)> = [mode]
        .into_iter()
        .chain(set)
        .map(|(name, value)| (name, value.into()))
        .collect();
    shown(&arguments.command, &variables)
}
