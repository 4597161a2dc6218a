//! Errors in files of networks.

use std::path::Path;

use treepie_base::FileError;

use crate::networks::error::NetworkError;

/// Adds the name of the file to errors of networks.
pub(super) fn in_network<T>(path: &Path, result: Result<T, NetworkError>) -> Result<T, FileError> {
    result.map_err(|error| FileError::field(path, "network", error))
}
