//! The command `treepie`: profile an MPI job, compute where its ranks belong, run it again that
//! way, and show the files that this makes.
//!
//! ```text
//! treepie profile -o app.profile.yaml -- mpirun -np 16 ./app
//! treepie map app.profile.yaml --topology 4:2:2
//! treepie replay app.placement.yaml -- mpirun -np 16 ./app
//! ```
//!
//! A subcommand is a file in `commands`. What several of them need is beside
//! them: `launch` (how variables reach the ranks of a job), `input` (files and
//! descriptions that a user names), `report` (tables), `picture`, `html` (the report
//! that a browser shows).
#![forbid(unsafe_code)]

mod commands;
mod error;
mod html;
mod input;
mod launch;
mod output;
mod picture;
mod report;

use std::process::ExitCode;

use clap::Parser;
use treepie_base::wait_for_streams;

fn main() -> ExitCode {
    wait_for_streams();
    let outcome = match commands::CommandLine::try_parse() {
        Ok(line) => line.run(),
        Err(error) => error::usage(&error),
    };
    match outcome {
        Ok(status) => status,
        Err(error) => {
            eprintln!("treepie: {error}");
            error.exit_code()
        }
    }
}
