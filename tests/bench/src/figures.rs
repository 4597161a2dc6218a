//! Figures: measurements, as lines of JSON in `profiles/figures/BENCH.jsonl`.
//!
//! A line has all values of one variant in one row, with the machine, the commit and the date of
//! the measurement; the lines of one run have one date. Tables are only made from these lines
//! ([`crate::table`]).

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use serde::{Deserialize, Serialize};
use treepie_tests::artifacts;

use crate::error::Error;

/// Origin of figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// The name of the benchmark.
    pub(crate) bench: String,
    /// Start of the run in UTC.
    pub(crate) date: String,
    /// The commit that was checked out; with `+` if files differed from it.
    pub(crate) commit: String,
    /// The processor, the number of cores that this process may use, and the kernel.
    pub(crate) machine: String,
}

impl Origin {
    /// Origin of a run on this machine that begins now.
    pub(crate) fn here(bench: &str) -> Self {
        let model = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = model
            .lines()
            .find_map(|line| line.strip_prefix("model name"));
        let model = model.map_or("unknown processor", |rest| {
            rest.trim_start_matches(['\t', ' ', ':'])
        });
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Origin {
            bench: bench.to_owned(),
            date: jiff::Timestamp::now()
                .strftime("%Y-%m-%dT%H:%M:%SZ")
                .to_string(),
            commit: commit(),
            machine: format!("{model}, {cores} cores, Linux {}", kernel.trim()),
        }
    }
}

/// The commit of the repository; `unknown` if there is no git.
fn commit() -> String {
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(artifacts::repository()).args(words);
        let output = command
            .output()
            .ok()
            .filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(head) = git(&["rev-parse", "--short=10", "HEAD"]) else {
        return "unknown".to_owned();
    };
    match git(&["status", "--porcelain", "--untracked-files=no"]).as_deref() {
        Some("") => head,
        _ => format!("{head}+"),
    }
}

/// All values of one variant in one row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figure {
    #[serde(flatten)]
    pub(crate) origin: Origin,
    /// The MPI's name; empty for measurements without any.
    pub(crate) mpi: String,
    /// The case: a kind of call, a job, or an operation with its bytes and ranks.
    pub(crate) row: String,
    /// Configuration of the library, or none.
    pub(crate) variant: String,
    /// The quantity with its unit: `ns`, `s`, `processor s`.
    pub(crate) quantity: String,
    /// Number of calls of an iteration.
    pub(crate) calls: u32,
    /// Measurements of the rounds in order.
    pub(crate) values: Vec<f64>,
}

/// The file of a benchmark's figures.
pub(crate) fn file(bench: &str) -> PathBuf {
    artifacts::repository().join(format!("profiles/figures/{bench}.jsonl"))
}

/// Appends the figures of one benchmark to its file.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn append(bench: &str, figures: &[Figure]) -> Result<(), Error> {
    let path = file(bench);
    let text: Result<Vec<String>, _> = figures.iter().map(serde_json::to_string).collect();
    let text = text.map_err(|error| Error::file(&path, error))?;
    let write = || {
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
        writeln!(file, "{}", text.join("\n"))
    };
    write().map_err(|error| Error::file(&path, error))
}

/// The figures of a benchmark's run that began at `date`, or of its newest run.
///
/// # Errors
/// The file cannot be read, a line is not a figure, or no run has that date.
pub(crate) fn read(bench: &str, date: Option<&str>) -> Result<Vec<Figure>, Error> {
    let path = file(bench);
    let text = fs::read_to_string(&path).map_err(|error| Error::file(&path, error))?;
    let figures: Result<Vec<Figure>, _> = text.lines().map(serde_json::from_str).collect();
    let figures = figures.map_err(|error| Error::file(&path, error))?;
    let newest = figures
        .iter()
        .map(|figure| figure.origin.date.as_str())
        .max();
    let date = date.or(newest).unwrap_or_default().to_owned();
    let run: Vec<Figure> = figures
        .into_iter()
        .filter(|figure| figure.origin.date == date)
        .collect();
    if run.is_empty() {
        return Err(Error::NoRun { path, date });
    }
    Ok(run)
}
