//! Errors of a site's policy.

use thiserror::Error;
use treepie_base::FileError;

/// Error of a site's policy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SiteError {
    /// The file cannot be read, or is invalid.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file could have been written by users other than root.
    #[error("{0}: belongs to another user than root, or others may write to it or its directory")]
    NotRoots(String),
}
