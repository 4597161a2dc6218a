//! Arguments of `treepie show`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use treepie_report::input::choice::MatrixChoice;
use treepie_report::input::machine::Above;
use treepie_report::input::topology::HELP;

use crate::commands::options::Printing;

/// Show any file in words, or draw it
#[derive(Debug, Args)]
pub struct Arguments {
    /// File to show; also a topology in the form of `treepie map --topology`
    pub(crate) file: String,
    /// Draw it into this file: .svg or .png
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The drawing: traffic between ranks as a matrix, the tree of the machine, or the links of
    /// the network that --network names [default: heat-map; of a topology, tree]
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) draw: Option<Draw>,
    #[arg(long, short, value_name = "TOPOLOGY", help = HELP)]
    pub(crate) topology: Option<String>,
    /// Profile of a placement, if it is not at the path in the placement
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) printing: Printing,
    #[command(flatten)]
    pub(crate) choice: MatrixChoice,
    #[command(flatten)]
    pub(crate) above: Above,
}

// A comment on a variant would become a second help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Draw {
    HeatMap,
    Tree,
    Links,
}
