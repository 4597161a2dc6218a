//! `treepie predict PLATFORM --plans`: what a job's replaced collectives would take, which one
//! `TREEPIE_COLLECTIVES=auto` chooses, and the plans themselves for other simulators.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use treepie_core::collective::read::export::{SMPIRUN_OPTIONS, goal, simgrid, time_independent};
use treepie_core::collective::read::simulate::{
    Bar, Doing, Options, Outcome as Simulated, simulate,
};
use treepie_core::collective::{
    Choice, Chooser, Clusters, Considered, Network, Plan, Strategy, Uniform, bound,
};
use treepie_core::collective::{Host, Operation};
use treepie_core::platform::Platform;

use super::Outcome;
use super::options::size;
use crate::error::CommandError;
use crate::output;
use crate::report::table::Table;
use crate::report::units;
use crate::report::words::pluralize;

/// The options of predictions for plans.
#[derive(Debug, Args)]
pub struct PlanOptions {
    /// Predict the plans that replace the MPI's collectives: those of TREEPIE_COLLECTIVES, the
    /// chosen one marked, beside the MPI's own
    #[arg(long, conflicts_with_all = ["measured", "ranks", "form"])]
    pub plans: bool,
    /// The MPI whose own collectives are modelled: open-mpi, mpich
    #[arg(
        long,
        value_name = "FAMILY",
        default_value = "open-mpi",
        requires = "plans"
    )]
    native: Host,
    /// Simulate every plan as well, message by message
    #[arg(long, requires = "plans")]
    simulate: bool,
    /// One algorithm instead of all that may be chosen
    #[arg(long, value_name = "NAME", requires = "plans")]
    algorithm: Option<String>,
    /// Write the plans of the chosen algorithm, or of --algorithm: OUT.goal for LogGOPSim, OUT.ti (and
    /// beside it a file for each rank, the platform and the hosts) for SimGrid's smpirun -replay,
    /// OUT.json as bars in time
    #[arg(long, value_name = "OUT", requires = "plans")]
    export: Option<PathBuf>,
    /// Bytes of the largest message of --algorithm
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "algorithm")]
    largest: Option<u64>,
}

/// One strategy, simulated on request.
struct Row {
    plan: Considered,
    simulated: Option<f64>,
}

/// Everything that is examined.
struct Scene {
    network: Arc<Network>,
    clusters: Clusters,
    chooser: Chooser,
    call: Uniform,
}

impl Scene {
    fn plans(&self, plan: &Considered) -> Vec<Plan> {
        let (network, clusters) = (Some(&*self.network), &self.clusters);
        plan.strategy
            .plans(&self.call, network, clusters, plan.segment)
    }

    fn simulated(&self, plan: &Considered, timeline: bool) -> Result<Simulated, CommandError> {
        let options = Options {
            timeline,
            ..Options::default()
        };
        simulate(&self.network, &self.plans(plan), 1, options)
            .map_err(|error| CommandError::failed(format!("{}: {error}", plan.strategy.name)))
    }
}

/// Predicts and prints, and exports on request.
pub fn run(
    file: &Path,
    platform: &Platform,
    call: Uniform,
    arguments: &PlanOptions,
    as_json: bool,
) -> Outcome {
    let ranks: Vec<usize> = (0..platform.ranks()).collect();
    let network = Network::new(platform, &ranks)
        .map(|network| match platform.is_by_hand() {
            true => Arc::new(network.with_eager_limit(arguments.native.usual_eager_limit())),
            false => Arc::new(network),
        })
        .ok_or_else(|| {
            CommandError::failed(format!("{}: has no ranks; probe it again", file.display()))
        })?;
    let clusters = Clusters::of_network(&network);
    let mut chooser = Chooser::new(Some(network.clone()), &clusters, Some(arguments.native));
    let choice = chooser.choose(
        call.operation,
        Some(call.bytes),
        call.root,
        false,
        &clusters,
    );
    let scene = Scene {
        network,
        clusters,
        chooser,
        call,
    };
    let rows = rows(&scene, &choice, arguments)?;
    if let Some(out) = &arguments.export {
        let chosen = choice.strategy.map(|strategy| strategy.name);
        let exported = rows
            .iter()
            .find(|row| Some(row.plan.strategy.name) == chosen)
            .or(rows.first());
        let plan = exported
            .map(|row| row.plan)
            .ok_or_else(|| nothing(&scene))?;
        export(&scene, &plan, out)?;
    }
    print(file, &scene, &choice, &rows, arguments, as_json)
}

