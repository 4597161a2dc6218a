//! Traffic across each level of a machine, before and after.

use serde::Serialize;
use treepie_base::{Leaf, Rank, Slice};
use treepie_placement::objective::{dist_comm, traffic_by_level};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

use super::table::Table;
use super::units;
use super::words::plural;
use crate::picture::scale::Unit;

/// One level of the tree, and the traffic of which it is the highest level on the path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Crossing {
    /// Kind of nodes that the traffic crosses: `node`, `socket`, `core`.
    pub name: String,
    /// Number of children of a node, if it is the same for all.
    pub arity: Option<usize>,
    /// Factor in DistComm.
    pub distance: f64,
    /// Traffic before.
    pub bytes_before: f64,
    /// Traffic after.
    pub bytes_after: f64,
    /// Description in words: `between sockets (same node)`.
    #[serde(skip)]
    pub between: String,
}

/// Traffic and the location of its ranks, for comparison.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// Traffic between ranks.
    pub matrix: &'a Matrix,
    /// Leaf of each rank.
    pub leaf_of_rank: &'a Slice<Rank, Leaf>,
}

impl Situation<'_> {
    /// Cost on a topology.
    pub fn dist_comm(&self, topology: &Topology) -> f64 {
        dist_comm(self.matrix, topology, self.leaf_of_rank)
    }

    fn by_level(&self, topology: &Topology) -> Vec<f64> {
        traffic_by_level(self.matrix, topology, self.leaf_of_rank)
    }
}

/// The traffic of two situations across each level, from the root down.
pub fn crossings(topology: &Topology, before: Situation, after: Situation) -> Vec<Crossing> {
    let (before, after) = (before.by_level(topology), after.by_level(topology));
    let arities = topology.arities();
    let levels = topology.levels().iter().enumerate();
    levels
        .map(|(depth, level)| Crossing {
            name: level.name.clone(),
            arity: arities.as_ref().map(|arities| arities[depth]),
            distance: topology.level_distances()[depth],
            bytes_before: before[depth],
            bytes_after: after[depth],
            between: between(topology, depth),
        })
        .collect()
}

/// Kind of nodes between which traffic turns at `depth`.
pub fn between(topology: &Topology, depth: usize) -> String {
    let name = &topology.levels()[depth].name;
    let within = match depth.checked_sub(1) {
        None if name == "node" || name == "host" => "network".to_owned(),
        None => "whole machine".to_owned(),
        Some(above) => format!("same {}", topology.levels()[above].name),
    };
    format!("between {} ({within})", plural(name))
}

/// Table of crossings, with their sum and, if it is that of this tree, DistComm below.
pub fn table(
    crossings: &[Crossing],
    unit: Unit,
    headings: (&str, &str),
    costs: Option<(f64, f64)>,
) -> Table {
    let sum = |of: fn(&Crossing) -> f64| crossings.iter().map(of).sum::<f64>();
    let whole = (sum(|c| c.bytes_before), sum(|c| c.bytes_after));
    let mut table = Table::new([
        unit.title(),
        headings.0,
        "share",
        headings.1,
        "share",
        "change",
    ]);
    for crossing in crossings {
        let (before, after) = (crossing.bytes_before, crossing.bytes_after);
        table.row([
            crossing.between.clone(),
            unit.text(before),
            units::share(before, whole.0),
            unit.text(after),
            units::share(after, whole.1),
            units::change(before, after),
        ]);
    }
    let empty = String::new;
    table.row([
        "all of it".to_owned(),
        unit.text(whole.0),
        empty(),
        unit.text(whole.1),
        empty(),
        units::change(whole.0, whole.1),
    ]);
    if let Some(costs) = costs {
        table.row([
            format!("DistComm (bytes x {})", measure(crossings)),
            units::count(costs.0.round()),
            empty(),
            units::count(costs.1.round()),
            empty(),
            units::change(costs.0, costs.1),
        ]);
    }
    table
}

/// Table of crossings if there is only one situation, `before`.
pub fn single_table(crossings: &[Crossing], unit: Unit, cost: f64) -> Table {
    let whole: f64 = crossings.iter().map(|c| c.bytes_before).sum();
    let mut table = Table::new([unit.title(), "amount", "share"]);
    for crossing in crossings {
        table.row([
            crossing.between.clone(),
            unit.text(crossing.bytes_before),
            units::share(crossing.bytes_before, whole),
        ]);
    }
    table.row(["all of it".to_owned(), unit.text(whole), String::new()]);
    let name = format!("DistComm (bytes x {})", measure(crossings));
    table.row([name, units::count(cost.round()), String::new()]);
    table
}

/// Meaning of the distances.
fn measure(crossings: &[Crossing]) -> &'static str {
    let mut levels = crossings.iter().rev().enumerate();
    let hops =
        |(level, crossing): (usize, &Crossing)| crossing.distance == 2.0 * (level + 1) as f64;
    if levels.all(hops) { "hops" } else { "distance" }
}

/// The most expensive level in one line, for a caption of a picture.
pub fn caption(crossing: &Crossing, bytes: f64, whole: f64, unit: Unit) -> String {
    let share = units::share(bytes, whole);
    format!("{}: {} ({share})", crossing.between, unit.text(bytes))
}
