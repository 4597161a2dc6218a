//! Errors of a benchmark.

use std::fmt::Display;
use std::path::{Path, PathBuf};

/// A benchmark cannot be run, or its figures cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A file cannot be read or written, or has wrong contents.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Text of the error.
        reason: String,
    },
    /// A program failed or had wrong output.
    #[error("{what} did not end well: {reason}\n{said}")]
    Program {
        /// The row and the variant.
        what: String,
        /// Its status, or the expected output.
        reason: String,
        /// Output of the program.
        said: String,
    },
    /// A file of figures without the run.
    #[error("{}: no run of the date `{date}`; run scripts/bench first, or name one that is there", path.display())]
    NoRun {
        /// The file.
        path: PathBuf,
        /// The requested date.
        date: String,
    },
    /// An unknown name.
    #[error("there is no {what} `{name}`; there are {known}")]
    Unknown {
        /// A kind, a job, or a benchmark.
        what: &'static str,
        /// The name.
        name: String,
        /// All existing names.
        known: String,
    },
}

impl Error {
    pub(crate) fn file(path: &Path, error: impl Display) -> Self {
        Error::File {
            path: path.to_owned(),
            reason: error.to_string(),
        }
    }
}

/// The items of `known` named in a list separated by commas; all if there is no list.
///
/// # Errors
/// A name is unknown.
pub(crate) fn wanted<T: Copy>(
    what: &'static str,
    list: Option<&str>,
    known: &[T],
    name_of: impl Fn(&T) -> &str,
) -> Result<Vec<T>, Error> {
    let Some(list) = list.filter(|list| !list.is_empty()) else {
        return Ok(known.to_vec());
    };
    let find = |name: &str| {
        let found = known.iter().find(|one| name_of(one) == name).copied();
        found.ok_or_else(|| Error::Unknown {
            what,
            name: name.to_owned(),
            known: known.iter().map(&name_of).collect::<Vec<_>>().join(", "),
        })
    };
    list.split(',').map(find).collect()
}
