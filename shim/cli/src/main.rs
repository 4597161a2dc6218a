//! The command `treepie`: profiles an MPI job, computes the core of each rank, runs it again with
//! this placement, and shows the resulting files.
//!
//! ```text
//! treepie profile -o app.profile.yaml -- mpirun -np 16 ./app
//! treepie map app.profile.yaml --topology 4:2:2
//! treepie replay app.placement.yaml -- mpirun -np 16 ./app
//! ```
//!
//! A subcommand is a file in `commands`. The crate `treepie-launch` passes variables to the ranks
//! of a job; tables, pictures and named inputs are in `treepie-report`.
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
        Err(error) => output::usage(&error, commands::CommandLine::named().as_deref()),
    };
    match outcome {
        Ok(status) => status,
        Err(error) => {
            let text = one_line(&error.to_string());
            note!("{text}{}", commands::hint(&error));
            error.exit_code()
        }
    }
}
