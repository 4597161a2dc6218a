//! Errors in files of networks.

use std::path::Path;

use treepie_base::FileError;

use crate::networks::error::NetworkError;

/// Errors of networks with the name of the file.
pub(super) fn in_network<T>(path: &Path, result: Result<T, NetworkError>) -> Result<T, FileError> {
    result.map_err(|error| FileError::field(path, "network", error))
}
