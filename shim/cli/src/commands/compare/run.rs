//! Arguments of `treepie compare`, and the choice among kinds of files.

use std::process::ExitCode;

use treepie_launch::error::CommandError;
use treepie_profile::any::{AnyFile, read_any};
use treepie_report::input::ranks::require_equal;
use treepie_report::picture::Format;
use treepie_traffic::formats::Format as MatrixFormat;

use crate::commands::compare::arguments::Arguments;
use crate::commands::compare::pair::FilePair;
use crate::commands::compare::{placements, profiles};
use crate::commands::order;
use crate::commands::outcome::Outcome;

/// Compares two files of one kind.
pub fn run(arguments: &Arguments) -> Outcome {
    two_files(&FilePair {
        before: &arguments.before,
        after: &arguments.after,
        arguments,
    })
}

fn two_files(two: &FilePair) -> Outcome {
    if let Some(picture) = &two.arguments.output {
        Format::from_path(picture)?;
    }
    for path in [two.before, two.after] {
        if MatrixFormat::from_path(path).is_some() {
            return Err(CommandError::usage(format!(
                "{} is a matrix, which does not state where ranks ran; give two profiles or two placements, \
                 or see the matrix with `treepie show`",
                path.display()
            )));
        }
    }
    if order::is_one(two.before) && order::is_one(two.after) {
        return order::compare([two.before, two.after], two.arguments.printing);
    }
    match (read_any(two.before)?, read_any(two.after)?) {
        (AnyFile::Profile(before), AnyFile::Profile(after)) => {
            require_equal([(two.before, before.ranks), (two.after, after.ranks)])?;
            let choice = &two.arguments.choice;
            let before = profiles::Side::new(two.before, *before, choice)?;
            let after = profiles::Side::new(two.after, *after, choice)?;
            profiles::compare(two, &before, &after)?;
        }
        (AnyFile::Placement(before), AnyFile::Placement(after)) => {
            placements::compare(two, &before, &after)?;
        }
        (before, after) => {
            return Err(CommandError::usage(format!(
                "{} is a {} and {} is a {}; give two profiles or two placements",
                two.before.display(),
                before.kind(),
                two.after.display(),
                after.kind()
            )));
        }
    }
    Ok(ExitCode::SUCCESS)
}
