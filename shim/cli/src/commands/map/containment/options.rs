//! Options of the report on groups that roll back together.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use treepie_base::size;

use crate::commands::options::seconds;

/// Options of the report on groups that roll back together.
#[derive(Debug, Args)]
#[command(next_help_heading = "Containment of failures")]
pub struct ContainmentOptions {
    /// Report the cost of rollback recovery in groups of ranks: bytes logged, ranks rolled back,
    /// memory, interval and loss, by the number of groups. No checkpoint is made
    #[arg(long, conflicts_with_all = ["collectives", "quiet"])]
    pub(crate) containment: bool,
    /// Only these groups: their number, the numbers of consecutive ranks in them (4,4,8), or a
    /// file with the group of each rank
    #[arg(long, value_name = "GROUPS", requires = "containment")]
    pub(crate) groups: Option<String>,
    /// Part that fails as a whole: a level of the topology, or a file with lines of a host and its
    /// domain [default: host]
    #[arg(long, value_name = "LEVEL|FILE", requires = "containment")]
    pub(crate) domain: Option<String>,
    /// Mean time between failures of one domain, such as 90d or 5y
    #[arg(long, value_name = "TIME", default_value = "5y", value_parser = seconds, requires = "containment")]
    pub(crate) mtbf: f64,
    /// Time of a checkpoint
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = seconds, requires = "containment")]
    pub(crate) checkpoint_time: f64,
    /// Time of a restart
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = seconds, requires = "containment")]
    pub(crate) restart_time: f64,
    /// Time between checkpoints [default: Daly's]
    #[arg(long, value_name = "TIME", value_parser = seconds, requires = "containment")]
    pub(crate) interval: Option<f64>,
    /// Time of the run [default: that of a profile taken with --times]
    #[arg(long, value_name = "TIME", value_parser = seconds, requires = "containment")]
    pub(crate) run_time: Option<f64>,
    /// Memory of a rank for its log, such as 2GiB: larger logs are not recommended
    #[arg(long, value_name = "SIZE", value_parser = memory, requires = "containment")]
    pub(crate) log_memory: Option<f64>,
    /// Write the group of each rank, one per line, of the groups of --groups, or else of those that
    /// lose least if others can continue
    #[arg(long, value_name = "FILE", requires = "containment")]
    pub(crate) groups_output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) redundancy: RedundancyOptions,
}

/// Parses a positive number of bytes.
pub(crate) fn memory(text: &str) -> Result<f64, String> {
    let bytes = size(text).filter(|&bytes| bytes > 0);
    let bytes = bytes.ok_or_else(|| "write a size such as 512MiB or 2GiB".to_owned())?;
    Ok(bytes as f64)
}

/// Options of redundancy sets.
#[derive(Debug, Args)]
pub struct RedundancyOptions {
    /// Report the redundancy sets that this library would form, the failures that break them, and
    /// an order of hosts that avoids this
    #[arg(long, value_name = "LIBRARY", value_enum, requires = "containment")]
    pub(crate) redundancy: Option<Library>,
    /// Least number of members of a set [default: 8 in SCR, 4 in FTI; always 8 in VELOC]
    #[arg(long, value_name = "N", requires = "redundancy")]
    pub(crate) set_size: Option<usize>,
    /// Write the placement on the hosts in the improved order
    #[arg(long, value_name = "FILE", requires = "redundancy")]
    pub(crate) spread_output: Option<PathBuf>,
    /// Write the library's configuration
    #[arg(long, value_name = "FILE", requires = "redundancy")]
    pub(crate) redundancy_config: Option<PathBuf>,
}

/// A library for checkpoints on nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Library {
    Scr,
    Fti,
    Veloc,
}

impl Library {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Library::Scr => "SCR",
            Library::Fti => "FTI",
            Library::Veloc => "VELOC",
        }
    }

    pub(crate) fn caution(self) -> Option<&'static str> {
        match self {
            Library::Veloc => Some(
                "VELOC's manual has failure_domain, and no line of its source (5e8c1fa) uses it: \
                 the order of hosts alone decides",
            ),
            Library::Scr | Library::Fti => None,
        }
    }
}
