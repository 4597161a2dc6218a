//! Arguments of `treepie compare`, and the choice among kinds of files.

use std::process::ExitCode;

use treepie_launch::error::CommandError;
use treepie_profile::any::{AnyFile, read_any};
use treepie_report::picture::Format;
use treepie_traffic::formats::Format as MatrixFormat;

use crate::commands::answer::RequestedOutputs;
use crate::commands::compare::arguments::Arguments;
use crate::commands::compare::pair::{FilePair, require_equal_ranks};
use crate::commands::compare::{groups, placements, profiles};
use crate::commands::order;
use crate::commands::outcome::Outcome;

/// Compares two files of either kind, or two groups of profiles.
pub fn run(arguments: &Arguments) -> Outcome {
    if let Some(against) = &arguments.against {
        let wanted = RequestedOutputs {
            picture: arguments.picture.as_deref(),
            html: arguments.html.as_deref(),
            json: arguments.json,
        };
        wanted.check()?;
        let difference = arguments.difference / 100.0;
        wanted.give(&groups::compare(against, &arguments.files, difference)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    match &arguments.files[..] {
        [before, after] => two_files(&FilePair {
            before,
            after,
            arguments,
        }),
        files => Err(CommandError::usage(format!(
            "{} given; give two, or two groups of profiles with --against before the second",
            match files.len() {
                1 => "1 file is".to_owned(),
                more => format!("{more} files are"),
            }
        ))),
    }
}

fn two_files(two: &FilePair) -> Outcome {
    if let Some(picture) = &two.arguments.picture {
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
        return order::compare([two.before, two.after], two.arguments.json);
    }
    match (read_any(two.before)?, read_any(two.after)?) {
        (AnyFile::Profile(before), AnyFile::Profile(after)) => {
            require_equal_ranks([(two.before, before.ranks), (two.after, after.ranks)])?;
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
