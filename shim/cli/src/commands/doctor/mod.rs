//! `treepie doctor`: what is installed, what would be preloaded into a job,
//! what would fail, and the remedy.

mod installed;
mod job;
mod mpis;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::Outcome;
use crate::output;

/// Check what is installed, and what would happen to a job
///
/// Each launcher that is found is tried with one process, which prints its
/// environment; the job itself is not started.
#[derive(Debug, Args)]
#[command(override_usage = "treepie doctor [OPTIONS] [-- mpirun -np 16 ./app ...]")]
pub struct Arguments {
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
    /// A job: what would be started, and whether the library would reach it
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Good,
    Note,
    Problem,
}

/// One thing that was examined.
#[derive(Debug, Serialize)]
struct Finding {
    verdict: Verdict,
    what: &'static str,
    found: String,
    /// Remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

/// Looks at everything; 1 if something would fail.
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
    if arguments.json {
        output::print_json(&json!({ "ok": !failed, "findings": report.0 }))?;
    } else {
        output::print(&report.text())?;
    }
    Ok(ExitCode::from(u8::from(failed)))
}

#[derive(Default)]
struct Report(Vec<Finding>);

impl Report {
    /// Something that is as it should be.
    fn good(&mut self, what: &'static str, found: impl Into<String>) {
        self.add(Verdict::Good, what, found.into(), None);
    }

    /// Adds a remark.
    fn note(&mut self, what: &'static str, found: impl Into<String>) {
        self.add(Verdict::Note, what, found.into(), None);
    }

    /// Something that a job would fail by, and what to do.
    fn problem(&mut self, what: &'static str, found: impl Into<String>, remedy: impl Into<String>) {
        self.add(Verdict::Problem, what, found.into(), Some(remedy.into()));
    }

    /// An error, whose one line has the remedy behind its last semicolon.
    fn error(&mut self, what: &'static str, error: &impl ToString) {
        let text = error.to_string();
        match text.rsplit_once("; ") {
            Some((found, remedy)) => self.problem(what, found, remedy),
            None => self.add(Verdict::Problem, what, text, None),
        }
    }

    fn add(&mut self, verdict: Verdict, what: &'static str, found: String, remedy: Option<String>) {
        self.0.push(Finding {
            verdict,
            what,
            found,
            remedy,
        });
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for finding in &self.0 {
            let mark = match finding.verdict {
                Verdict::Good => "ok     ",
                Verdict::Note => "note   ",
                Verdict::Problem => "PROBLEM",
            };
            text += &format!("{mark}  {:<10}  {}", finding.what, finding.found);
            if let Some(remedy) = &finding.remedy {
                text += &format!("; {remedy}");
            }
            text.push('\n');
        }
        text
    }
}
