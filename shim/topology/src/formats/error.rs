//! Errors in files of networks.

use std::path::Path;

use treepie_base::FileError;
use treepie_base::error::one_line;

use crate::networks::error::NetworkError;

/// An error in a line, counted from 1; 0 where a form has no lines.
pub(super) fn line_error(path: &Path, line: usize, problem: String) -> FileError {
    FileError::Text {
        path: path.to_owned(),
        line,
        column: 0,
        problem: one_line(&problem),
    }
}

/// Errors of networks with the name of the file.
pub(super) fn in_network<T>(path: &Path, result: Result<T, NetworkError>) -> Result<T, FileError> {
    result.map_err(|error| FileError::field(path, "network", error))
}
