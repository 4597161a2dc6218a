//! Placements and topologies as text.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use treepie_base::{Leaf, List, Rank, Slice, list};
use treepie_placement::file::PlacementFile;
use treepie_topology::{Device, Topology};

use super::levels::between;
use super::table::Table;
use super::units;
use super::words::{plural, pluralize};
use crate::input::topology::describe;

/// Maximum number of lines; the file has all.
const MOST_LINES: usize = 32;

/// Formats a placement for one screen.
pub fn text(name: &str, file: &PlacementFile) -> String {
    let mut text = format!(
        "{name}: placement of {} on {}\n  strategy: {}\n",
        pluralize(file.ranks, "rank"),
        describe(&file.topology),
        file.strategy
    );
    if let Some(profile) = &file.profile {
        text += &format!("  made from {profile}\n");
    }
    let moved = file
        .permutation
        .iter_enumerated()
        .filter(|(process, rank)| process.0 != rank.0);
    text += &format!(
        "  a replay gives {} of {} another rank than the launcher\n\n",
        moved.count(),
        pluralize(file.ranks, "process")
    );
    text += &gain(file);
    text + "\n" + &ranks_by_block(file)
}

/// Gain as recorded in the file.
fn gain(file: &PlacementFile) -> String {
    let mut table = Table::new(["bytes sent", "before", "after", "change"]);
    for (depth, level) in file.bytes_by_level.iter().enumerate() {
        let name = if depth < file.topology.depth() {
            between(&file.topology, depth)
        } else {
            level.level.clone()
        };
        let change = units::change(level.before, level.after);
        table.row([
            name,
            units::bytes(level.before),
            units::bytes(level.after),
            change,
        ]);
    }
    if let Some(costs) = file.costs {
        let text = |value: f64| units::count(value.round());
        let change = units::change(costs.before, costs.after);
        table.row([
            "DistComm".to_owned(),
            text(costs.before),
            text(costs.after),
            change,
        ]);
    }
    table.text()
}

/// The ranks on the cores of each lowest block.
fn ranks_by_block(file: &PlacementFile) -> String {
    let blocks = blocks(&file.topology, &file.assignment);
    let hidden = blocks.len().saturating_sub(MOST_LINES);
    let mut text = "  ranks on the cores of\n".to_owned();
    for (name, ranks) in blocks.iter().take(MOST_LINES) {
        text += &format!("  {name}: {ranks}\n");
    }
    if hidden > 0 {
        text += &format!("  ... and {hidden} more; --json lists all\n");
    }
    text
}

/// The lowest blocks that have ranks: their names, and the ranks on their cores, `-` if there is
/// none.
pub fn blocks(topology: &Topology, leaf_of_rank: &Slice<Rank, Leaf>) -> Vec<(String, String)> {
    let ranks_on = ranks_on(topology, leaf_of_rank);
    let depth = topology.depth() - 1;
    let mut blocks = Vec::new();
    for block in 0..topology.node_count(depth) {
        let leaves = topology.leaves_below(depth, block);
        let first = Leaf(topology.leaf_range(depth, block).start);
        let name = block_name(topology, first);
        if leaves.clone().any(|leaf| !ranks_on[leaf].is_empty()) {
            let ranks = leaves.map(|leaf| match ranks_on[leaf].as_str() {
                "" => "-",
                ranks => ranks,
            });
            blocks.push((name, ranks.collect::<Vec<_>>().join(" ")));
        }
    }
    blocks
}

/// The ranks on every leaf, separated by commas if it has several.
pub fn ranks_on(topology: &Topology, leaf_of_rank: &Slice<Rank, Leaf>) -> List<Leaf, String> {
    let mut ranks_on = List::from(vec![String::new(); topology.leaf_count()]);
    for (rank, &leaf) in leaf_of_rank.iter_enumerated() {
        let ranks = &mut ranks_on[leaf];
        if !ranks.is_empty() {
            ranks.push(',');
        }
        *ranks += &rank.to_string();
    }
    ranks_on
}

/// `node 2 socket 0`, or `the machine` if there are only cores.
fn block_name(topology: &Topology, leaf: Leaf) -> String {
    let path = topology.path(leaf);
    let levels = topology.levels().iter().zip(path).rev().skip(1);
    let mut words: Vec<String> = levels
        .map(|(level, at)| format!("{} {at}", level.name))
        .collect();
    words.reverse();
    if words.is_empty() {
        "the machine".to_owned()
    } else {
        words.join(" ")
    }
}

/// Converts a placement to JSON.
pub fn json(file: &PlacementFile) -> Value {
    let levels = file.bytes_by_level.iter().map(
        |level| json!({"name": level.level, "bytes_before": level.before, "bytes_after": level.after}),
    );
    json!({
        "ranks": file.ranks,
        "cores": file.topology.leaf_count(),
        "strategy": file.strategy,
        "profile": file.profile,
        "assignment": file.assignment,
        "permutation": file.permutation,
        "levels": levels.collect::<Vec<_>>(),
        "cost": file.costs.map(|costs| json!({"identity": costs.before, "placement": costs.after})),
    })
}

/// Formats a topology in a few lines.
pub fn topology_text(name: &str, topology: &Topology) -> String {
    let mut text = format!("{name}: {}\n\n", describe(topology));
    let mut table = Table::new(["level", "number", "distance across"]);
    for (depth, level) in topology.levels().iter().enumerate() {
        table.row([
            plural(&level.name),
            topology.node_count(depth + 1).to_string(),
            topology.level_distances()[depth].to_string(),
        ]);
    }
    text += &table.text();
    let forbidden = topology.leaf_count() - topology.allowed_leaves().len();
    if forbidden > 0 {
        text += &format!("\n  {} may not be used\n", pluralize(forbidden, "core"));
    }
    let mut hosts: Vec<&str> = topology
        .leaves()
        .iter()
        .filter_map(|leaf| leaf.host.as_deref())
        .collect();
    hosts.dedup();
    if !hosts.is_empty() {
        text += &format!("\n  hosts: {}\n", hosts.join(", "));
    }
    text + &devices_text(topology)
}

/// Devices and the cores next to them, one line for each name, over all hosts.
fn devices_text(topology: &Topology) -> String {
    let mut next_to: BTreeMap<&Device, Vec<Leaf>> = BTreeMap::new();
    for (leaf, known) in topology.leaves().iter_enumerated() {
        for device in known.devices.iter() {
            next_to.entry(device).or_default().push(leaf);
        }
    }
    let hidden = next_to.len().saturating_sub(MOST_LINES);
    let mut text = if next_to.is_empty() {
        String::new()
    } else {
        "\n".to_owned()
    };
    for (device, leaves) in next_to.iter().take(MOST_LINES) {
        let cores = list::to_text(leaves);
        text += &format!("  {} {}: next to cores {cores}\n", device.kind, device.name);
    }
    if hidden > 0 {
        text += &format!("  ... and {hidden} more devices\n");
    }
    text
}
