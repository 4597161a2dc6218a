//! Arguments of `treepie compare`.

use std::path::PathBuf;

use clap::Args;
use treepie_report::input::choice::MatrixChoice;
use treepie_report::input::machine::MachineChoice;

use crate::commands::options::percent;

/// Compare two profiles, placements or orders, or the times of two groups of profiles
#[derive(Debug, Args)]
#[command(override_usage = "treepie compare [OPTIONS] BEFORE AFTER
       treepie compare [OPTIONS] PROFILE... --against PROFILE...")]
pub struct Arguments {
    /// Profile or placement from before, and one from after; with --against, profiles of several
    /// runs of a job with one configuration
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Profiles of runs with the reference configuration. All must have times (`treepie profile
    /// --times`); the answer is the verdict of `treepie prove`
    #[arg(long, value_name = "PROFILE", num_args = 1.., conflicts_with_all = OF_TWO)]
    pub(crate) against: Option<Vec<PathBuf>>,
    /// Least difference that counts, in per cent; smaller ones are treated as none
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent, requires = "against")]
    pub(crate) difference: f64,
    /// Draw both profiles side by side in the order of the processes, or the times of both groups,
    /// as .svg or .png
    #[arg(long, value_name = "FILE")]
    pub(crate) picture: Option<PathBuf>,
    /// Write a report on two groups in one HTML file (on two profiles: `treepie show --html`)
    #[arg(long, value_name = "FILE", requires = "against")]
    pub(crate) html: Option<PathBuf>,
    /// Print the answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) choice: MatrixChoice,
    #[command(flatten)]
    pub(crate) machine: MachineChoice,
}

/// Options that do not apply to a comparison of times.
pub(crate) const OF_TWO: [&str; 10] = [
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
