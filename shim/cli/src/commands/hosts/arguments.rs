//! Arguments of `treepie hosts`.

use std::path::PathBuf;

use clap::Args;
use treepie_report::input::machine::Above;

use crate::commands::options::{Printing, Seed};

/// Put hosts into a good order for a pattern of traffic, without a run
///
/// Rings, halos and model-parallel jobs number their ranks by the list of their hosts, which is
/// usually sorted by name.
#[derive(Debug, Args)]
#[command(
    override_usage = "treepie hosts --network NETWORK [--hosts LIST] [--pattern PATTERN] [OPTIONS]"
)]
pub struct Arguments {
    /// Hosts, such as n[1-64] or n1,n2 [default: those of the allocation]
    #[arg(long, value_name = "LIST")]
    pub(super) hosts: Option<String>,
    /// Pattern of traffic: ring, tree, all-to-all, halo:8x8, groups of ranks with the fastest first
    /// such as tp8,pp4,dp16 (tp, cp, ep, dp, pp; tp8*100 sets the weight), a profile or a matrix
    #[arg(long, value_name = "PATTERN", default_value = "ring")]
    pub(super) pattern: String,
    /// Ranks of each host
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub(super) ranks_per_host: u32,
    /// File to write, by its ending: .slurm (SLURM_HOSTFILE), .openmpi (slots=N), .hydra (name:N),
    /// .rankfile (Open MPI), .nodes (host and node rank, for torchrun), else one host per line
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) seed: Seed,
    #[command(flatten)]
    pub(super) printing: Printing,
    #[command(flatten)]
    pub(super) above: Above,
}
