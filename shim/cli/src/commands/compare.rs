//! `treepie compare`: two profiles or two placements side by side.
//!
//! Two profiles of the same application, one taken before and one during a replay, show what a
//! placement has really changed: each of them has the rank of every process.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use serde_json::json;
use treepie_core::affinity::formats::Format as MatrixFormat;
use treepie_core::affinity::{Layer, Matrix};
use treepie_core::files::placement::PlacementFile;
use treepie_core::files::profile::Profile;
use treepie_core::files::{AnyFile, read_any};
use treepie_core::topology::Topology;

use super::Outcome;
use super::options::MatrixChoice;
use crate::error::CommandError;
use crate::input::machine::MachineChoice;
use crate::input::occupancy::leaf_of_rank;
use crate::input::topology::describe;
use crate::input::traffic::Input;
use crate::output;
use crate::picture::{Format, Unit};
use crate::report::before_after::BeforeAfter;
use crate::report::clusters;
use crate::report::levels::{self, Crossing, Situation, crossings};
use crate::report::summary::{LayerSummary, Summary};
use crate::report::table::Table;
use crate::report::times;
use crate::report::units;
use crate::report::words::{file_name, pluralize};

/// Compare two profiles or two placements
#[derive(Debug, Args)]
pub struct Arguments {
    /// Profile or placement from before
    before: PathBuf,
    /// Profile or placement from after
    after: PathBuf,
    #[command(flatten)]
    machine: MachineChoice,
    /// Draw both profiles side by side in the order of the processes, as .svg or .png
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    choice: MatrixChoice,
}

