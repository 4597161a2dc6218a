//! `treepie map`: where each rank belongs, and what that is expected to gain.

mod constraints;
mod containment;
mod found;
mod near;
mod replaced;
mod search;
mod seat;
mod worth;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use treepie_base::check_writable;
use treepie_placement::balance::in_blocks;
use treepie_placement::networks::{Measures, NetworkNodes, place_on_network};
use treepie_placement::objective::Objective;
use treepie_placement::{
    Constraints, Effort, Options, Outcome as Placed, PlacementError, Progress, Strategy, place,
};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

use self::constraints::ConstraintOptions;
use self::containment::{ContainmentOptions, Machine};
use self::found::Found;
use self::near::NearOptions;
use self::replaced::{Replaced, ReplacedOptions};
use super::Outcome;
use super::options::absolute_path;
use crate::output::{self, Working};
use treepie_launch::error::CommandError;
use treepie_report::input::choice::MatrixChoice;
use treepie_report::input::machine::MachineChoice;
use treepie_report::input::numbers;
use treepie_report::input::occupancy::leaf_of_rank;
use treepie_report::input::topology::beside;
use treepie_report::input::traffic::Input;
use treepie_report::picture::{Format, write_drawing};
use treepie_report::words::pluralize;

/// Compute which rank belongs on which core
#[derive(Debug, Args)]
pub struct Arguments {
    /// Profile, or a matrix (.mtx, .txt, .csv, .graph, .grf, .prof)
    profile: PathBuf,
    /// Placement to write [default: PROFILE with the ending .placement.yaml]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw the matrix before and after in the order of the cores, with the
    /// machine's blocks over it, as .svg or .png; with --containment, bytes
    /// logged against ranks rolled back
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Draw the links of the network with their traffic before and after, as .svg
    /// or .png: planes of a torus, groups of a dragonfly
    #[arg(long, value_name = "FILE")]
    links: Option<PathBuf>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
    /// Only write the placement
    #[arg(long, short, conflicts_with = "json")]
    quiet: bool,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    choice: MatrixChoice,
    #[command(flatten)]
    replaced: ReplacedOptions,
    #[command(flatten)]
    machine: MachineChoice,
    #[command(flatten)]
    limits: ConstraintOptions,
    #[command(flatten)]
    near: NearOptions,
    #[command(flatten)]
    containment: ContainmentOptions,
}

/// Options of the search.
#[derive(Debug, Args)]
struct How {
    /// One of: best, multisection, grid, swaps, treematch, treematch-exact,
    /// treematch-fast, treematch-constraints, tmlb-min-weight, tmlb-tree-based,
    /// packed, round-robin, identity
    #[arg(long, short, default_value = "best", value_parser = str::parse::<Strategy>)]
    strategy: Strategy,
    /// Objective that is minimized: sum (DistComm), congestion (the most loaded link), mixture (of
    /// both), temps-comm, makespan-comm, coupe-min [default: mixture on networks that are no trees,
    /// where it is the best guess of the time, else sum]
    #[arg(long, value_parser = str::parse::<Objective>)]
    objective: Option<Objective>,
    /// Effort of the search: fast, normal, strong
    #[arg(long, default_value = "normal", value_parser = str::parse::<Effort>)]
    effort: Effort,
    /// Go on trying for so many seconds; the result only gets better
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    budget: Option<Duration>,
    /// Seed of random choices; the same seed gives the same placement
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Number of threads; the placement is the same for any number [default: all processors]
    #[arg(long, value_name = "NUMBER")]
    threads: Option<usize>,
    /// Load of each rank, one number each, for the tmlb strategies [default: its time outside MPI,
    /// if the profile was taken with --times]
    #[arg(long, value_name = "FILE")]
    loads: Option<PathBuf>,
    /// Current place of the ranks: a placement, or a list of one core for each
    #[arg(long, value_name = "FILE")]
    current: Option<PathBuf>,
}

/// Number of threads that can work at the same time here.
fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// A number of seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.parse().ok();
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "write a number of seconds, such as 10 or 0.5".to_owned())
}

