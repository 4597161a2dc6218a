//! Two placements side by side: strategy, costs, moved ranks.

use serde_json::json;
use treepie_core::files::placement::PlacementFile;

use super::{Two, require_equal_ranks, sides};
use crate::error::CommandError;
use crate::input::topology::describe;
use crate::output;
use crate::report::levels;
use crate::report::table::Table;
use crate::report::units;
use crate::report::words::pluralize;

/// Prints both side by side.
///
/// # Errors
/// Placements of different numbers of ranks; an output that can't be written.
pub fn compare(
    two: &Two,
    before: &PlacementFile,
    after: &PlacementFile,
) -> Result<(), CommandError> {
    let arguments = two.arguments;
    if arguments.picture.is_some() {
        return Err(CommandError::usage(
            "--picture draws two profiles; for a placement use `treepie show FILE --svg OUT`",
        ));
    }
    require_equal_ranks([(two.before, before.ranks), (two.after, after.ranks)])?;
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
