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
    /// runs of a job in one way
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Profiles of runs in the way that it is compared with. All must have times (`treepie profile
    /// --times`); the answer is the verdict of `treepie prove`
    #[arg(long, value_name = "PROFILE", num_args = 1.., conflicts_with_all = OF_TWO)]
    pub(crate) against: Option<Vec<PathBuf>>,
    /// Difference that matters, in per cent: a smaller one counts as none
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent, requires = "against")]
    pub(crate) difference: f64,
    /// Draw both profiles side by side in the order of the processes, or the times of both groups,
    /// as .svg or .png
    #[arg(long, value_name = "FILE")]
    pub(crate) picture: Option<PathBuf>,
    /// Write a report about two groups in one HTML file (about two profiles: `treepie show --html`)
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

/// Options that have no part in a comparison of times.
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
