//! Benchmarks of jobs: `scripts/bench` starts them.
//!
//! Each round runs every variant once ([`rounds`]). All values are appended, with the machine, the
//! commit and the date, to `profiles/figures/BENCH.jsonl` ([`figures`]); tables are made from that
//! file ([`table`]).

mod error;
mod figures;
mod launch;
mod overhead;
mod rounds;
mod startup;
mod statistics;
mod table;
mod transport;
mod whole_jobs;

use std::process::ExitCode;

use clap::Parser;

use crate::error::Error;
use crate::figures::Origin;
use crate::transport::TransportOptions;

/// A benchmark, or the table of a previous run.
#[derive(Debug, Parser)]
#[command(name = "scripts/bench")]
enum Command {
    /// Single calls
    Overhead {
        #[arg(default_value_t = 5)]
        rounds: usize,
        /// Kinds of calls, separated by commas; all by default
        kinds: Option<String>,
    },
    /// Processes that never call MPI, and MPI_Init
    Startup {
        #[arg(default_value_t = 10)]
        rounds: usize,
    },
    /// Whole jobs
    Jobs {
        #[arg(default_value_t = 5)]
        rounds: usize,
        /// Names of jobs, separated by commas; all by default
        names: Option<String>,
    },
    /// Collectives on one host
    Transport {
        #[arg(default_value_t = 10)]
        rounds: usize,
        #[arg(default_value = "2,4,8")]
        ranks: String,
        #[arg(default_value = "")]
        calls: String,
        #[arg(default_value = "openmpi,mpich")]
        mpis: String,
    },
    /// The table of the newest run of a benchmark, or of the one that began at a date
    Table { bench: String, date: Option<String> },
}

/// The calls of `transport` by default.
const CALLS: &str = "barrier:0,bcast:8,bcast:1024,bcast:65536,bcast:1048576,allreduce:8,\
                     allreduce:1024,allreduce:65536,allreduce:1048576";

fn run(command: Command) -> Result<String, Error> {
    let scratch = tempfile::tempdir().map_err(|error| Error::file(&std::env::temp_dir(), error))?;
    let scratch = scratch.path();
    let bench = match &command {
        Command::Overhead { .. } => "overhead",
        Command::Startup { .. } => "startup",
        Command::Jobs { .. } => "jobs",
        Command::Transport { .. } => "transport",
        Command::Table { bench, date } => {
            return Ok(table::of_run(&figures::read(bench, date.as_deref())?));
        }
    };
    let origin = Origin::here(bench);
    let figures = match &command {
        Command::Overhead { rounds, kinds } => {
            overhead::measure(&origin, *rounds, kinds.as_deref(), scratch)?
        }
        Command::Startup { rounds } => startup::measure(&origin, *rounds, scratch)?,
        Command::Jobs { rounds, names } => {
            whole_jobs::measure(&origin, *rounds, names.as_deref(), scratch)?
        }
        Command::Transport {
            rounds,
            ranks,
            calls,
            mpis,
        } => {
            let calls = if calls.is_empty() { CALLS } else { calls };
            transport::measure(
                &origin,
                *rounds,
                TransportOptions { ranks, calls, mpis },
                scratch,
            )?
        }
        Command::Table { .. } => Vec::new(),
    };
    figures::append(bench, &figures)?;
    Ok(table::of_run(&figures))
}

fn main() -> ExitCode {
    match run(Command::parse()) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("scripts/bench: {error}");
            ExitCode::FAILURE
        }
    }
}
