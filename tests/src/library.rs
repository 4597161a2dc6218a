//! Use of the library by a job: not at all, or in one of its modes.

use crate::artifacts;
use crate::permutations::as_list;
use std::fmt;
use std::path::PathBuf;

/// The library preloaded into a job's processes, and its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Library {
    /// None: the plain run with which others are compared.
    Absent,
    /// Preloaded, with no variable set at all.
    Unset,
    /// `TREEPIE_MODE=off`.
    Off,
    /// `TREEPIE_MODE=profile`, with the profile to write.
    Profile(PathBuf),
    /// `TREEPIE_MODE=replay` with a bare permutation: the new rank of each
    /// process.
    Permuted(Vec<usize>),
    /// `TREEPIE_MODE=replay` with a file.
    Placed(PathBuf),
    /// Preloaded, with these variables and no other.
    Set(Vec<(&'static str, String)>),
}

impl fmt::Display for Library {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Library::Absent => formatter.write_str("without the library"),
            Library::Unset => formatter.write_str("with the library and no settings"),
            _ => {
                formatter.write_str("with")?;
                for (name, value) in self.settings() {
                    write!(formatter, " {name}={value}")?;
                }
                Ok(())
            }
        }
    }
}

impl Library {
    /// The library's own variables.
    fn settings(&self) -> Vec<(String, String)> {
        let pairs: Vec<(&str, String)> = match self {
            Library::Absent | Library::Unset => Vec::new(),
            Library::Off => vec![("TREEPIE_MODE", "off".into())],
            Library::Profile(output) => vec![
                ("TREEPIE_MODE", "profile".into()),
                ("TREEPIE_OUTPUT", output.display().to_string()),
            ],
            Library::Permuted(permutation) => vec![
                ("TREEPIE_MODE", "replay".into()),
                ("TREEPIE_PERMUTATION", as_list(permutation)),
            ],
            Library::Placed(file) => vec![
                ("TREEPIE_MODE", "replay".into()),
                ("TREEPIE_PLACEMENT", file.display().to_string()),
            ],
            Library::Set(pairs) => pairs.clone(),
        };
        pairs
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    /// The mode: `off`, `profile` or `replay`; empty if none is set.
    pub fn mode(&self) -> String {
        let settings = self.settings().into_iter();
        let mut modes = settings.filter(|(name, _)| name == "TREEPIE_MODE");
        modes.next().map_or_else(String::new, |(_, mode)| mode)
    }

    /// All variables to set in a job's processes.
    #[track_caller]
    pub fn variables(&self) -> Vec<(String, String)> {
        if *self == Library::Absent {
            return Vec::new();
        }
        let mut variables = vec![(
            "LD_PRELOAD".to_owned(),
            artifacts::library().display().to_string(),
        )];
        variables.extend(self.settings());
        variables
    }
}
