//! Numbers of ranks of files that are compared.

use std::path::Path;

use treepie_launch::error::CommandError;

use crate::words::pluralize;

/// Refuses files of different numbers of ranks.
///
/// # Errors
/// The numbers differ.
pub fn require_equal(files: [(&Path, usize); 2]) -> Result<(), CommandError> {
    let [(before, first), (after, second)] = files;
    if first == second {
        return Ok(());
    }
    Err(CommandError::failed(format!(
        "{} has {} and {} has {}; compare files of the same job",
        before.display(),
        pluralize(first, "rank"),
        after.display(),
        pluralize(second, "rank")
    )))
}
