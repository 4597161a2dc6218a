//! Errors of a site's policy.

use thiserror::Error;
use treepie_base::FileError;

/// A site's policy that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SiteError {
    /// The file cannot be read, or is wrong.
    #[error(transparent)]
    File(#[from] FileError),
    /// Others than root could have written it.
    #[error("{0}: belongs to another user than root, or others may write to it or its directory")]
    NotRoots(String),
}
