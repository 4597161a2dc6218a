//! Errors of matrix files.

use std::path::Path;

use thiserror::Error;

use crate::error::FileError;

/// Reason why a file is not the matrix that it should be; one line for the user.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FormatError {
    /// The file could not be read, or is no text.
    #[error("{file}: {}", self.problem())]
    Unreadable {
        /// The file's name.
        file: String,
        /// The last line that could be read, counted from 1.
        line: usize,
        /// Message of the system.
        reason: String,
    },
    /// A line does not hold what it should.
    #[error("{file}:{line}: {}", self.problem())]
    Content {
        /// The file's name.
        file: String,
        /// The line, counted from 1; the one after the last if the file ends too early.
        line: usize,
        /// Expected content.
        expected: String,
        /// Content found.
        found: String,
        /// Remedy.
        remedy: String,
    },
}

impl FormatError {
    fn problem(&self) -> String {
        match self {
            FormatError::Unreadable { line, reason, .. } => format!(
                "cannot be read after line {line}: {reason}; check that it is a text file and whole"
            ),
            FormatError::Content {
                expected,
                found,
                remedy,
                ..
            } => format!("expected {expected}, found {found}; {remedy}"),
        }
    }
}

impl From<FormatError> for FileError {
    fn from(error: FormatError) -> Self {
        let (file, line) = match &error {
            FormatError::Unreadable { file, .. } => (file, 0),
            FormatError::Content { file, line, .. } => (file, *line),
        };
        FileError::at(Path::new(file), line, error.problem())
    }
}
