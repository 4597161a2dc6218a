//! Gains of a placement in addition to the levels' bytes: the most loaded links, the pairs that
//! still communicate across nodes, and the largest possible gain.

use serde::Serialize;
use treepie_base::Rank;
use treepie_placement::bound::lower_bound;
use treepie_placement::objective::{Objective, PairsAcross, link_loads, pairs_across};
use treepie_topology::Topology;

use super::levels::{Situation, between};
use super::network::NetworkGain;
use super::table::Table;
use super::units;
use super::words::pluralize;
use crate::change::{Change, LinkChange};
use crate::picture::scale::Unit;

/// Largest relative excess of a placement over the bound for which the bound is reported.
const MOST_ABOVE: f64 = 0.5;

/// Maximum number of pairs listed by name.
const LISTED: usize = 4;

/// Both objectives, regardless of the optimized one, in bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gain {
    /// DistComm.
    pub sum: Change,
    /// Lower bound of the DistComm of any placement; `None` if several ranks share cores, and if
    /// the placement is more than half above it.
    pub lower_bound: Option<f64>,
    /// The largest load of any link, times its length.
    pub congestion: Change,
    /// Changes by level, without links of single cores.
    pub links: Vec<LinkChange>,
    /// Pairs that communicate across nodes.
    pub crossing: CrossingPairs,
    /// Measures of a network that is not a tree: its distances and links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkGain>,
}

/// The pairs of ranks that still communicate across a level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CrossingPairs {
    /// The level: `node`.
    pub between: String,
    /// Pairs before.
    pub pairs_before: usize,
    /// Pairs after.
    pub pairs: usize,
    /// Traffic of both directions together, in bytes.
    pub bytes: f64,
    /// The heaviest pairs: two ranks and their traffic.
    pub heaviest: Vec<(Rank, Rank, f64)>,
    #[serde(skip)]
    words: String,
}

impl Gain {
    /// Compares two placements of the same traffic on `topology`. `allowed` has
    /// the leaves that may be used.
    pub fn new(
        topology: &Topology,
        allowed: Option<&Topology>,
        before: Situation,
        after: Situation,
    ) -> Self {
        let change = |objective: Objective| {
            let value = |s: Situation| objective.value(s.matrix, topology, s.leaf_of_rank);
            Change {
                identity: value(before),
                placement: value(after),
            }
        };
        let sum = change(Objective::Sum);
        let bound = |allowed| lower_bound(after.matrix, allowed, after.leaf_of_rank);
        let near = |&bound: &f64| sum.placement <= (1.0 + MOST_ABOVE) * bound;
        Gain {
            sum,
            lower_bound: allowed.map(bound).filter(near),
            congestion: change(Objective::Congestion),
            links: links(topology, before, after),
            crossing: CrossingPairs::new(topology, before, after),
            network: None,
        }
    }

    /// Replaces distances and loads by those of a network.
    pub fn on_network(self, network: NetworkGain) -> Self {
        let placement = network.hop_bytes.placement;
        let near = |&bound: &f64| placement <= (1.0 + MOST_ABOVE) * bound;
        Gain {
            sum: network.hop_bytes,
            congestion: network.most_loaded,
            lower_bound: network.lower_bound.filter(near),
            network: Some(network),
            ..self
        }
    }

    /// Formats some lines for human readers.
    pub fn text(&self, unit: Unit) -> String {
        let mut text = String::new();
        if let Some(network) = &self.network {
            text += &network.text(unit);
            text += "\n";
        }
        if let Some(table) = self.links_table(unit) {
            text += &table.text();
            text += "\n";
        }
        text += &format!("  {}\n", self.crossing.text(unit));
        if let Some(words) = self.bound_in_words() {
            text += &format!("  {words}\n");
        }
        text
    }

    /// The most loaded link of every level, if there are any.
    pub(crate) fn links_table(&self, unit: Unit) -> Option<Table> {
        if self.links.is_empty() {
            return None;
        }
        let mut table = Table::new(["most loaded link", "before", "after", "change"]);
        for link in &self.links {
            table.row([
                format!("of a {}", link.name),
                unit.text(link.before),
                unit.text(link.after),
                units::change(link.before, link.after),
            ]);
        }
        Some(table)
    }

