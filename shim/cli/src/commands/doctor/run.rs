//! Arguments of `treepie doctor`, and its findings.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::commands::doctor::finding::{Report, Verdict};
use crate::commands::doctor::{bundle, installed, job, mpis};
use crate::commands::options::Printing;
use crate::commands::outcome::Outcome;

/// Check what is installed, and what would happen to a job
#[derive(Debug, Args)]
#[command(after_help = "\
Each launcher that is found is tried with one process, which prints its environment; the job itself
is not started. `treepie help support` explains what is found.")]
#[command(override_usage = "treepie doctor [OPTIONS] [-- mpirun -np 16 ./app ...]")]
pub struct Arguments {
    #[command(flatten)]
    pub(crate) printing: Printing,
    /// Write a file for support: versions, host, settings and findings, without names of users,
    /// homes and hosts
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,
    /// A job: show which processes would be started, and whether the library can be loaded into
    /// them
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Examines everything; the status is 1 if something would fail.
pub fn run(arguments: &Arguments) -> Outcome {
    let mut report = Report::default();
    installed::look(&mut report);
    mpis::look(&mut report);
    if !arguments.command.is_empty() {
        job::look(&mut report, &arguments.command);
    }
    let failed = report
        .0
        .iter()
        .any(|finding| finding.verdict == Verdict::Problem);
    if let Some(file) = &arguments.bundle {
        bundle::write(file, &report.text())?;
        let written = || format!("{}: written\n", file.display());
        let json = || json!({ "ok": !failed, "output": file });
        arguments.printing.answer(json, written)?;
    } else {
        let json = || json!({ "ok": !failed, "findings": report.0 });
        arguments.printing.answer(json, || report.text())?;
    }
    Ok(ExitCode::from(u8::from(failed)))
}
