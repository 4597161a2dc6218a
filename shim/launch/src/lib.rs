//! Running a job so that its ranks, and no other processes, preload the library.
//!
//! ```text
//!   mpirun -np 4 ./app            the user's command line
//!      |  family                  family of the launcher
//!      |  reach                   can the library be loaded into its programs?
//!      |  environment             variables of the ranks
//!      |  container               options of run-times of containers, behind the launcher
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
pub mod container;
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
use std::path::PathBuf;

use treepie_base::note;

use crate::container::Obstacle;
use crate::error::{CommandError, Subject};
use environment::{Payload, Variables};
use family::Launcher;
use injection::Invocation;

/// Builds the job's command line with the library and the variables. Where its container cannot
/// load the library, prints one line and leaves the command line as it is.
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
    let payload = payload(settings)?;
    reach::require_reachable(&launcher, command, &payload)
        .map_err(|error| error.about(Subject::Program))?;
    if let Some((image, obstacle)) = container::obstacle(launcher.family, command, &payload) {
        if payload.is_strict() {
            let error = CommandError::usage(format!("{image} {obstacle}"));
            return Err(error.about(Subject::Program));
        }
        note!("{image} {obstacle}; the job runs without treepie");
        return Ok(Invocation::plain(&launcher, command));
    }
    injected(&launcher, &payload, command)
}

/// Like [`prepare`], without examining the programs.
///
/// # Errors
/// See [`prepare`], except for programs.
pub fn shown(
    command: &[OsString],
    settings: &[(impl AsRef<str>, OsString)],
) -> Result<Invocation, CommandError> {
    shown_with(command, settings, &[])
}

/// Like [`shown`], for programs that read and write these paths too.
///
/// # Errors
/// See [`shown`].
pub fn shown_with(
    command: &[OsString],
    settings: &[(impl AsRef<str>, OsString)],
    directories: &[PathBuf],
) -> Result<Invocation, CommandError> {
    let launcher = Launcher::detect(command)?;
    let payload = Payload {
        directories: directories.to_vec(),
        ..payload(settings)?
    };
    injected(&launcher, &payload, command)
}

/// A job without the library, whose programs read and write these paths.
///
/// # Errors
/// The launcher does not exist or is unknown, or no container can have a path.
pub fn without_library(
    command: &[OsString],
    directories: &[PathBuf],
) -> Result<Invocation, CommandError> {
    let payload = Payload {
        directories: directories.to_vec(),
        ..Payload::default()
    };
    injected(&Launcher::detect(command)?, &payload, command)
}

/// The image of a job's container and the reason why the library does not work in it.
///
/// # Errors
/// The launcher does not exist or is unknown, or the library is not found.
pub fn obstacle_in_container(
    command: &[OsString],
) -> Result<Option<(String, Obstacle)>, CommandError> {
    let launcher = Launcher::detect(command)?;
    let settings: [(&str, OsString); 0] = [];
    let payload = payload(&settings)?;
    Ok(container::obstacle(launcher.family, command, &payload))
}

fn injected(
    launcher: &Launcher,
    payload: &Payload,
    command: &[OsString],
) -> Result<Invocation, CommandError> {
    injection::inject(launcher, payload, command).map_err(|error| error.about(Subject::Launcher))
}

fn payload(settings: &[(impl AsRef<str>, OsString)]) -> Result<Payload, CommandError> {
    let library = library::find().map_err(|error| error.about(Subject::Library))?;
    let variables = Variables::collect(std::env::vars_os(), settings)?;
    Ok(Payload::new(library, variables))
}