    /// Distance of the placement from the lower bound, if known.
    pub(crate) fn bound_in_words(&self) -> Option<String> {
        let bound = self.lower_bound.filter(|&bound| bound > 0.0)?;
        let above = self.sum.placement / bound - 1.0;
        let what = match self.network {
            Some(_) => "less bytes x links",
            None => "a lower DistComm",
        };
        Some(if above < 1e-6 {
            format!("proved optimal: no placement has {what}")
        } else {
            format!(
                "no placement has {} below {}; this one is {:.1} % above",
                match self.network {
                    Some(_) => "bytes x links",
                    None => "a DistComm",
                },
                units::count(bound.floor()),
                100.0 * above
            )
        })
    }
}

fn links(topology: &Topology, before: Situation, after: Situation) -> Vec<LinkChange> {
    let loads = |s: Situation| link_loads(s.matrix, topology, s.leaf_of_rank);
    let both = loads(before).into_iter().zip(loads(after));
    let levels = topology.levels().iter().enumerate();
    // The link of a core carries all traffic of its rank in any placement.
    let levels = levels.take(topology.depth() - 1).zip(both);
    levels
        .filter(|((depth, _), _)| topology.node_count(depth + 1) > 1)
        .map(|((_, level), (before, after))| LinkChange {
            name: level.name.clone(),
            before: before.load(),
            after: after.load(),
        })
        .collect()
}

/// The depth of the machines, if a level has such a name.
pub fn machine_depth(topology: &Topology) -> Option<usize> {
    let mut levels = topology.levels().iter();
    let machine = levels.position(|level| matches!(&*level.name, "node" | "host" | "machine"));
    machine.map(|level| level + 1)
}

/// The depth of the most expensive level for traffic: that of machines, else the first with several
/// nodes.
fn dear_depth(topology: &Topology) -> usize {
    let several = |&depth: &usize| topology.node_count(depth) > 1;
    let machines = machine_depth(topology).filter(several);
    let first = || (1..=topology.depth()).find(several);
    machines.or_else(first).unwrap_or(topology.depth())
}

impl CrossingPairs {
    fn new(topology: &Topology, before: Situation, after: Situation) -> Self {
        let depth = dear_depth(topology);
        let across = |s: Situation, most| -> PairsAcross {
            pairs_across(s.matrix, topology, s.leaf_of_rank, depth, most)
        };
        let found = across(after, LISTED);
        let heaviest = found.heaviest.iter();
        CrossingPairs {
            between: topology.levels()[depth - 1].name.clone(),
            pairs_before: across(before, 0).count,
            pairs: found.count,
            bytes: found.amount,
            heaviest: heaviest
                .map(|pair| (pair.low, pair.high, pair.amount))
                .collect(),
            words: between(topology, depth - 1),
        }
    }

    /// Formats this in one line, without its end.
    pub fn text(&self, unit: Unit) -> String {
        let place = self.words.split(" (").next().unwrap_or(&self.words);
        if self.pairs == 0 {
            return format!("no pair communicates {place}");
        }
        let listed = self.heaviest.iter();
        let listed =
            listed.map(|&(low, high, amount)| format!("{low}-{high} {}", unit.text(amount)));
        let listed: Vec<String> = listed.collect();
        format!(
            "{place}: {} of ranks, were {}; heaviest {}",
            pluralize(self.pairs, "pair"),
            units::count(self.pairs_before as f64),
            listed.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use treepie_base::Leaf;
    use treepie_traffic::Matrix;

    use super::*;

    #[test]
    fn both_objectives_links_pairs_and_the_bound_are_told() {
        let tree = Topology::from_arities("2:2").unwrap();
        let entries = [(0, 2, 2048.0), (2, 0, 1024.0), (1, 3, 1024.0), (0, 1, 8.0)];
        let matrix = Matrix::from_entries(4, entries).unwrap();
        let of = |leaf_of_rank| Situation {
            matrix: &matrix,
            leaf_of_rank,
        };
        let (packed, crossed) = (Leaf::list(0..4), Leaf::list([0, 2, 1, 3]));
        let gain = Gain::new(&tree, Some(&tree), of(&packed), of(&crossed));
        assert_eq!(gain.congestion.identity, 3072.0);
        assert_eq!(gain.crossing.heaviest, [(Rank(0), Rank(1), 8.0)]);
        let expected = "  most loaded link  before  after   change
  of a socket        3 KiB    8 B  -99.7 %

  between sockets: 1 pair of ranks, were 2; heaviest 0-1 8 B
  proved optimal: no placement has a lower DistComm
";
        assert_eq!(gain.text(Unit::Bytes), expected);
    }
}