/// Computes, writes, and reports.
pub fn run(arguments: &Arguments) -> Outcome {
    for picture in arguments.picture.iter().chain(&arguments.links) {
        Format::from_path(picture)?;
    }
    let output = match &arguments.output {
        Some(path) => path.clone(),
        None => beside(&arguments.profile, "placement"),
    };
    check_outputs(arguments, &output)?;
    let input = Input::read(&arguments.profile, &arguments.choice)?;
    let job = Job::new(arguments, input)?;
    let machine = match arguments.containment.is_given() {
        true => Some(Machine::new(&arguments.containment, &job.topology)?),
        false => None,
    };
    let start = Instant::now();
    let mut placed = job.place(arguments)?;
    let near = arguments.near.seat(arguments, &job, &mut placed)?;
    let seconds = start.elapsed().as_secs_f64();
    let found = Found::new(arguments, job, placed, near, seconds)?;
    let report = machine.as_ref();
    let report = report.map(|machine| arguments.containment.report(machine, &found));
    let report = report.transpose()?;
    found.file()?.write(&output)?;
    match (&arguments.picture, &report) {
        (Some(path), Some(report)) => {
            write_drawing(&report.chart(), Format::from_path(path)?, path)?;
        }
        (Some(path), None) => found.picture()?.write(path)?,
        (None, _) => (),
    }
    if let Some(path) = &arguments.links {
        write_drawing(&found.links()?, Format::from_path(path)?, path)?;
    }
    if arguments.json {
        output::print_json(&found.answer(&output, report))?;
    } else if !arguments.quiet {
        // The verdict on the placement stays the last line.
        let report = report.map_or(String::new(), |report| report.text());
        output::print(&(report + &found.text(&output)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses files that can't all be written, before the work is done.
fn check_outputs(arguments: &Arguments, output: &Path) -> Result<(), CommandError> {
    let own = [
        ("--output", Some(output)),
        ("--picture", arguments.picture.as_deref()),
        ("--links", arguments.links.as_deref()),
    ];
    let named = own.into_iter().chain(arguments.containment.outputs());
    let mut known = vec![("the profile", real(&arguments.profile)?)];
    for (option, path) in named.filter_map(|(option, path)| Some((option, path?))) {
        check_writable(path)?;
        let file = real(path)?;
        let is_shared = path.metadata().is_ok_and(|data| !data.is_file());
        if let (Some((other, _)), false) = (known.iter().find(|one| one.1 == file), is_shared) {
            return Err(CommandError::usage(format!(
                "{option} {}: is {other}, too; name another file",
                path.display()
            )));
        }
        known.push((option, file));
    }
    Ok(())
}

/// The path of a file, which may not be there yet, without links.
fn real(path: &Path) -> Result<PathBuf, CommandError> {
    match path.canonicalize() {
        Ok(path) => Ok(path),
        Err(_) => absolute_path(path),
    }
}

/// The ranks, where they are, and where they may go.
struct Job {
    input: Input,
    topology: Topology,
    /// Where its nodes are on a network that is no tree.
    network: Option<NetworkNodes>,
    /// What is minimized.
    objective: Objective,
    /// The leaves that may be used.
    usable: Topology,
    constraints: Constraints,
    /// Core of each process of the launcher, where that is known.
    leaf_of_process: Option<Vec<usize>>,
    /// Core of each rank now, where that is known.
    current: Option<Vec<usize>>,
    loads: Option<Vec<f64>>,
    /// The loads are seconds outside MPI.
    loads_are_measured: bool,
    /// The collectives that the replay replaces.
    replaced: Option<Replaced>,
}

impl Job {
    fn new(arguments: &Arguments, input: Input) -> Result<Self, CommandError> {
        let limits = &arguments.limits;
        let how = &arguments.how;
        let replaced = Replaced::new(arguments, &input)?;
        let (topology, network) = arguments.machine.on_network(&input)?;
        let constraints = limits.constraints(&topology)?;
        let shares_cores = limits.share_cores() || how.strategy.balances_loads();
        let leaf_of_process = match input.is_profile() {
            true => input.leaf_of_process(&topology).map(Some),
            false => Ok(None),
        };
        let leaf_of_process = match leaf_of_process {
            Err(_) if shares_cores => None,
            found => found?,
        };
        let by_process = leaf_of_process
            .as_ref()
            .map(|leaves| leaf_of_rank(leaves, &input.process_of_rank()));
        let current = match &how.current {
            Some(path) => Some(numbers::cores_of_ranks(path)?),
            None => by_process,
        };
        let anywhere = limits.reach_all_cores() || how.strategy.balances_loads();
        // A replay gives processes other ranks, and leaves them where they are.
        let usable = match &leaf_of_process {
            Some(leaves) if !anywhere => topology.clone().allowing_only(leaves)?,
            _ => topology.clone(),
        };
        let measured = match how.strategy.balances_loads() && how.loads.is_none() {
            true => input.loads(&arguments.choice),
            false => None,
        };
        let usual = Objective::usual(network.is_some());
        let listed = how.loads.as_deref().map(numbers::loads).transpose()?;
        Ok(Job {
            loads_are_measured: measured.is_some(),
            loads: listed.or(measured),
            replaced,
            input,
            topology,
            network,
            objective: how.objective.unwrap_or(usual),
            usable,
            constraints,
            leaf_of_process,
            current,
        })
    }

    fn options(&self, how: &How) -> Options<'_> {
        Options {
            current: self.current.as_deref(),
            seed: how.seed,
            effort: how.effort,
            threads: how.threads.unwrap_or_else(processors),
            constraints: (!self.constraints.is_empty()).then_some(&self.constraints),
            objective: self.objective,
            loads: self.loads.as_deref(),
            progress: None,
        }
    }

    fn place(&self, arguments: &Arguments) -> Result<Placed, CommandError> {
        let how = &arguments.how;
        let what = format!("placing {}", pluralize(self.input.ranks(), "rank"));
        let progress = Arc::new(Progress::default());
        let _working = (!arguments.quiet).then(|| match how.budget {
            Some(budget) => Working::within(&what, budget),
            None => Working::through(&what, {
                let progress = progress.clone();
                move || progress.share()
            }),
        });
        let options = Options {
            progress: Some(&progress),
            ..self.options(how)
        };
        if let Some(replaced) = &self.replaced {
            return self.place_for_plans(replaced, arguments, &options);
        }
        let matrix = self.input.matrix(&arguments.choice)?;
        Ok(search::within(how.budget, &options, |options| {
            self.placed(how, &matrix, options)
        })?)
    }

    /// A placement on the tree, or on the network that is none.
    fn placed(
        &self,
        how: &How,
        matrix: &Matrix,
        options: &Options,
    ) -> Result<Placed, PlacementError> {
        match &self.network {
            Some(nodes) => place_on_network(how.strategy, matrix, &self.usable, nodes, options),
            None => place(how.strategy, matrix, &self.usable, options),
        }
    }

    /// Cost of a placement by an objective.
    fn value(&self, objective: Objective, matrix: &Matrix, leaf_of_rank: &[usize]) -> f64 {
        let Some(nodes) = &self.network else {
            return objective.value(matrix, &self.topology, leaf_of_rank);
        };
        let measures = Measures::new(matrix, &self.topology, nodes, leaf_of_rank);
        match objective {
            Objective::Congestion => measures.loads.most_load,
            Objective::Mixture => (measures.hop_bytes * measures.loads.most_load).sqrt(),
            _ => measures.hop_bytes,
        }
    }

    /// The core of each rank without the placement.
    fn before(&self, how: &How, bytes: &Matrix) -> Result<Vec<usize>, CommandError> {
        match &self.current {
            Some(current) => Ok(current.clone()),
            None if how.strategy.balances_loads() => {
                Ok(in_blocks(&self.usable.allowed_leaves(), bytes.order()))
            }
            None => {
                let identity = place(Strategy::Identity, bytes, &self.usable, &self.options(how))?;
                Ok(identity.placement.leaf_of_rank)
            }
        }
    }
}
