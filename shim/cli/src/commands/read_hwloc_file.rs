//! `treepie read-hwloc-file`: reads a file for the command in a separate process.

use std::path::PathBuf;
use std::process::ExitCode;

use treepie_report::input::hwloc_file;

use crate::commands::outcome::Outcome;

/// Prints the machine described by an hwloc XML file, or an error and exits with status 1. Only
/// this command uses it.
#[derive(Debug, clap::Args)]
#[command(name = hwloc_file::SUBCOMMAND)]
pub struct Arguments {
    /// The file.
    pub(crate) file: PathBuf,
}

/// Reads and prints.
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