fn nothing(scene: &Scene) -> CommandError {
    let count = scene.clusters.count();
    CommandError::usage(format!(
        "--plans: no plan takes the place of {} in {}: the MPI's own is left; name one with --algorithm",
        scene.call.operation,
        pluralize(count, "cluster")
    ))
}

/// The requested algorithms, the quickest first.
fn rows(scene: &Scene, choice: &Choice, arguments: &PlanOptions) -> Result<Vec<Row>, CommandError> {
    let operation = scene.call.operation;
    let mut plans = choice.considered();
    if let Some(name) = &arguments.algorithm {
        let strategy = Strategy::find(operation, name).ok_or_else(|| {
            let known: Vec<&str> = Strategy::of(operation).map(|known| known.name).collect();
            CommandError::usage(format!(
                "--algorithm {name}: there is none for {operation}; write one of {}",
                known.join(", ")
            ))
        })?;
        let known = plans
            .iter()
            .find(|plan| plan.strategy.name == strategy.name);
        let mut plan = known.copied().unwrap_or(Considered {
            strategy,
            segment: scene
                .chooser
                .segment(strategy, &scene.call, &scene.clusters),
            seconds: f64::NAN,
        });
        if let Some(largest) = arguments.largest {
            plan.segment = largest.max(1);
            plan.seconds = f64::NAN;
        }
        plans = vec![plan];
    }
    plans
        .into_iter()
        .map(|plan| {
            // What was not predicted is simulated, so that there is a time.
            let needed = arguments.simulate || plan.seconds.is_nan();
            let simulated = match needed {
                true => Some(scene.simulated(&plan, false)?.seconds),
                false => None,
            };
            Ok(Row { plan, simulated })
        })
        .collect()
}

