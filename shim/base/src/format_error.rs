//! Errors of matrix files.

use thiserror::Error;

/// Reason why a file is not the matrix that it should be; one line for the user.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FormatError {
    /// The file could not be read, or is no text.
    #[error(
        "{file}: cannot be read after line {line}: {reason}; check that it is a text file and whole"
    )]
    Unreadable {
        /// The file's name.
        file: String,
        /// The last line that could be read, counted from 1.
        line: usize,
        /// Message of the system.
        reason: String,
    },
    /// A line does not hold what it should.
    #[error("{file}:{line}: expected {expected}, found {found}; {remedy}")]
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
