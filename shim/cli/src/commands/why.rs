//! `treepie why`: the reason why a job hangs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use clap::Args;
use treepie_base::text::write;
use treepie_base::{note, time};
use treepie_jobstate::pages::{TICK, run_directory, run_of};
use treepie_launch::error::{CommandError, Subject};
use treepie_report::exchange::is_trace;
use treepie_report::input::page_files;
use treepie_report::input::pages::Look;
use treepie_report::picture::{Format, write_drawing};
use treepie_report::waits::Hang;

use super::options::{Printing, absolute_path};
use crate::commands::options::require_directory;
use crate::commands::outcome::Outcome;
use crate::output::{self, Working};

/// Show which ranks of a hanging job wait for which others
#[derive(Debug, Args)]
pub struct Arguments {
    /// The job: the process number of its launcher or of a rank, the number of the run or its
    /// beginning, or the directory of its pages [default: the only one]
    #[arg(value_name = "JOB")]
    pub(crate) job: Option<String>,
    /// Also examine these hosts, in addition to this one
    #[arg(long, value_name = "HOST,...", value_delimiter = ',')]
    pub(crate) hosts: Vec<String>,
    /// Command that runs another on a host: called with the host, then the command
    #[arg(long, value_name = "COMMAND", default_value = "ssh")]
    remote_shell: String,
    /// Directory of the pages, if TREEPIE_PAGES names one
    #[arg(long, value_name = "DIR")]
    pub(crate) pages: Option<PathBuf>,
    /// Time between the two observations; at least 1.125 s
    #[arg(long, value_name = "TIME", default_value = "1.5s", value_parser = between)]
    between: Duration,
    /// Draw the wait-for graph into this file, .svg or .png, or write the calls that ranks are in,
    /// and the ranks that they wait for, for Perfetto: .trace.json
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) printing: Printing,
    /// Remove the pages left by a job that has ended
    #[arg(long)]
    remove: bool,
    /// Print the present contents of the pages of this host
    #[arg(long, hide = true)]
    look: bool,
}