fn print(
    file: &Path,
    scene: &Scene,
    choice: &Choice,
    rows: &[Row],
    arguments: &PlanOptions,
    as_json: bool,
) -> Outcome {
    let call = &scene.call;
    let least = bound(
        &scene.network,
        &scene.clusters,
        call.operation,
        call.bytes,
        call.root,
    );
    let chosen = choice.strategy.map(|strategy| strategy.name);
    if as_json {
        let strategies = rows.iter().map(|row| {
            json!({
                "algorithm": row.plan.strategy.name,
                "seconds": Some(row.plan.seconds).filter(|seconds| seconds.is_finite()),
                "simulated": row.simulated,
                "largest_message": row.plan.segment,
            })
        });
        output::print_json(&json!({
            "collective": call.operation.to_string(),
            "bytes": call.bytes,
            "ranks": scene.clusters.ranks(),
            "clusters": scene.clusters.count(),
            "root": call.root,
            "bound": least,
            "native": { "family": arguments.native.to_string(), "seconds": choice.host_seconds() },
            "chosen": chosen.unwrap_or("native"),
            "algorithms": strategies.collect::<Vec<_>>(),
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!(
        "{}: plans for {} of {} among {} in {}, root {}\nat least {}\n\n",
        file.display(),
        call.operation,
        units::bytes(call.bytes as f64),
        pluralize(scene.clusters.ranks(), "rank"),
        pluralize(scene.clusters.count(), "cluster"),
        call.root,
        units::seconds(least),
    );
    text += &table(choice, rows, least, arguments.native).text();
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn table(choice: &Choice, rows: &[Row], least: f64, host: Host) -> Table {
    let mut table = Table::new([
        "  algorithm",
        "predicted",
        "simulated",
        "over the bound",
        "largest message",
    ]);
    let chosen = choice.strategy.map(|strategy| strategy.name);
    let dash = || "-".to_owned();
    let over = |seconds: f64| match least > 0.0 && seconds.is_finite() {
        true => format!("{:.2}", seconds / least),
        false => dash(),
    };
    for row in rows {
        let name = row.plan.strategy.name;
        let mark = if chosen == Some(name) { "* " } else { "  " };
        let predicted = Some(row.plan.seconds).filter(|seconds| seconds.is_finite());
        table.row([
            format!("{mark}{name}"),
            predicted.map_or_else(dash, units::seconds),
            row.simulated.map_or_else(dash, units::seconds),
            over(row.simulated.unwrap_or(row.plan.seconds)),
            units::bytes(row.plan.segment as f64),
        ]);
    }
    let mark = if chosen.is_none() { "* " } else { "  " };
    let seconds = choice.host_seconds();
    table.row([
        format!("{mark}the MPI's own ({host})"),
        seconds.map_or_else(dash, units::seconds),
        dash(),
        seconds.map_or_else(dash, over),
        dash(),
    ]);
    table
}

/// Writes the plans of all ranks in the format of the ending of `out`.
fn export(scene: &Scene, plan: &Considered, out: &Path) -> Result<(), CommandError> {
    let write = |path: &Path, text: &str| {
        std::fs::write(path, text).map_err(|error| {
            CommandError::failed(format!("{}: {error}; choose another file", path.display()))
        })
    };
    match out.extension().and_then(|ending| ending.to_str()) {
        Some("goal") => {
            let text = goal(&scene.plans(plan), 1, scene.network.computing);
            write(out, &text)
        }
        Some("ti") => {
            let mut list = String::new();
            for (rank, trace) in time_independent(&scene.plans(plan), 1).iter().enumerate() {
                let path = out.with_extension(format!("rank{rank}.ti"));
                write(&path, trace)?;
                list += &format!("{}\n", path.display());
            }
            let (platform, hosts) = simgrid(&scene.network);
            let beside = |ending: &str| out.with_extension(ending);
            write(&beside("platform.xml"), &platform)?;
            write(&beside("hosts"), &hosts)?;
            write(out, &list)?;
            eprintln!(
                "smpirun -np {} -platform {} -hostfile {} -replay {} {SMPIRUN_OPTIONS}",
                scene.clusters.ranks(),
                beside("platform.xml").display(),
                beside("hosts").display(),
                out.display(),
            );
            Ok(())
        }
        Some("json") => {
            let outcome = scene.simulated(plan, true)?;
            let bars: Vec<_> = outcome.bars.iter().map(bar_json).collect();
            let answer = json!({
                "algorithm": plan.strategy.name,
                "seconds": outcome.seconds,
                "bars": bars,
            });
            write(out, &format!("{answer:#}\n"))
        }
        _ => Err(CommandError::usage(format!(
            "--export {}: unknown ending; write .goal, .ti or .json",
            out.display()
        ))),
    }
}

fn bar_json(bar: &Bar) -> serde_json::Value {
    let doing = match bar.doing {
        Doing::Send => "send",
        Doing::Receive => "receive",
        Doing::Reduce => "reduce",
        Doing::Copy => "copy",
    };
    json!({
        "rank": bar.rank,
        "start": bar.start,
        "end": bar.end,
        "doing": doing,
        "peer": bar.peer,
        "bytes": bar.bytes,
    })
}

/// The operation that a name stands for.
pub fn operation(name: &str) -> Result<Operation, String> {
    match name {
        "broadcast" => Ok(Operation::Bcast),
        _ => name.parse().map_err(|error| format!("{error}")),
    }
}
