//! `treepie read-hwloc-file`: a request of the command to a process of its own.

use std::path::PathBuf;
use std::process::ExitCode;

use treepie_report::input::hwloc_file;

use crate::commands::outcome::Outcome;

/// Prints the machine that an hwloc XML file describes, or an error and exits with status 1. Only
/// this command uses it.
#[derive(Debug, clap::Args)]
#[command(name = hwloc_file::SUBCOMMAND)]
pub struct Arguments {
    /// The file.
    pub(crate) file: PathBuf,
}

/// Does it.
///
/// # Errors
/// None: the answer is on standard output.
pub fn run(arguments: &Arguments) -> Outcome {
    let (text, status) = match hwloc_file::answer(&arguments.file) {
        Ok(text) => (text, ExitCode::SUCCESS),
        Err(text) => (text, ExitCode::FAILURE),
    };
    print!("{text}");
    Ok(status)
}
