//! Errors of files; each is one line with a remedy.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::header::Kind;
use super::input::Unfit;
use crate::format_error::FormatError;

/// A file that cannot be used. Every message is one line: the file, the line or
/// field, what was expected, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FileError {
    /// Nothing has this name.
    #[error(
        "{path}: there is no such file; check its name and the directory that the job starts in"
    )]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refuses to read it.
    #[error("{path}: cannot be read: {reason}; check its permissions")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Message of the operating system.
        reason: String,
    },
    /// It is no file, or too large a one.
    #[error("{path}: {reason}")]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What it is.
        reason: Unfit,
    },
    /// The operating system refuses to write it; nothing was left behind.
    #[error(
        "{path}: cannot be written: {reason}; choose a file in a directory that exists and that you may write to"
    )]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Message of the operating system.
        reason: String,
    },
    /// The file holds bytes that are not UTF-8.
    #[error("{path}: is not text: byte {offset} is not UTF-8; a YAML file of treepie was expected")]
    NotText {
        /// The file.
        path: PathBuf,
        /// Position of the first bad byte, counted from 0.
        offset: usize,
    },
    /// The text is not YAML.
    #[error("{path}{}: is not valid YAML: {reason}; correct this line, or write the file again if it was cut off", place(*.line, *.column))]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1; 0 if it is not known.
        line: usize,
        /// Column, counted from 1; 0 if it is not known.
        column: usize,
        /// Message of the YAML reader.
        reason: String,
    },
    /// The file has no header of treepie's.
    #[error(
        "{path}: {reason}; a file of treepie starts with the lines `treepie: {expected}` and `version: 1`"
    )]
    NoHeader {
        /// The file.
        path: PathBuf,
        /// The missing or wrong part.
        reason: String,
        /// Expected kind: one kind, or all of them.
        expected: String,
    },
    /// It is one of treepie's files, but another one was wanted.
    #[error("{path}: this is a {found}, a {expected} was expected; give the {expected}{}", remedy(*.found, *.expected))]
    WrongKind {
        /// The file.
        path: PathBuf,
        /// Its kind.
        found: Kind,
        /// The expected kind.
        expected: Kind,
    },
    /// The file's version is newer than this program.
    #[error(
        "{path}: version {found}: written by a newer treepie, this one reads versions up to {known}; use the newer treepie, or write the file again with this one"
    )]
    NewerVersion {
        /// The file.
        path: PathBuf,
        /// The version it states.
        found: u64,
        /// The newest version that is understood.
        known: u64,
    },
    /// A value at a known place in the text is wrong.
    #[error("{path}{}: {problem}", place(*.line, *.column))]
    Text {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1; 0 if it is not known.
        line: usize,
        /// Column, counted from 1; 0 if it is not known.
        column: usize,
        /// Field, expectation and remedy.
        problem: String,
    },
    /// A field is well formed and does not agree with the rest.
    #[error("{path}: {field}: {problem}")]
    Field {
        /// The file.
        path: PathBuf,
        /// The field.
        field: String,
        /// Expectation and remedy.
        problem: String,
    },
    /// A matrix beside a profile is wrong.
    #[error(transparent)]
    Matrix(#[from] FormatError),
    /// The file was made for another number of ranks than the job has.
    #[error("{path}: {ranks}")]
    OtherRanks {
        /// The file.
        path: PathBuf,
        /// The two numbers.
        ranks: OtherRanks,
    },
}

/// Two numbers of ranks that should be the same.
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

/// `:line:column`, as compilers write it and editors follow it.
fn place(line: usize, column: usize) -> String {
    match (line, column) {
        (0, _) => String::new(),
        (line, 0) => format!(":{line}"),
        (line, column) => format!(":{line}:{column}"),
    }
}

/// Remedy where a profile was given for a placement.
fn remedy(found: Kind, expected: Kind) -> &'static str {
    match (found, expected) {
        (Kind::Profile, Kind::Placement) => ", which `treepie map` makes from a profile",
        _ => "",
    }
}

impl FileError {
    /// A field that does not agree with the rest of the file.
    pub fn field(path: &Path, field: impl Into<String>, problem: impl ToString) -> Self {
        FileError::Field {
            path: path.to_owned(),
            field: field.into(),
            problem: one_line(&problem.to_string()),
        }
    }

    /// A failure to read, by its cause.
    pub fn reading(path: &Path, error: &io::Error) -> Self {
        let path = path.to_owned();
        let unfit = error.get_ref().and_then(|inner| inner.downcast_ref());
        if let Some(&reason) = unfit {
            return FileError::Unfit { path, reason };
        }
        match error.kind() {
            io::ErrorKind::NotFound => FileError::Missing { path },
            _ => FileError::Unreadable {
                path,
                reason: reason(error),
            },
        }
    }

    /// A failure to write, by its cause.
    pub(super) fn writing(path: &Path, error: &io::Error) -> Self {
        FileError::Unwritable {
            path: path.to_owned(),
            reason: reason(error),
        }
    }
}

/// Message of the operating system, without the number and without the names of temporary files,
/// which mean nothing to the reader.
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

/// The text with its control characters made visible, so that a message stays
/// on one line whatever a file contains.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}
