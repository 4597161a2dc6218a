//! Running a job so that its ranks, and no other processes, preload the library.
//!
//! ```text
//!   mpirun -np 4 ./app            the user's command line
//!      |  family                  family of the launcher
//!      |  reach                   can the library be loaded into its programs?
//!      |  environment             variables of the ranks
//!      v  injection               options of this launcher that pass them on
//!   mpirun -x LD_PRELOAD=... -x TREEPIE_MODE=profile -np 4 ./app
//!      |  rank_file                 location of the ranks, for the launcher
//!      |  job                     start, return the status
//!      |  signals                 passed on to it
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

pub mod allocation;
pub mod binary;
pub mod choose;
pub mod environment;
pub mod error;
pub mod family;
pub mod injection;
pub mod input;
pub mod job;
pub mod library;
pub mod measuring;
pub mod program;
pub mod python;
pub mod rank_file;
pub mod ranks;
pub mod reach;
pub mod search;
pub mod signals;
pub mod surroundings;
pub mod timed;
pub mod watched;
pub mod written;

use std::ffi::OsString;

use crate::error::{CommandError, Subject};
use environment::Variables;
use family::Launcher;
use injection::Invocation;

/// Builds the job's command line with the library and the variables.
///
/// # Errors
/// The launcher does not exist or is unknown, the library is not found or cannot be preloaded into
/// a program, or the launcher cannot pass on a value.
pub fn prepare(
    command: &[OsString],
    settings: &[(impl AsRef<str>, OsString)],
) -> Result<Invocation, CommandError> {
    surroundings::require_enabled().map_err(|error| error.about(Subject::Setting))?;
    let launcher = Launcher::detect(command)?;
    surroundings::require_outside(&launcher).map_err(|error| error.about(Subject::Launcher))?;
    let library = library::find().map_err(|error| error.about(Subject::Library))?;
    reach::require_reachable(&launcher, command, &library)
        .map_err(|error| error.about(Subject::Program))?;
    shown(command, settings)
}

/// Like [`prepare`], without examining the programs.
///
/// # Errors
/// See [`prepare`], except for programs.
pub fn shown(
    command: &[OsString],
    settings: &[(impl AsRef<str>, OsString)],
) -> Result<Invocation, CommandError> {
    let launcher = Launcher::detect(command)?;
    let library = library::find().map_err(|error| error.about(Subject::Library))?;
    let variables = Variables::collect(std::env::vars_os(), settings)?;
    injection::inject(&launcher, &library, &variables, command)
        .map_err(|error| error.about(Subject::Launcher))
}
