//! Comparison of two files.

use std::path::Path;

use treepie_launch::error::CommandError;
use treepie_report::words::pluralize;

use crate::commands::compare::arguments::Arguments;

/// Two files, and the arguments of their comparison.
pub(super) struct FilePair<'a> {
    pub(crate) before: &'a Path,
    pub(crate) after: &'a Path,
    pub(crate) arguments: &'a Arguments,
}

/// Names of the two sides.
pub(super) fn sides(two: &FilePair) -> String {
    format!(
        "before: {}\nafter:  {}\n",
        two.before.display(),
        two.after.display()
    )
}

/// Refuses files of different numbers of ranks.
pub(super) fn require_equal_ranks(files: [(&Path, usize); 2]) -> Result<(), CommandError> {
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
