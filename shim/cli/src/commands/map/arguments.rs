//! Arguments of `treepie map`.

use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use treepie_base::time;
use treepie_placement::objective::Objective;
use treepie_placement::{Effort, Strategy};
use treepie_profile::settings::Collectives;
use treepie_report::input::choice::MatrixChoice;
use treepie_report::input::machine::MachineChoice;

use crate::commands::map::constraints::ConstraintOptions;
use crate::commands::map::containment::options::ContainmentOptions;
use crate::commands::options::{Printing, Seed};

/// Compute the core for each rank
#[derive(Debug, Args)]
pub struct Arguments {
    /// Profile, or a matrix (.mtx, .txt, .csv, .graph, .grf, .prof)
    pub(crate) profile: PathBuf,
    /// Placement to write [default: PROFILE with the ending .placement.yaml]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Draw the matrix before and after in the order of the cores, with the
    /// machine's blocks over it, as .svg or .png; with --containment, bytes
    /// logged against ranks rolled back
    #[arg(long, value_name = "FILE")]
    pub(crate) picture: Option<PathBuf>,
    /// Draw the links of the network with their traffic before and after, as .svg
    /// or .png: planes of a torus, groups of a dragonfly
    #[arg(long = "network-picture", value_name = "FILE")]
    pub(crate) links: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) printing: Printing,
    #[command(flatten)]
    pub(crate) how: SearchOptions,
    #[command(flatten)]
    pub(crate) choice: MatrixChoice,
    #[command(flatten)]
    pub(crate) replaced: ReplacedOptions,
    #[command(flatten)]
    pub(crate) machine: MachineChoice,
    #[command(flatten)]
    pub(crate) limits: ConstraintOptions,
    #[command(flatten)]
    pub(crate) near: NearOptions,
    #[command(flatten)]
    pub(crate) order: OrderOptions,
    #[command(flatten)]
    pub(crate) containment: ContainmentOptions,
}

/// Options of the search.
#[derive(Debug, Args)]
pub(crate) struct SearchOptions {
    /// One of: best, multisection, grid, swaps, treematch, treematch-exact,
    /// treematch-fast, treematch-constraints, tmlb-min-weight, tmlb-tree-based,
    /// packed, round-robin, identity
    #[arg(long, short, default_value = "best", value_parser = str::parse::<Strategy>)]
    pub(crate) strategy: Strategy,
    /// Objective that is minimized: sum (DistComm), congestion (the most loaded link), mixture (of
    /// both), temps-comm, makespan-comm, coupe-min [default: mixture on networks that are not
    /// trees, where it is the best estimate of the time, else sum]
    #[arg(long, value_parser = str::parse::<Objective>)]
    pub(crate) objective: Option<Objective>,
    /// Effort of the search: fast, normal, strong
    #[arg(long, default_value = "normal", value_parser = str::parse::<Effort>)]
    pub(crate) effort: Effort,
    /// Continue the search for this time; the result never gets worse
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    pub(crate) time_limit: Option<Duration>,
    #[command(flatten)]
    pub(crate) seed: Seed,
    /// Number of threads; the placement is the same for any number [default: all processors]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) threads: Option<usize>,
    /// Load of each rank, one number each, for the tmlb strategies [default: its time outside MPI,
    /// if the profile was taken with --times]
    #[arg(long, value_name = "FILE")]
    pub(crate) loads: Option<PathBuf>,
    /// Current location of the ranks: a placement, or a list of one core for each
    #[arg(long, value_name = "FILE")]
    pub(crate) current: Option<PathBuf>,
}

/// Number of threads that can run simultaneously here.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Option for placing ranks near network interfaces.
#[derive(Debug, Args)]
#[command(next_help_heading = "Constraints")]
pub struct NearOptions {
    /// Place the ranks with the most traffic to other nodes next to the network interface of their
    /// node, for at most 1 % more cost: network, or names of interfaces such as mlx5_0
    #[arg(long, value_name = "DEVICES", conflicts_with = "collectives")]
    pub(crate) near: Option<String>,
}

/// Option for the order of ranks on a node.
#[derive(Debug, Args)]
#[command(next_help_heading = "Constraints")]
pub struct OrderOptions {
    /// Have the ranks of each node ascend with the launcher's local numbers, by which many programs
    /// choose their GPU; prints the cost
    #[arg(long)]
    pub(crate) keep_local_order: bool,
}

/// Option for the collectives that the replay replaces.
#[derive(Debug, Args)]
pub struct ReplacedOptions {
    /// Place for the collectives that a replay with these on --platform will run, not for those of
    /// the MPI: auto, or bcast=grid-chain,allreduce=auto,... in the form of TREEPIE_COLLECTIVES
    #[arg(long, value_name = "WHO", value_parser = str::parse::<Collectives>, requires = "platform", conflicts_with = "model")]
    pub(crate) collectives: Option<Collectives>,
}
