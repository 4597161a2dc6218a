//! Arguments of `treepie show`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use treepie_report::input::choice::MatrixChoice;
use treepie_report::input::machine::Above;
use treepie_report::input::plan::PlanChoice;
use treepie_report::input::topology::HELP;

/// Show any file as text, picture or report
#[derive(Debug, Args)]
pub struct Arguments {
    /// File to show; also a topology in the form of `treepie map --topology`
    pub(crate) file: String,
    /// For --html, further files on the same job: a placement, a profile taken in its replay, a
    /// platform, a topology, a network
    #[arg(value_name = "MORE")]
    pub(crate) more: Vec<PathBuf>,
    /// Write a report in one HTML file, to view in a browser or to send to others
    #[arg(long, value_name = "OUT", conflicts_with_all = ["svg", "png"])]
    pub(crate) html: Option<PathBuf>,
    #[arg(long, short, value_name = "TOPOLOGY", help = HELP)]
    pub(crate) topology: Option<String>,
    /// Draw it as SVG
    #[arg(long, value_name = "OUT", conflicts_with = "png")]
    pub(crate) svg: Option<PathBuf>,
    /// Draw it as PNG
    #[arg(long, value_name = "OUT")]
    pub(crate) png: Option<PathBuf>,
    /// The drawing [default: the heat map; for a topology, its tree]
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) draw: Option<Draw>,
    /// Profile of a placement, if it is not at the path in the placement
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) plan: PlanChoice,
    #[command(flatten)]
    pub(crate) choice: MatrixChoice,
    #[command(flatten)]
    pub(crate) above: Above,
}

/// Subject of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Draw {
    /// Traffic between ranks, as a matrix
    HeatMap,
    /// The tree of the machine, with the traffic over its links
    Tree,
    /// The links of the network of --network, with the traffic over them
    Links,
}
