//! The environment in which the command itself was started.

use std::env;

use treepie_profile::settings::{DISABLE_VARIABLE, is_on};

use crate::error::CommandError;
use crate::family::{Family, Launcher};

/// Variables by which launchers number their processes.
const RANKS: [&str; 4] = [
    "OMPI_COMM_WORLD_RANK",
    "PMI_RANK",
    "PMIX_RANK",
    "PALS_RANKID",
];

/// True if the library is turned off, regardless of the command's settings.
pub fn is_disabled() -> bool {
    env::var(DISABLE_VARIABLE).is_ok_and(|value| is_on(&value))
}

/// Checks that this command starts the job, and is not started by it.
///
/// # Errors
/// It runs in a process of a launcher, without a launcher of its own: a job of one process each.
pub(crate) fn require_outside(launcher: &Launcher) -> Result<(), CommandError> {
    let rank = RANKS.iter().find(|name| env::var_os(name).is_some());
    match rank {
        Some(rank) if launcher.family == Family::Plain => Err(CommandError::usage(format!(
            "this is a process of a job already ({rank} is set); write treepie before the \
             launcher, `treepie profile -- mpirun ... ./app`, or `mpirun ... treepie exec --mode \
             profile -- ./app`"
        ))),
        _ => Ok(()),
    }
}

/// Checks that the library is not turned off, for commands that need it.
///
/// # Errors
/// `TREEPIE_DISABLE` is set.
pub(crate) fn require_enabled() -> Result<(), CommandError> {
    match is_disabled() {
        true => Err(CommandError::failed(format!(
            "{DISABLE_VARIABLE} is set, which turns the library off; unset it, or start the job \
             without treepie"
        ))),
        false => Ok(()),
    }
}
