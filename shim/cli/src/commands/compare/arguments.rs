//! Arguments of `treepie compare`.

use std::path::PathBuf;

use clap::Args;
use treepie_report::input::choice::MatrixChoice;
use treepie_report::input::machine::MachineChoice;

use crate::commands::options::Printing;

/// Compare two profiles, placements or orders of receives
#[derive(Debug, Args)]
#[command(after_help = "\
Profiles of several runs in each of two ways have a verdict: `treepie prove PROFILE... --against
PROFILE...`.")]
pub struct Arguments {
    /// Profile, placement or order from before
    pub(crate) before: PathBuf,
    /// One of the same kind from after
    pub(crate) after: PathBuf,
    /// Draw both profiles side by side, in the order of the processes, into this file: .svg or .png
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) printing: Printing,
    #[command(flatten)]
    pub(crate) choice: MatrixChoice,
    #[command(flatten)]
    pub(crate) machine: MachineChoice,
}
