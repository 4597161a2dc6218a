//! Starting a job in a variant: what is preloaded into it, and with which settings.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use treepie_tests::{Library, Mpi, artifacts, find_command};

use crate::error::Error;

/// A way to use the library, or a yardstick beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    /// Without any library.
    Plain,
    /// Plain once more: what differs between both is noise.
    Again,
    /// A library whose procedures only call the MPI's: what any interposition costs.
    Hook,
    /// Open MPI's own monitoring component.
    Monitoring,
    /// The library with these settings. `{}` in a value is a directory of the benchmark's own.
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

    /// Whether an MPI has it.
    pub(crate) fn is_of(self, mpi: Mpi) -> bool {
        self != Variant::Monitoring || mpi.is_open_mpi()
    }

    /// The variables of a job's processes, but for what is preloaded.
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

/// Words that give a command real-time priority, where that is allowed: what else runs on this
/// machine does not count then.
pub(crate) fn real_time() -> Vec<OsString> {
    let words = ["chrt", "-r", "1"];
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg("true").stderr(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => words.map(OsString::from).to_vec(),
        _ => Vec::new(),
    }
}

/// Runs a command for `seconds` at most, in a directory; its standard output and error.
///
/// # Errors
/// A command that cannot be started, does not end, or ends badly.
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

/// The numbers of a line or of more.
///
/// # Errors
/// A word that is no number, or none at all.
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
