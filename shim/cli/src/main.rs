//! The command `treepie`: profile an MPI job, compute where its ranks belong, run it again that
//! way, and show the files that this makes.
//!
//! ```text
//! treepie profile -o app.profile.yaml -- mpirun -np 16 ./app
//! treepie map app.profile.yaml --topology 4:2:2
//! treepie replay app.placement.yaml -- mpirun -np 16 ./app
//! ```
//!
//! A subcommand is a file in `commands`. How variables reach the ranks of a job is in the crate
//! `treepie-launch`; tables, pictures and what a user can name are in `treepie-report`.
#![forbid(unsafe_code)]

mod commands;
mod output;

use std::process::ExitCode;

use treepie_base::printable::one_line;
use treepie_base::{note, wait_for_streams};

fn main() -> ExitCode {
    wait_for_streams();
    let outcome = match commands::CommandLine::read() {
        Ok(line) => line.run(),
        Err(error) => output::usage(&error),
    };
    match outcome {
        Ok(status) => status,
        Err(error) => {
            note!("{}", one_line(&error.to_string()));
            error.exit_code()
        }
    }
}
