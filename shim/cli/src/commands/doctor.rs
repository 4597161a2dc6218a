//! `treepie doctor`: what is installed, what would be preloaded into a job,
//! what would fail, and the remedy.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::Outcome;
use crate::input::topology::{self, in_words};
use crate::launch::environment::PRELOAD;
use crate::launch::family::{Family, Launcher};
use crate::launch::{self, binary, library, program, search};
use crate::output;

/// The library may need these, which every process has; anything else would
/// come in with it.
const RUN_TIME: [&str; 7] = [
    "libc.so",
    "libgcc_s.so",
    "libm.so",
    "libdl.so",
    "libpthread.so",
    "librt.so",
    "ld-linux",
];

/// Launchers that are looked for.
const LAUNCHERS: [&str; 10] = [
    "mpirun",
    "mpiexec",
    "orterun",
    "prterun",
    "mpirun.openmpi",
    "mpiexec.openmpi",
    "mpirun.mpich",
    "mpiexec.mpich",
    "mpiexec.hydra",
    "srun",
];

/// Tell what is installed, and what would happen to a job
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

/// How good a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Good,
    Note,
    Problem,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    verdict: Verdict,
    what: &'static str,
    found: String,
}

/// Looks at everything; 1 if something would fail.
pub fn run(arguments: &Arguments) -> Outcome {
    let mut report = Report::default();
    report.library();
    report.launchers();
    report.machine();
    report.directory();
    if !arguments.command.is_empty() {
        report.job(&arguments.command);
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
    fn add(&mut self, verdict: Verdict, what: &'static str, found: impl Into<String>) {
        let found = found.into();
        self.0.push(Finding {
            verdict,
            what,
            found,
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
            text += &format!("{mark}  {:<10}  {}\n", finding.what, finding.found);
        }
        text
    }

    /// The library, what it links to, and its companion.
    fn library(&mut self) {
        let path = match library::find() {
            Ok(path) => path,
            Err(error) => return self.add(Verdict::Problem, "library", error.to_string()),
        };
        let name = path.display();
        match binary::needed(&path) {
            None => self.add(Verdict::Problem, "library", format!("{name} is no shared library; build it again with scripts/build")),
            Some(needed) => match foreign(&needed) {
                foreign if foreign.is_empty() => {
                    self.add(Verdict::Good, "library", format!("{name}, which needs only the C run-time"));
                }
                foreign => self.add(
                    Verdict::Problem,
                    "library",
                    format!("{name} needs {}, which it would bring into every job; build it again with scripts/build", foreign.join(", ")),
                ),
            },
        }
        let companion = path.with_file_name(library::COMPANION);
        match binary::needed(&companion) {
            Some(_) => self.add(Verdict::Good, "companion", companion.display().to_string()),
            None => self.add(
                Verdict::Note,
                "companion",
                format!(
                    "{} is missing: jobs cannot look at their machine; build it with scripts/build",
                    companion.display()
                ),
            ),
        }
    }

    /// Every launcher in the path, once for each file that it leads to.
    fn launchers(&mut self) {
        let mut names: BTreeMap<PathBuf, Vec<&str>> = BTreeMap::new();
        for name in LAUNCHERS {
            let found = search::executable(name.as_ref()).and_then(|path| path.canonicalize().ok());
            if let Some(path) = found {
                names.entry(path).or_default().push(name);
            }
        }
        if names.is_empty() {
            self.add(
                Verdict::Note,
                "launcher",
                "no mpirun, mpiexec or srun is in PATH; load or install an MPI to run jobs",
            );
        }
        for names in names.values() {
            let finding = match Launcher::detect(&[names[0].into()]) {
                Ok(launcher) => {
                    let version = launcher
                        .version()
                        .unwrap_or_else(|| "it does not tell its version".to_owned());
                    (
                        Verdict::Good,
                        format!("{}: {}, {version}", names.join(", "), launcher.family),
                    )
                }
                Err(error) => (Verdict::Problem, error.to_string()),
            };
            self.add(finding.0, "launcher", finding.1);
        }
    }

    /// What hwloc says of this machine.
    fn machine(&mut self) {
        match topology::of_this_machine() {
            Ok(machine) => self.add(Verdict::Good, "machine", in_words(&machine)),
            Err(error) => self.add(Verdict::Problem, "machine", error.to_string()),
        }
    }

    /// Where profiles go by default.
    fn directory(&mut self) {
        let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        match tempfile::tempfile_in(&here) {
            Ok(_) => self.add(
                Verdict::Good,
                "directory",
                format!("{} can be written", here.display()),
            ),
            Err(error) => self.add(
                Verdict::Problem,
                "directory",
                format!(
                    "{} cannot be written ({}); name another with --output",
                    here.display(),
                    error.kind()
                ),
            ),
        }
        if let Some(value) = std::env::var_os(PRELOAD).filter(|value| !value.is_empty()) {
            self.add(
                Verdict::Note,
                "preloaded",
                format!("{PRELOAD} is set already, and stays: {}", value.display()),
            );
        }
    }

    /// What a job would be started as, and what it is.
    fn job(&mut self, command: &[OsString]) {
        let launcher = match Launcher::detect(command) {
            Ok(launcher) => launcher,
            Err(error) => return self.add(Verdict::Problem, "job", error.to_string()),
        };
        match launch::prepare(command, &[("TREEPIE_MODE", "profile".into())]) {
            Ok(invocation) => self.add(Verdict::Good, "job", invocation.to_string()),
            // That there is no library was told above.
            Err(_) if library::find().is_err() => {}
            Err(error) => self.add(Verdict::Problem, "job", error.to_string()),
        }
        let words = match launcher.family {
            Family::Plain => command,
            _ => &command[1..],
        };
        match program::position(launcher.family, words).map(|place| &words[place]) {
            None => self.add(
                Verdict::Problem,
                "program",
                "the launcher is given no program; write it after its options",
            ),
            Some(name) => match search::executable(name) {
                Some(path) => self.program(&launcher, &path),
                None => self.add(
                    Verdict::Problem,
                    "program",
                    format!(
                        "{}: no such program; check its name and PATH, or write its whole path",
                        name.display()
                    ),
                ),
            },
        }
    }

    /// Whether the library reaches a program, and whether its MPI is the launcher's.
    fn program(&mut self, launcher: &Launcher, path: &Path) {
        let name = path.display();
        if binary::changes_user(path) {
            let text = format!(
                "{name} changes its user (setuid): nothing can be preloaded into it; run a copy without that bit"
            );
            return self.add(Verdict::Problem, "program", text);
        }
        match binary::kind(path) {
            None => self.add(
                Verdict::Problem,
                "program",
                format!("{name} cannot be read; check its permissions"),
            ),
            Some(binary::Program::Static) => {
                let text = format!(
                    "{name} is linked statically: nothing can be preloaded into it; link it dynamically"
                );
                self.add(Verdict::Problem, "program", text);
            }
            Some(binary::Program::Script(interpreter)) => {
                let text = format!(
                    "{name} is a script for {interpreter}: whether it uses MPI shows when it runs"
                );
                self.add(Verdict::Note, "program", text);
            }
            Some(binary::Program::Other) => {
                self.add(
                    Verdict::Note,
                    "program",
                    format!("{name} is neither a program nor a script of a known kind"),
                );
            }
            Some(binary::Program::Dynamic) => self.mpi(launcher, path),
        }
    }

    fn mpi(&mut self, launcher: &Launcher, path: &Path) {
        let name = path.display();
        let (verdict, text) = match binary::mpi_of(path) {
            None => (
                Verdict::Note,
                format!(
                    "{name} is linked to no MPI; it is counted if it loads one while it runs, as Python does"
                ),
            ),
            Some((mpi, family))
                if matches!(launcher.family, Family::OpenMpi | Family::Hydra)
                    && family != launcher.family =>
            {
                (
                    Verdict::Problem,
                    format!(
                        "{name} uses {} ({family}), the launcher is of {}: each process would be a job of its own; use the launcher of that MPI",
                        mpi.display(),
                        launcher.family
                    ),
                )
            }
            Some((mpi, family)) => (
                Verdict::Good,
                format!("{name} uses {} ({family})", mpi.display()),
            ),
        };
        self.add(verdict, "program", text);
    }
}

/// The libraries that are not the C run-time's.
fn foreign(needed: &[String]) -> Vec<&str> {
    let is_run_time = |name: &&String| RUN_TIME.iter().any(|known| name.starts_with(known));
    let foreign = needed.iter().filter(|name| !is_run_time(name));
    foreign.map(String::as_str).collect()
}
