//! A job: a program on a number of ranks of an MPI, run as by a user.

use crate::{Library, Mpi, Outcome, artifacts, run_watched};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use treepie_profile::Profile;

const PRELOAD: &str = "LD_PRELOAD";

/// A job to run. Created by [`Job::new`] and related functions, completed by the other methods, and
/// run by [`Job::run`].
#[derive(Debug, Clone)]
pub struct Job {
    mpi: Mpi,
    ranks: usize,
    program: Vec<OsString>,
    library: Library,
    variables: Vec<(String, String)>,
    under: Vec<OsString>,
    directory: Option<PathBuf>,
    limit: Duration,
}

impl Job {
    /// A C or Fortran job of `tests/jobs`: `halo2d` for `halo2d.c`, `ring.f90`
    /// for itself.
    #[track_caller]
    pub fn new(mpi: Mpi, ranks: usize, name: &str) -> Self {
        Job::of(mpi, ranks, artifacts::job(mpi, name))
    }

    /// A Python job of `tests/jobs`, by the name of its source without the
    /// ending.
    #[track_caller]
    pub fn python(mpi: Mpi, ranks: usize, name: &str) -> Self {
        let source = artifacts::repository().join(format!("tests/jobs/{name}.py"));
        Job::of(mpi, ranks, artifacts::python(mpi)).argument(source)
    }

    /// A program of `tests/programs`.
    #[track_caller]
    pub fn program(mpi: Mpi, ranks: usize, name: &str) -> Self {
        Job::of(mpi, ranks, artifacts::program(mpi, name))
    }

    /// Any program.
    pub fn of(mpi: Mpi, ranks: usize, program: impl Into<OsString>) -> Self {
        Job {
            mpi,
            ranks,
            program: vec![program.into()],
            library: Library::Absent,
            variables: Vec::new(),
            under: Vec::new(),
            directory: None,
            limit: Duration::from_secs(120),
        }
    }

    /// Adds an argument of the program.
    pub fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.program.push(argument.into());
        self
    }

    /// Uses the library in this configuration.
    pub fn with(mut self, library: Library) -> Self {
        self.library = library;
        self
    }

    /// Sets another variable in the job's processes.
    pub fn variable(mut self, name: &str, value: impl ToString) -> Self {
        self.variables.push((name.to_owned(), value.to_string()));
        self
    }

    /// Puts words in front of the launcher: `treepie profile -o FILE --`.
    pub fn under<W: Into<OsString>>(mut self, words: impl IntoIterator<Item = W>) -> Self {
        self.under.extend(words.into_iter().map(Into::into));
        self
    }

    /// Runs in this directory. The default is an empty one, whose files after the job are reported.
    pub fn directory(mut self, directory: &Path) -> Self {
        self.directory = Some(directory.to_owned());
        self
    }

    /// Sets the time limit. The default is for a busy machine.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// The whole command.
    #[track_caller]
    fn command(&self) -> Vec<OsString> {
        let mut variables = self.library.variables();
        variables.extend(self.variables.iter().cloned());
        if let Some(further) = self.mpi.preload() {
            let preloads = variables.iter_mut().filter(|(name, _)| name == PRELOAD);
            preloads.for_each(|(_, libraries)| {
                *libraries = format!("{libraries}:{}", further.display());
            });
        }
        let mut words = self.under.clone();
        words.extend(self.mpi.launch(self.ranks, &variables));
        words.extend(self.program.iter().cloned());
        words
    }

    /// The MPI that it runs under.
    pub fn mpi(&self) -> Mpi {
        self.mpi
    }

    /// The language that the program is written in.
    pub fn language(&self) -> &'static str {
        let ends = |ending: &str| {
            let named = |word: &OsString| word.to_string_lossy().ends_with(ending);
            self.program.iter().any(named)
        };
        match () {
            () if ends(".py") => "Python",
            () if [".f", ".f90", ".mpif", ".mpi", ".f08"]
                .into_iter()
                .any(ends) =>
            {
                "Fortran"
            }
            () => "C",
        }
    }

    /// Its name in a table: the program's file, and the number of ranks.
    pub fn title(&self) -> String {
        let script = self
            .program
            .iter()
            .rev()
            .find(|word| word.to_string_lossy().ends_with(".py"));
        let file = Path::new(script.unwrap_or(&self.program[0])).file_name();
        let file = file.unwrap_or_default().to_string_lossy();
        format!("{file}, {} ranks", self.ranks)
    }

    /// Runs the job to its end.
    ///
    /// # Panics
    /// Panics if it does not end in time; the message shows the stack of each process.
    #[track_caller]
    pub fn run(&self) -> Outcome {
        let words = self.command();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        if let Some(further) = self.mpi.preload() {
            // The launcher passes it on if the job sets none itself.
            command.env(PRELOAD, further);
        }
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        run_watched(command, self.limit, &self.description())
    }

    /// Runs the job under `profile`, in which it must succeed and print nothing, and reads the
    /// written profile.
    ///
    /// # Panics
    /// Panics if it does not, or if that is not a profile.
    #[track_caller]
    pub fn profiled(&self) -> (Outcome, Profile) {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let path = directory.path().join("job.profile.yaml");
        let job = self.clone().with(Library::Profile(path.clone()));
        let outcome = job.run().succeeded().silent();
        let profile = Profile::read(&path).unwrap_or_else(|error| panic!("{error}"));
        (outcome, profile)
    }

    fn description(&self) -> String {
        let words: Vec<_> = self
            .program
            .iter()
            .map(|word| word.to_string_lossy())
            .collect();
        format!(
            "{} on {} ranks of {}, {}",
            words.join(" "),
            self.ranks,
            self.mpi,
            self.library
        )
    }
}