/// Prints why the job hangs. Any answer is a success.
pub fn run(arguments: &Arguments) -> Outcome {
    if let Some(picture) = &arguments.output {
        if !is_trace(picture) {
            Format::from_path(picture)?;
        }
        require_directory(&absolute_path(picture)?, "--output")?;
    }
    let chosen = Chosen::find(
        arguments.pages.as_deref(),
        arguments.job.as_deref(),
        "start it with TREEPIE_PAGES=true, or with `treepie profile --hang 1min -- mpirun ...`",
    )?;
    if arguments.look {
        output::print_json(&Look::at(&chosen.base, chosen.run))?;
        return Ok(ExitCode::SUCCESS);
    }
    let first = chosen.look(arguments)?;
    if first.sightings.is_empty() {
        return Err(CommandError::failed(chosen.nothing(&first)));
    }
    {
        let _working = Working::within("looking twice", arguments.between);
        thread::sleep(arguments.between);
    }
    let second = chosen.look(arguments)?;
    if second.sightings.is_empty() {
        return Err(CommandError::failed(format!(
            "run {:016x} ended while it was looked at; it did not hang",
            chosen.run
        )));
    }
    for problem in &second.problems {
        note!("{problem}");
    }
    let dead = Look::is_dead(&first, &second);
    let hang = Hang::new(Look::job(&first, &second));
    give(arguments, &hang)?;
    if arguments.remove {
        if dead {
            page_files::remove(&chosen.base, chosen.run)
        } else {
            return Err(CommandError::failed(
                "the job is not dead, so that its pages were not removed",
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn give(arguments: &Arguments, hang: &Hang) -> Result<(), CommandError> {
    match &arguments.output {
        Some(trace) if is_trace(trace) => write(trace, &format!("{}\n", hang.trace()))?,
        Some(picture) => write_drawing(&hang.graph(), Format::from_path(picture)?, picture)?,
        None => {}
    }
    arguments.printing.answer(|| hang.json(), || hang.text())
}

/// Least time between two observations: each rank must have had time for two signs of life.
const LEAST: Duration = Duration::from_millis(TICK.as_millis() as u64 * 9 / 4);

/// Parses a time between observations.
fn between(text: &str) -> Result<Duration, String> {
    time::parse(text).map(|time| time.max(LEAST))
}

/// The selected run.
pub struct Chosen {
    /// Directory of its pages.
    pub base: PathBuf,
    /// Its number.
    pub run: u64,
}

impl Chosen {
    /// The run of a job named by the user, or the only one, with pages in this directory or the
    /// default one. `remedy` is for the message if no job keeps pages.
    ///
    /// # Errors
    /// There is no such job, or several.
    pub fn find(
        pages: Option<&Path>,
        job: Option<&str>,
        remedy: &str,
    ) -> Result<Chosen, CommandError> {
        Chosen::found(pages, job, remedy).map_err(|error| error.about(Subject::Pages))
    }

    fn found(
        pages: Option<&Path>,
        job: Option<&str>,
        remedy: &str,
    ) -> Result<Chosen, CommandError> {
        let base = pages.map_or_else(page_files::usual_base, Path::to_owned);
        if let Some(path) = job.filter(|job| job.contains('/')) {
            return Chosen::of_directory(Path::new(path));
        }
        let runs = page_files::runs(&base);
        let number = job.and_then(|job| job.parse::<u32>().ok());
        if let Some(process) = number {
            let of_process = |run: &u64| Look::at(&base, *run).descends_from(process);
            if let Some(run) = runs.iter().copied().find(of_process) {
                return Ok(Chosen { base, run });
            }
        }
        let begins = |run: &&u64| job.is_none_or(|job| format!("{run:016x}").starts_with(job));
        let fitting: Vec<u64> = runs.iter().filter(begins).copied().collect();
        match (&fitting[..], job) {
            ([run], _) => Ok(Chosen { base, run: *run }),
            // Only other hosts have pages.
            ([], Some(job)) if job.len() == 16 && u64::from_str_radix(job, 16).is_ok() => {
                let run = u64::from_str_radix(job, 16).unwrap_or_default();
                Ok(Chosen { base, run })
            }
            ([], Some(job)) => Err(CommandError::failed(format!(
                "{job}: neither a process of a job that keeps pages nor a run in {}; known are: {}",
                base.display(),
                listed(&base, &runs)
            ))),
            ([], None) => Err(CommandError::failed(format!(
                "{}: no job of yours keeps pages here; {remedy}",
                base.display()
            ))),
            _ => Err(CommandError::usage(format!(
                "which of these jobs? {}; name one",
                listed(&base, &fitting)
            ))),
        }
    }

    fn of_directory(path: &Path) -> Result<Chosen, CommandError> {
        let run = run_of(path).zip(path.parent());
        let (run, base) = run.ok_or_else(|| {
            CommandError::usage(format!(
                "{}: is not the directory of a run; its name has 16 hexadecimal digits",
                path.display()
            ))
        })?;
        Ok(Chosen {
            base: base.to_owned(),
            run,
        })
    }

    /// One observation, on this host and all others, which are queried simultaneously.
    fn look(&self, arguments: &Arguments) -> Result<Look, CommandError> {
        let mut asked = Vec::new();
        for host in &arguments.hosts {
            asked.push((host, self.ask(arguments, host)?));
        }
        let mut look = Look::at(&self.base, self.run);
        for (host, child) in asked {
            let answer = child.wait_with_output();
            let answer =
                answer.map_err(|error| CommandError::failed(format!("{host}: {error}")))?;
            let theirs = serde_json::from_slice::<Look>(&answer.stdout);
            match theirs.ok().filter(|_| answer.status.success()) {
                Some(theirs) => look.add(theirs),
                None => look.problems.push(format!(
                    "{host}: could not be asked: {}; try `{} {host} treepie --version`",
                    String::from_utf8_lossy(&answer.stderr).trim(),
                    arguments.remote_shell
                )),
            }
        }
        Ok(look)
    }

    fn ask(&self, arguments: &Arguments, host: &str) -> Result<std::process::Child, CommandError> {
        let mut words = arguments.remote_shell.split_whitespace();
        let shell = words.next().unwrap_or("ssh");
        let own = std::env::current_exe().unwrap_or_else(|_| "treepie".into());
        let mut line: Vec<OsString> = words.map(OsString::from).collect();
        line.extend([host.into(), own.into(), "why".into(), "--look".into()]);
        if let Some(pages) = named_base(&self.base)? {
            line.extend(["--pages".into(), pages.into()]);
        }
        line.push(format!("{:016x}", self.run).into());
        let mut command = Command::new(shell);
        command.args(line).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = command.spawn();
        started.map_err(|error| {
            CommandError::usage(format!("{shell}: {error}; give another --remote-shell"))
        })
    }

    /// Reason why the state of the run cannot be reported.
    fn nothing(&self, look: &Look) -> String {
        let directory = run_directory(&self.base, self.run);
        let problem = look.problems.first().map(String::as_str);
        problem.map_or_else(
            || {
                format!(
                    "{}: no page is there; the job has ended",
                    directory.display()
                )
            },
            str::to_owned,
        )
    }
}

/// Directory of pages passed to other hosts; `None` for the default.
///
/// # Errors
/// There is no current directory.
pub fn named_base(base: &Path) -> Result<Option<PathBuf>, CommandError> {
    if base == page_files::usual_base() {
        Ok(None)
    } else {
        absolute_path(base).map(Some)
    }
}

/// Lists runs, each with its program and ranks.
fn listed(base: &Path, runs: &[u64]) -> String {
    if runs.is_empty() {
        return "none".to_owned();
    }
    let line = |run: &u64| {
        let look = Look::at(base, *run);
        let what = look
            .any()
            .map(|page| format!(" ({}, {} ranks)", page.program, page.ranks));
        format!("{run:016x}{}", what.unwrap_or_default())
    };
    runs.iter().map(line).collect::<Vec<_>>().join(", ")
}
