//! Errors of files; each is one line with a remedy.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::input::Unfit;
use crate::kind::Kind;
use crate::printable::one_line;

/// Error of a file that cannot be used. Every message is one line: the file, the line or field, the
/// expectation, and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}{}: {kind}", one_line(&.path.to_string_lossy()), place(*.line, *.column))]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// Line, counted from 1; 0 if it is not known.
    pub line: usize,
    /// Column, counted from 1; 0 if it is not known.
    pub column: usize,
    /// Problem, expectation and remedy.
    pub kind: FileErrorKind,
}

/// Reason why a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FileErrorKind {
    /// No file has this name.
    #[error("there is no such file; check its name and the current directory")]
    Missing,
    /// The operating system refuses to read it, with this message.
    #[error("cannot be read: {0}; check its permissions")]
    Unreadable(String),
    /// It is not a file, or too large.
    #[error(transparent)]
    Unfit(Unfit),
    /// The operating system refuses to write it, with this message; no file was left behind.
    #[error(
        "cannot be written: {0}; choose a file in a directory that exists and that you may write to"
    )]
    Unwritable(String),
    /// The file contains bytes that are not UTF-8; the position of the first, counted from 0.
    #[error("is not text: byte {0} is not UTF-8; a YAML file of treepie was expected")]
    NotText(usize),
    /// The text is not YAML; the message of its reader.
    #[error("is not valid YAML: {0}; correct this line, or write the file again if it was cut off")]
    Syntax(String),
    /// The file has no header of treepie.
    #[error(
        "{reason}; a file of treepie starts with the lines `treepie: {expected}` and `version: 1`"
    )]
    NoHeader {
        /// Missing or wrong part.
        reason: String,
        /// Expected kind: one kind, or all of them.
        expected: String,
    },
    /// It is one of treepie's files, but of another kind.
    #[error("this is a {found}, a {expected} was expected; give the {expected}{}", remedy(*.found, *.expected))]
    WrongKind {
        /// Kind of the file.
        found: Kind,
        /// Expected kind.
        expected: Kind,
    },
    /// The file's version is newer than this program.
    #[error(
        "version {found}: written by a newer treepie, this one reads versions up to {known}; use \
         the newer treepie, or write the file again with this one"
    )]
    NewerVersion {
        /// Version of the file.
        found: u64,
        /// Newest version that is supported.
        known: u64,
    },
    /// A value is wrong: field, expectation and remedy.
    #[error("{0}")]
    Problem(String),
    /// The file was made for another number of ranks than the job has.
    #[error(transparent)]
    OtherRanks(#[from] OtherRanks),
}

/// Two numbers of ranks that should be equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "is for {file} ranks and the job has {job}; start {file} ranks, or make one for {job} from a \
     profile of {job} ranks"
)]
pub struct OtherRanks {
    /// Number of ranks in the file.
    pub file: usize,
    /// Number of ranks in the job.
    pub job: usize,
}

/// Returns `:line:column`, as compilers write it and editors follow it.
fn place(line: usize, column: usize) -> String {
    match (line, column) {
        (0, _) => String::new(),
        (line, 0) => format!(":{line}"),
        (line, column) => format!(":{line}:{column}"),
    }
}

/// Returns the remedy if a profile was given for a placement.
fn remedy(found: Kind, expected: Kind) -> &'static str {
    match (found, expected) {
        (Kind::Profile, Kind::Placement) => ", which `treepie map` makes from a profile",
        _ => "",
    }
}

impl FileError {
    /// Creates a problem of the file as a whole.
    pub fn new(path: &Path, kind: impl Into<FileErrorKind>) -> Self {
        FileError {
            path: path.to_owned(),
            line: 0,
            column: 0,
            kind: kind.into(),
        }
    }

    /// Creates a problem in a line, counted from 1; 0 for none.
    pub fn at(path: &Path, line: usize, problem: impl ToString) -> Self {
        let problem = one_line(&problem.to_string());
        FileError {
            line,
            ..FileError::new(path, FileErrorKind::Problem(problem))
        }
    }

    /// Creates the error of a field that contradicts the rest of the file.
    pub fn field(path: &Path, field: impl Display, problem: impl ToString) -> Self {
        let problem = one_line(&problem.to_string());
        FileError::new(path, FileErrorKind::Problem(format!("{field}: {problem}")))
    }

    /// Creates a read error, by its cause.
    pub fn reading(path: &Path, error: &io::Error) -> Self {
        let unfit = error.get_ref().and_then(|inner| inner.downcast_ref());
        let kind = match (unfit, error.kind()) {
            (Some(&unfit), _) => FileErrorKind::Unfit(unfit),
            (None, io::ErrorKind::NotFound) => FileErrorKind::Missing,
            (None, _) => FileErrorKind::Unreadable(reason(error)),
        };
        FileError::new(path, kind)
    }

    /// Creates a write error, by its cause.
    pub(crate) fn writing(path: &Path, error: &io::Error) -> Self {
        FileError::new(path, FileErrorKind::Unwritable(reason(error)))
    }
}

/// Returns the message of the operating system, without the number and without the names of
/// temporary files, which are meaningless to the reader.
fn reason(error: &io::Error) -> String {
    let message = match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code).to_string(),
        None => match error.get_ref().and_then(|inner| inner.source()) {
            Some(source) => source.to_string(),
            None => error.to_string(),
        },
    };
    let plain = message.split(" (os error").next().unwrap_or(&message);
    one_line(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_stays_on_one_line_whatever_its_file_is_called() {
        let path = Path::new("\u{1b}[31m\nX.yaml");
        let error = FileError::at(path, 3, "is\nwrong");
        assert_eq!(error.to_string(), "\\u{1b}[31m\\nX.yaml:3: is\\nwrong");
    }
}
