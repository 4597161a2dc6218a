//! Two profiles side by side: layers, levels of the machine, times.

use std::path::Path;

use serde::Serialize;
use serde_json::json;
use treepie_base::{Leaf, List, Process, Rank};
use treepie_launch::error::CommandError;
use treepie_placement::NetworkNodes;
use treepie_profile::Profile;
use treepie_report::before_after::BeforeAfter;
use treepie_report::change::Change;
use treepie_report::input::choice::MatrixChoice;
use treepie_report::input::occupancy::leaf_of_rank;
use treepie_report::input::topology::describe;
use treepie_report::input::traffic::Input;
use treepie_report::layers::LayerSummary;
use treepie_report::levels::{self, Crossing, Situation, crossings};
use treepie_report::network::NetworkGain;
use treepie_report::picture::Unit;
use treepie_report::summary::Summary;
use treepie_report::table::Table;
use treepie_report::words::file_name;
use treepie_report::{clusters, times, units};
use treepie_topology::Topology;
use treepie_traffic::{Layer, Matrix};

use crate::commands::compare::arguments::Arguments;
use crate::commands::compare::pair::{FilePair, sides};

/// One profile, and the data used from it.
pub struct Side {
    summary: Summary,
    input: Input,
    bytes: Matrix,
    process_of_rank: List<Rank, Process>,
}

impl Side {
    /// Reads these data.
    ///
    /// # Errors
    /// The profile lacks the selected data.
    pub fn new(path: &Path, profile: Profile, choice: &MatrixChoice) -> Result<Self, CommandError> {
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
    leaves: (List<Rank, Leaf>, List<Rank, Leaf>),
    crossings: Vec<Crossing>,
    costs: (f64, f64),
    nodes: Option<NetworkNodes>,
    network: Option<NetworkGain>,
}

impl Measured {
    fn new(arguments: &Arguments, before: &Side, after: &Side) -> Result<Self, CommandError> {
        let (topology, nodes) = arguments.machine.on_network(&before.input)?;
        let leaves_of = |side: &Side| -> Result<List<Rank, Leaf>, CommandError> {
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
        let network = |nodes| NetworkGain::new(&topology, nodes, None, first, second);
        Ok(Measured {
            network: nodes.as_ref().map(network),
            nodes,
            crossings: crossings(&topology, first, second),
            costs: (first.dist_comm(&topology), second.dist_comm(&topology)),
            leaves,
            topology,
        })
    }

    /// The cost of both as JSON, by the distances of the machine.
    fn cost(&self) -> serde_json::Value {
        let ((before, after), objective) = match &self.network {
            Some(found) => {
                let Change {
                    identity,
                    placement,
                } = found.hop_bytes;
                ((identity, placement), "bytes x links")
            }
            None => (self.costs, "DistComm of size"),
        };
        json!({"before": before, "after": after, "objective": objective})
    }
}

/// The answer on two profiles as JSON.
#[derive(Debug, Serialize)]
struct ProfilesAnswer<'a> {
    before: &'a Summary,
    after: &'a Summary,
    between_clusters: Option<serde_json::Value>,
    cores: Option<usize>,
    levels: Option<&'a [Crossing]>,
    cost: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<&'a NetworkGain>,
}

/// Prints both side by side.
///
/// # Errors
/// The given machine does not fit, or an output cannot be written.
pub fn compare(two: &FilePair, before: &Side, after: &Side) -> Result<(), CommandError> {
    let arguments = two.arguments;
    let measured = match Measured::new(arguments, before, after) {
        // Only an explicit machine has to fit.
        Err(error) if arguments.machine.is_given() || arguments.output.is_some() => {
            return Err(error);
        }
        either => either,
    };
    if let (Some(path), Ok(measured)) = (&arguments.output, &measured) {
        draw(path, measured, before, after)?;
    }
    let between = match (&before.input, &after.input) {
        (Input::Profile(first), Input::Profile(second)) => {
            clusters::before_and_after((first, &before.bytes), (second, &after.bytes))
        }
        _ => None,
    };
    let json = || {
        let found = measured.as_ref().ok();
        ProfilesAnswer {
            before: &before.summary,
            after: &after.summary,
            between_clusters: between.as_ref().map(|[before, after]| {
                json!({
                    "clusters": before.clusters, "before": before.bytes, "after": after.bytes,
                })
            }),
            network: found.and_then(|found| found.network.as_ref()),
            cores: found.map(|found| found.topology.leaf_count()),
            levels: found.map(|found| &found.crossings[..]),
            cost: found.map(Measured::cost),
        }
    };
    let mut text = sides(two) + "\n" + &layer_table(&before.summary, &after.summary);
    text += "\n";
    text += &match &measured {
        Ok(found) => {
            let headings = ("before", "after");
            let costs = found.network.is_none().then_some(found.costs);
            let table = levels::table(&found.crossings, Unit::Bytes, headings, costs).text();
            let network = match &found.network {
                Some(network) => format!("\n{}", network.text(Unit::Bytes)),
                None => String::new(),
            };
            format!(
                "measured on {}\n\n{table}{network}",
                describe(&found.topology)
            )
        }
        Err(error) => format!("no levels are shown: {error}\n"),
    };
    if let Some([first, second]) = &between {
        text += &format!("\n{}\n", first.change(second));
    }
    if let (Some(first), Some(second)) = (&before.summary.times, &after.summary.times) {
        text += &format!("\n{}", times::change(first, second).text());
    }
    arguments.printing.answer(json, || text)
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
        network: measured.nodes.as_ref(),
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

/// Messages and bytes of each layer of both. A replay only changes layers in which plans replace
/// collectives, which have a separate row.
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
                let title = if is_mixed {
                    layer.title()
                } else {
                    layer.layer.clone()
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
