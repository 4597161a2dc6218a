//! `treepie doctor --bundle`: information for a support team, in one text file.

use std::env;
use std::fs;
use std::io::Write;
use std::path::Path;

use treepie_base::{printable, write_atomically};
use treepie_launch::error::CommandError;
use treepie_launch::library;

use crate::commands::command_line::VERSION;

/// Prefixes of the names of variables that determine the behaviour of an MPI or Treepie. Others may
/// have any contents, and are left out.
const SETTINGS: [&str; 10] = [
    "TREEPIE_",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "OMPI_MCA_",
    "PRTE_MCA_",
    "MPIR_CVAR_",
    "MPICH_",
    "I_MPI_",
    "UCX_",
    "FI_PROVIDER",
];

/// Writes the file, with the findings of doctor.
pub(crate) fn write(file: &Path, findings: &str) -> Result<(), CommandError> {
    let names = Names::of_this_process();
    let sections = [
        (
            "Versions",
            format!("treepie {VERSION}\n{}", library::describe()),
        ),
        ("Host", host()),
        ("Settings", settings()),
        ("Findings", findings.to_owned()),
    ];
    let text = sections.map(|(title, text)| format!("== {title}\n\n{text}\n"));
    let text = printable::lines(&names.hidden(&text.concat()));
    write_atomically(file, |out: &mut dyn Write| out.write_all(text.as_bytes()))?;
    Ok(())
}

/// Kernel, processor and distribution.
fn host() -> String {
    let own = rustix::system::uname();
    let shown = [own.sysname(), own.release(), own.machine()];
    let shown = shown.map(|part| part.to_string_lossy().into_owned());
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let named = |line: &str| line.strip_prefix("PRETTY_NAME=").map(str::to_owned);
    let name = release.lines().find_map(named).unwrap_or_default();
    format!("{}\n{}\n", shown.join(" "), name.trim_matches('"'))
}

/// The variables of [`SETTINGS`], one per line.
fn settings() -> String {
    let all = env::vars_os().map(|(name, value)| {
        let name = name.to_string_lossy().into_owned();
        (name, value.to_string_lossy().into_owned())
    });
    let decides = |name: &str| SETTINGS.iter().any(|start| name.starts_with(start));
    let kept = all.filter(|(name, _)| decides(name));
    let mut lines: Vec<String> = kept
        .map(|(name, value)| format!("{name}={value}\n"))
        .collect();
    lines.sort();
    lines.concat()
}

/// Names that identify a person or a host.
struct Names {
    home: String,
    user: String,
    host: String,
}

impl Names {
    fn of_this_process() -> Self {
        let variable = |name| env::var(name).unwrap_or_default();
        let own = rustix::system::uname();
        Names {
            home: variable("HOME"),
            user: variable("USER"),
            host: own.nodename().to_string_lossy().into_owned(),
        }
    }

    /// Replaces these names in a text: a home at the beginning of paths, a user as part of them.
    fn hidden(&self, text: &str) -> String {
        let mut text = text.to_owned();
        if self.home.len() > 1 {
            text = text.replace(&self.home, "~");
        }
        if !self.user.is_empty() {
            text = text.replace(&format!("/{}/", self.user), "/USER/");
        }
        // Short names are parts of other words.
        if self.host.len() > 2 {
            text = text.replace(&self.host, "HOST");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homes_users_and_hosts_are_hidden() {
        let names = Names {
            home: "/home/ada".to_owned(),
            user: "ada".to_owned(),
            host: "node17".to_owned(),
        };
        let text = "/home/ada/lib and /scratch/ada/x on node17; adapted";
        assert_eq!(
            names.hidden(text),
            "~/lib and /scratch/USER/x on HOST; adapted"
        );
    }
}
