//! Two placements side by side: strategy, costs, moved ranks.

use serde_json::json;
use treepie_launch::error::CommandError;
use treepie_placement::file::PlacementFile;
use treepie_placement::objective::Measures;
use treepie_report::input::network;
use treepie_report::input::ranks::require_equal;
use treepie_report::input::topology::describe;
use treepie_report::input::traffic::{Input, profile_of_placement};
use treepie_report::network::NetworkGain;
use treepie_report::picture::Unit;
use treepie_report::table::Table;
use treepie_report::words::pluralize;
use treepie_report::{levels, units};

use crate::commands::compare::pair::{FilePair, sides};

/// Prints both side by side.
///
/// # Errors
/// The placements have different numbers of ranks, or an output cannot be written.
pub fn compare(
    two: &FilePair,
    before: &PlacementFile,
    after: &PlacementFile,
) -> Result<(), CommandError> {
    let arguments = two.arguments;
    if arguments.output.is_some() {
        return Err(CommandError::usage(
            "-o draws two profiles; for a placement use `treepie show FILE -o PICTURE`",
        ));
    }
    require_equal([(two.before, before.ranks), (two.after, after.ranks)])?;
    let same_tree = before.topology == after.topology;
    let pairs = || before.assignment.iter().zip(&after.assignment);
    let moved = pairs().filter(|(first, second)| first != second).count();
    let elsewhere = pairs()
        .filter(|&(&first, &second)| same_tree && before.topology.common_level(first, second) == 0)
        .count();
    let network = on_network(two, before, after)?;
    let json = || {
        let side = treepie_report::placement::json;
        json!({
            "before": side(before), "after": side(after), "same_topology": same_tree,
            "ranks_on_other_cores": moved, "network": network,
        })
    };
    let mut text = sides(two) + "\n";
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
    if let Some(network) = &network {
        text += &format!("\n{}", network.text(Unit::Bytes));
    }
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
    arguments.printing.answer(json, || text + "\n")
}

/// Compares both on the given network, with the traffic of the profile from which one was computed.
fn on_network(
    two: &FilePair,
    before: &PlacementFile,
    after: &PlacementFile,
) -> Result<Option<NetworkGain>, CommandError> {
    let Some(text) = &two.arguments.machine.above.network else {
        return Ok(None);
    };
    let site = network::read(text)?;
    let both = [(two.before, before), (two.after, after)];
    let profile = both.iter().find_map(|(path, file)| {
        let profile = profile_of_placement(path, file.profile.as_deref()?)?;
        Some(profile)
    });
    let profile = profile.ok_or_else(|| {
        CommandError::usage(format!(
            "--network {text}: the profile of the placements is needed and not beside them; put it \
             there"
        ))
    })?;
    let choice = &two.arguments.choice;
    let input = Input::read(&profile, choice)?;
    require_equal([(two.before, before.ranks), (&profile, input.ranks())])?;
    let bytes = input.bytes(choice)?;
    let [first, second] = [before, after].map(|file| {
        let nodes = network::beneath(&site, &file.topology, &input.hosts(), text)?;
        let measures = Measures::new(&bytes, &file.topology, &nodes, &file.assignment);
        Ok::<_, CommandError>((nodes, measures))
    });
    let ((nodes, first), (_, second)) = (first?, second?);
    Ok(Some(NetworkGain::between(&nodes, &first, &second)))
}
