//! Start of a job in a variant: the preloaded libraries, and the settings.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use treepie_tests::{Library, Mpi, artifacts, find_command};

use crate::error::Error;

/// A configuration of the library, or a reference for comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    /// Without any library.
    Plain,
    /// A second plain variant: the difference between both is noise.
    Again,
    /// A library whose procedures only call the MPI's: the cost of any interposition.
    Hook,
    /// Open MPI's own monitoring component.
    Monitoring,
    /// The library with these settings. `{}` in a value is a directory of the benchmark.
    With(&'static str, &'static [(&'static str, &'static str)]),
}

/// `TREEPIE_MODE=off`.
pub(crate) const OFF: Variant = Variant::With("off", &[("TREEPIE_MODE", "off")]);
/// Counting.
pub(crate) const PROFILE: Variant = Variant::With("profile", &[MODE_PROFILE, OUTPUT]);
/// Two ranks in the other order.
pub(crate) const REPLAY: Variant =
    Variant::With("replay", &[MODE_REPLAY, ("TREEPIE_PERMUTATION", "1,0")]);

pub(crate) const MODE_PROFILE: (&str, &str) = ("TREEPIE_MODE", "profile");
pub(crate) const MODE_REPLAY: (&str, &str) = ("TREEPIE_MODE", "replay");
pub(crate) const OUTPUT: (&str, &str) = ("TREEPIE_OUTPUT", "{}/job.profile.yaml");

impl Variant {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Variant::Plain => "plain",
            Variant::Again => "again",
            Variant::Hook => "hook",
            Variant::Monitoring => "monitoring",
            Variant::With(name, _) => name,
        }
    }

    /// True if an MPI has this variant.
    pub(crate) fn is_of(self, mpi: Mpi) -> bool {
        self != Variant::Monitoring || mpi.is_open_mpi()
    }

    /// The variables of a job's processes, without those for preloading.
    fn settings(self, scratch: &Path) -> Vec<(&'static str, String)> {
        let Variant::With(_, settings) = self else {
            return Vec::new();
        };
        let directory = scratch.display().to_string();
        let settings = settings.iter();
        settings
            .map(|&(name, value)| (name, value.replace("{}", &directory)))
            .collect()
    }

    /// The words that start `ranks` processes of a job in this variant.
    pub(crate) fn launch(self, mpi: Mpi, ranks: usize, scratch: &Path) -> Vec<OsString> {
        let variables = match self {
            Variant::Plain | Variant::Again | Variant::Monitoring => Vec::new(),
            Variant::Hook => {
                let hook = artifacts::job(mpi, "hooks.so").display().to_string();
                vec![("LD_PRELOAD".to_owned(), hook)]
            }
            Variant::With(..) => Library::Set(self.settings(scratch)).variables(),
        };
        let mut words = mpi.launch(ranks, &variables);
        if self == Variant::Monitoring {
            words.extend(["--mca", "pml_monitoring_enable", "2"].map(OsString::from));
        }
        words
    }
}

/// Debian's MPIs, those of them that are installed.
pub(crate) fn mpis() -> Vec<Mpi> {
    let is_there = |mpi: &Mpi| find_command(&format!("mpicc.{}", mpi.name())).is_some();
    Mpi::ALL.into_iter().filter(is_there).collect()
}

/// Words that give a command real-time priority, if that is allowed: other work on this machine
/// then has no effect.
pub(crate) fn real_time() -> Vec<OsString> {
    let words = ["chrt", "-r", "1"];
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg("true").stderr(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => words.map(OsString::from).to_vec(),
        _ => Vec::new(),
    }
}

/// Runs a command for at most `seconds`, in a directory; returns its standard output and error.
///
/// # Errors
/// The command cannot be started, does not end, or fails.
pub(crate) fn output(
    what: &str,
    seconds: u32,
    words: &[OsString],
    directory: &Path,
) -> Result<(String, String), Error> {
    let mut command = Command::new("timeout");
    command
        .arg(seconds.to_string())
        .args(words)
        .current_dir(directory)
        .stdin(Stdio::null());
    let failed = |reason: String, said: String| Error::Program {
        what: what.to_owned(),
        reason,
        said,
    };
    let output = command
        .output()
        .map_err(|error| failed(error.to_string(), String::new()))?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(failed(output.status.to_string(), stderr));
    }
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), stderr))
}

/// Parses the numbers of one or several lines.
///
/// # Errors
/// A word is not a number, or there are none.
pub(crate) fn numbers(what: &str, text: &str) -> Result<Vec<f64>, Error> {
    let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
    match numbers {
        Ok(numbers) if !numbers.is_empty() => Ok(numbers),
        _ => Err(Error::Program {
            what: what.to_owned(),
            reason: "numbers were expected of it".to_owned(),
            said: text.to_owned(),
        }),
    }
}
