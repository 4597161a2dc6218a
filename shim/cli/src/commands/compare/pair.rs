//! Comparison of two files.

use std::path::Path;

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
