//! `treepie compare`: two profiles or two placements side by side; or two groups of profiles.
//!
//! Two profiles of the same application, one taken before and one during a replay, show what a
//! placement has really changed: each of them has the rank of every process. Two groups of profiles
//! with times, each of several runs, have a verdict.
//!
//! ```text
//! profiles     two profiles
//! placements   two placements
//! groups       the times of two groups of profiles
//! ```

mod groups;
mod placements;
mod profiles;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use treepie_profile::any::{AnyFile, read_any};
use treepie_traffic::formats::Format as MatrixFormat;

use super::Outcome;
use super::answer::Wanted;
use super::options::percent;
use super::order;
use treepie_launch::error::CommandError;
use treepie_report::input::choice::MatrixChoice;
use treepie_report::input::machine::MachineChoice;
use treepie_report::picture::Format;
use treepie_report::words::pluralize;

/// Compare two profiles, two placements, two orders, or the times of two groups of profiles
#[derive(Debug, Args)]
#[command(override_usage = "treepie compare [OPTIONS] BEFORE AFTER
       treepie compare [OPTIONS] PROFILE... --against PROFILE...")]
pub struct Arguments {
    /// Profile or placement from before, and one from after; with --against, profiles of several
    /// runs of a job in one way
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Profiles of runs in the way that it is compared with. All must have times (`treepie profile
    /// --times`); the answer is the verdict of `treepie prove`
    #[arg(long, value_name = "PROFILE", num_args = 1.., conflicts_with_all = OF_TWO)]
    against: Option<Vec<PathBuf>>,
    /// Difference that matters, in per cent: a smaller one counts as none
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent, requires = "against")]
    difference: f64,
    /// Draw both profiles side by side in the order of the processes, or the times of both groups,
    /// as .svg or .png
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Write a report about two groups in one HTML file (about two profiles: `treepie show --html`)
    #[arg(long, value_name = "FILE", requires = "against")]
    html: Option<PathBuf>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    choice: MatrixChoice,
    #[command(flatten)]
    machine: MachineChoice,
}

/// Options that have no part in a comparison of times.
const OF_TWO: [&str; 10] = [
    "topology",
    "tree",
    "hierarchy",
    "distances",
    "network",
    "platform",
    "metric",
    "layers",
    "model",
    "phase",
];

/// Compares two files of either kind, or two groups of profiles.
pub fn run(arguments: &Arguments) -> Outcome {
    if let Some(against) = &arguments.against {
        let wanted = Wanted {
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
        [before, after] => two_files(&Two {
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

/// Two files, and how they are compared.
struct Two<'a> {
    before: &'a Path,
    after: &'a Path,
    arguments: &'a Arguments,
}

fn two_files(two: &Two) -> Outcome {
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

/// Names of the two sides.
fn sides(two: &Two) -> String {
    format!(
        "before: {}\nafter:  {}\n",
        two.before.display(),
        two.after.display()
    )
}

/// Refuses files of different numbers of ranks.
fn require_equal_ranks(files: [(&Path, usize); 2]) -> Result<(), CommandError> {
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
