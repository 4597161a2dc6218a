//! Costs of methods that transfer pieces of data over a link, and the thresholds between them.

use treepie_platform::{TransferMethod, Ways};
use treepie_traffic::windows::EpochKind;

use super::table::Table;
use super::units;

/// Number of pieces for which thresholds of sizes are shown.
const PIECES: u64 = 32;

/// Compared methods: the usual one, the other, and the condition under which the other is faster,
/// in words.
const COMPARED: [(TransferMethod, TransferMethod, &str); 4] = [
    (
        TransferMethod::Send,
        TransferMethod::Packed,
        "packing beats messages of their own",
    ),
    (
        TransferMethod::Vector,
        TransferMethod::Packed,
        "packing beats a datatype",
    ),
    (
        TransferMethod::Put,
        TransferMethod::PutJoined,
        "joined puts beat puts of their own",
    ),
    (
        TransferMethod::Put,
        TransferMethod::Send,
        "messages beat puts",
    ),
];

/// Formats the tables, to follow the name of the link.
pub fn text(ways: &Ways) -> String {
    let mut text = String::from("one piece + each further, until the origin knows them there\n");
    text += &table(ways).text();
    let epochs: Vec<String> = EpochKind::ALL
        .iter()
        .filter_map(|kind| {
            let seconds = ways.epochs().get(kind)?;
            Some(format!("{} {}", in_words(*kind), units::seconds(*seconds)))
        })
        .collect();
    if !epochs.is_empty() {
        text += &format!("  one put of 8 B and its epoch: {}\n", epochs.join(", "));
    }
    for line in thresholds(ways) {
        text += &format!("  {line}\n");
    }
    text
}

fn in_words(kind: EpochKind) -> &'static str {
    match kind {
        EpochKind::Fence => "fence",
        EpochKind::Lock => "lock and unlock",
        EpochKind::LockAll => "flush",
        EpochKind::Start => "start and complete",
    }
}

/// A line for each method, a column for each size.
fn table(ways: &Ways) -> Table {
    let mut sizes: Vec<u64> = ways
        .costs()
        .values()
        .flatten()
        .map(|cost| cost.bytes)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    let headings = sizes.iter().map(|&bytes| units::bytes(bytes as f64));
    let mut table = Table::new(std::iter::once("way".to_owned()).chain(headings));
    for (way, costs) in ways.costs() {
        let cells = sizes.iter().map(|bytes| {
            let cost = costs.iter().find(|cost| cost.bytes == *bytes);
            cost.map_or("-".to_owned(), |cost| {
                let further = units::seconds(cost.further);
                format!("{} + {further}", units::seconds(cost.one))
            })
        });
        table.row(std::iter::once(way.to_string()).chain(cells));
    }
    table
}

/// Numbers of pieces, and sizes, for which one method is faster than another.
pub fn thresholds(ways: &Ways) -> Vec<String> {
    let mut lines = Vec::new();
    for (way, other, words) in COMPARED {
        let of = |way| ways.costs().get(way).into_iter().flatten();
        let is_known = |bytes| of(&other).any(|cost| cost.bytes == bytes);
        let from: Vec<String> = of(&way)
            .filter(|cost| is_known(cost.bytes))
            .filter_map(|cost| {
                let pieces = ways.pieces_from(way, other, cost.bytes)?;
                Some(format!("{pieces} of {}", units::bytes(cost.bytes as f64)))
            })
            .collect();
        if from.is_empty() {
            continue;
        }
        let mut line = format!("{words} from {} on", from.join(", "));
        if let Some(bytes) = ways.bytes_up_to(way, other, PIECES) {
            line += &format!("; {PIECES} at a time up to {}", units::bytes(bytes as f64));
        }
        lines.push(line);
    }
    lines
}