/// Compares two files of either kind.
pub fn run(arguments: &Arguments) -> Outcome {
    if let Some(picture) = &arguments.picture {
        Format::from_path(picture)?;
    }
    for path in [&arguments.before, &arguments.after] {
        if MatrixFormat::from_path(path).is_some() {
            return Err(CommandError::usage(format!(
                "{} is a matrix, which does not state where ranks ran; give two profiles or two placements, \
                 or see the matrix with `treepie show`",
                path.display()
            )));
        }
    }
    match (read_any(&arguments.before)?, read_any(&arguments.after)?) {
        (AnyFile::Profile(before), AnyFile::Profile(after)) => {
            let sides = [(&arguments.before, before), (&arguments.after, after)];
            require_equal_ranks(arguments, sides[0].1.ranks, sides[1].1.ranks)?;
            let [before, after] =
                sides.map(|(path, profile)| Side::new(path, *profile, &arguments.choice));
            profiles(arguments, &before?, &after?)?;
        }
        (AnyFile::Placement(before), AnyFile::Placement(after)) => {
            placements(arguments, &before, &after)?;
        }
        (before, after) => {
            return Err(CommandError::usage(format!(
                "{} is a {} and {} is a {}; give two profiles or two placements",
                arguments.before.display(),
                before.kind(),
                arguments.after.display(),
                after.kind()
            )));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// One profile, and what is needed of it.
struct Side {
    summary: Summary,
    input: Input,
    bytes: Matrix,
    process_of_rank: Vec<usize>,
}

impl Side {
    fn new(path: &Path, profile: Profile, choice: &MatrixChoice) -> Result<Self, CommandError> {
        let summary = Summary::new(path, &profile, choice.model);
        let process_of_rank = profile.process_of_rank.clone();
        let input = Input::from_profile(path, profile, choice)?;
        let bytes = input.bytes(choice)?;
        Ok(Side {
            summary,
            input,
            bytes,
            process_of_rank,
        })
    }
}

/// Positions of the ranks of two profiles on one machine, and the traffic across its levels.
struct Measured {
    topology: Topology,
    leaves: (Vec<usize>, Vec<usize>),
    crossings: Vec<Crossing>,
    costs: (f64, f64),
}

impl Measured {
    fn new(arguments: &Arguments, before: &Side, after: &Side) -> Result<Self, CommandError> {
        let topology = arguments.machine.topology(&before.input)?;
        let leaves_of = |side: &Side| -> Result<Vec<usize>, CommandError> {
            let leaf_of_process = side.input.leaf_of_process(&topology)?;
            Ok(leaf_of_rank(&leaf_of_process, &side.process_of_rank))
        };
        let leaves = (leaves_of(before)?, leaves_of(after)?);
        let first = Situation {
            matrix: &before.bytes,
            leaf_of_rank: &leaves.0,
        };
        let second = Situation {
            matrix: &after.bytes,
            leaf_of_rank: &leaves.1,
        };
        Ok(Measured {
            crossings: crossings(&topology, first, second),
            costs: (first.dist_comm(&topology), second.dist_comm(&topology)),
            leaves,
            topology,
        })
    }
}

/// The answer about two profiles for programs.
#[derive(Debug, Serialize)]
struct ProfilesAnswer<'a> {
    before: &'a Summary,
    after: &'a Summary,
    between_clusters: Option<serde_json::Value>,
    cores: Option<usize>,
    levels: Option<&'a [Crossing]>,
    cost: Option<serde_json::Value>,
}

fn profiles(arguments: &Arguments, before: &Side, after: &Side) -> Result<(), CommandError> {
    let measured = match Measured::new(arguments, before, after) {
        // Only an explicit machine has to fit.
        Err(error) if arguments.machine.is_given() || arguments.picture.is_some() => {
            return Err(error);
        }
        either => either,
    };
    if let (Some(path), Ok(measured)) = (&arguments.picture, &measured) {
        draw(path, measured, before, after)?;
    }
    let between = match (&before.input, &after.input) {
        (Input::Profile(first), Input::Profile(second)) => {
            clusters::before_and_after((first, &before.bytes), (second, &after.bytes))
        }
        _ => None,
    };
    if arguments.json {
        let found = measured.as_ref().ok();
        return output::print_json(&ProfilesAnswer {
            before: &before.summary,
            after: &after.summary,
            between_clusters: between.map(|[before, after]| json!({
                "clusters": before.clusters, "before": before.bytes, "after": after.bytes,
            })),
            cores: found.map(|found| found.topology.leaf_count()),
            levels: found.map(|found| &found.crossings[..]),
            cost: found.map(|found| json!({"before": found.costs.0, "after": found.costs.1, "objective": "DistComm of size"})),
        });
    }
    let mut text = sides(arguments) + "\n" + &layer_table(&before.summary, &after.summary);
    text += "\n";
    text += &match &measured {
        Ok(found) => {
            let headings = ("before", "after");
            let table = levels::table(&found.crossings, Unit::Bytes, headings, found.costs).text();
            format!("measured on {}\n\n{table}", describe(&found.topology))
        }
        Err(error) => format!("no levels are shown: {error}\n"),
    };
    if let Some([first, second]) = &between {
        text += &format!("\n{}\n", first.change(second));
    }
    if let (Some(first), Some(second)) = (&before.summary.times, &after.summary.times) {
        text += &format!("\n{}", times::change(first, second).text());
    }
    output::print(&text)
}

fn draw(path: &Path, measured: &Measured, before: &Side, after: &Side) -> Result<(), CommandError> {
    let picture = BeforeAfter {
        title: format!(
            "bytes between processes on {}",
            describe(&measured.topology)
        ),
        names: (
            file_name(&before.summary.file),
            file_name(&after.summary.file),
        ),
        topology: &measured.topology,
        unit: Unit::Bytes,
    };
    let first = Situation {
        matrix: &before.bytes,
        leaf_of_rank: &measured.leaves.0,
    };
    let second = Situation {
        matrix: &after.bytes,
        leaf_of_rank: &measured.leaves.1,
    };
    picture
        .pair(first, second, &measured.crossings)?
        .write(path)
}

/// Messages and bytes of each layer of both. A replay changes none of them but where plans replace
/// collectives, which are a row of their own.
fn layer_table(before: &Summary, after: &Summary) -> String {
    let mut table = Table::new(["sent", "messages before", "after", "bytes before", "after"]);
    let mut row = |name: &str, first: (u64, u64), second: (u64, u64)| {
        table.row([
            name.to_owned(),
            units::count(first.0 as f64),
            units::count(second.0 as f64),
            units::bytes(first.1 as f64),
            units::bytes(second.1 as f64),
        ]);
    };
    let both = || before.layers.iter().chain(&after.layers);
    let is_mixed = both().any(|layer| layer.as_run);
    let sent = |summary: &Summary, of: &LayerSummary| {
        let mut layers = summary.layers.iter();
        let found = layers.find(|layer| (&layer.layer, layer.as_run) == (&of.layer, of.as_run));
        found.map_or((0, 0), |layer| (layer.messages, layer.bytes))
    };
    for name in Layer::ALL.iter().map(Layer::to_string) {
        for as_run in [false, true] {
            let mut alike = both().filter(|layer| layer.layer == name && layer.as_run == as_run);
            if let Some(layer) = alike.next() {
                let title = match is_mixed {
                    true => layer.title(),
                    false => layer.layer.clone(),
                };
                row(&title, sent(before, layer), sent(after, layer));
            }
        }
    }
    row(
        "all",
        (before.messages, before.bytes),
        (after.messages, after.bytes),
    );
    table.text()
}

fn placements(
    arguments: &Arguments,
    before: &PlacementFile,
    after: &PlacementFile,
) -> Result<(), CommandError> {
    if arguments.picture.is_some() {
        return Err(CommandError::usage(
            "--picture draws two profiles; for a placement use `treepie show FILE --svg OUT`",
        ));
    }
    require_equal_ranks(arguments, before.ranks, after.ranks)?;
    let same_tree = before.topology == after.topology;
    let pairs = || before.assignment.iter().zip(&after.assignment);
    let moved = pairs().filter(|(first, second)| first != second).count();
    let elsewhere = pairs()
        .filter(|&(&first, &second)| same_tree && before.topology.common_level(first, second) == 0)
        .count();
    if arguments.json {
        let side = crate::report::placement::json;
        return output::print_json(&json!({
            "before": side(before), "after": side(after), "same_topology": same_tree,
            "ranks_on_other_cores": moved,
        }));
    }
    let mut text = sides(arguments) + "\n";
    let mut table = Table::new(["", "before", "after", "change"]);
    table.row(["strategy", &before.strategy, &after.strategy, ""]);
    table.row([
        "topology",
        &describe(&before.topology),
        &describe(&after.topology),
        "",
    ]);
    let cost = |file: &PlacementFile| file.costs.map(|costs| costs.after);
    if let (Some(first), Some(second)) = (cost(before), cost(after)) {
        let texts = [first, second].map(|cost| units::count(cost.round()));
        table.row([
            "DistComm",
            &texts[0],
            &texts[1],
            &units::change(first, second),
        ]);
    }
    let levels = before.bytes_by_level.iter().zip(&after.bytes_by_level);
    for (depth, (first, second)) in levels.enumerate().filter(|_| same_tree) {
        let texts = [first.after, second.after].map(units::bytes);
        let name = format!("bytes {}", levels::between(&before.topology, depth));
        let change = units::change(first.after, second.after);
        table.row([&name, &texts[0], &texts[1], &change]);
    }
    text += &table.text();
    text += &format!(
        "\n{moved} of {} are on other cores",
        pluralize(before.ranks, "rank")
    );
    if same_tree && before.topology.depth() > 1 {
        text += &format!(
            ", {elsewhere} of them in another {}",
            before.topology.levels()[0].name
        );
    }
    output::print(&(text + "\n"))
}

/// Names of the two sides.
fn sides(arguments: &Arguments) -> String {
    format!(
        "before: {}\nafter:  {}\n",
        arguments.before.display(),
        arguments.after.display()
    )
}

fn require_equal_ranks(
    arguments: &Arguments,
    before: usize,
    after: usize,
) -> Result<(), CommandError> {
    if before == after {
        return Ok(());
    }
    Err(CommandError::failed(format!(
        "{} has {} and {} has {}; compare files of the same job",
        arguments.before.display(),
        pluralize(before, "rank"),
        arguments.after.display(),
        pluralize(after, "rank")
    )))
}
