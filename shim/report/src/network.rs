//! Gains of a placement on a network that is not a tree: bytes times links, and the most loaded
//! link by the stated routing and by any.

use serde::Serialize;
use treepie_placement::bound::lower_bound;
use treepie_placement::objective::Measures;
use treepie_placement::{Hardware, NetworkNodes};
use treepie_topology::Topology;
use treepie_topology::networks::Site;

use super::levels::Situation;
use super::table::Table;
use super::units;
use super::words::pluralize;
use crate::change::Change;
use crate::picture::scale::Unit;

/// Criteria of two placements on a network.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NetworkGain {
    /// Short description of the network.
    pub network: String,
    /// Number of nodes of the job.
    pub nodes: usize,
    /// Routing for which loads are computed.
    pub routing: &'static str,
    /// Bytes times links.
    pub hop_bytes: Change,
    /// Load of the most loaded link divided by its capacity.
    pub most_loaded: Change,
    /// The most loaded link afterwards.
    pub link: Option<String>,
    /// Lower bound on the load of the most loaded link, for any routing.
    pub any_routing: Change,
    /// Mean load of all links.
    pub mean_load: Change,
    /// Lower bound of the hop-bytes of any placement.
    pub lower_bound: Option<f64>,
    #[serde(skip)]
    adaptive: bool,
}

impl NetworkGain {
    /// Compares two placements; `bounded` has the leaves that may be used, if a bound is wanted.
    pub fn new(
        topology: &Topology,
        nodes: &NetworkNodes,
        bounded: Option<&Topology>,
        before: Situation,
        after: Situation,
    ) -> Self {
        let of = |s: Situation| Measures::new(s.matrix, topology, nodes, s.leaf_of_rank);
        let bound = |allowed| {
            let hardware = Hardware {
                topology: allowed,
                network: Some(nodes),
            };
            lower_bound(after.matrix, hardware, after.leaf_of_rank)
        };
        NetworkGain {
            lower_bound: bounded.map(bound).filter(|&bound| bound > 0.0),
            ..NetworkGain::between(nodes, &of(before), &of(after))
        }
    }

    /// Compares measures taken on one network.
    pub fn between(nodes: &NetworkNodes, first: &Measures, second: &Measures) -> Self {
        let change = |of: fn(&Measures) -> f64| Change {
            identity: of(first),
            placement: of(second),
        };
        let network = nodes.network();
        NetworkGain {
            network: network.describe(),
            nodes: nodes.count(),
            routing: network.routing(),
            hop_bytes: change(|m| m.hop_bytes),
            most_loaded: change(|m| m.loads.most_load),
            link: second.loads.most.map(|link| network.link_name(link)),
            any_routing: change(|m| m.floor.load),
            mean_load: change(|m| m.loads.mean),
            lower_bound: None,
            adaptive: network.is_adaptive(),
        }
    }

    /// Formats a table and a line below it.
    pub fn text(&self, unit: Unit) -> String {
        format!("{}  {}\n", self.table(unit).text(), self.place())
    }

    /// The network, and its most loaded link afterwards.
    pub fn place(&self) -> String {
        let link = match &self.link {
            Some(link) => format!("; most loaded: {link}"),
            None => String::new(),
        };
        let nodes = pluralize(self.nodes, "node");
        format!("{nodes} on a {}{link}", self.network)
    }

    /// Table of both sides.
    pub fn table(&self, unit: Unit) -> Table {
        let mut table = Table::new(["network", "before", "after", "change"]);
        table.row([
            "bytes x links".to_owned(),
            units::count(self.hop_bytes.identity.round()),
            units::count(self.hop_bytes.placement.round()),
            units::change(self.hop_bytes.identity, self.hop_bytes.placement),
        ]);
        for (name, change) in self.loads() {
            table.row([
                name,
                unit.text(change.identity.round()),
                unit.text(change.placement.round()),
                units::change(change.identity, change.placement),
            ]);
        }
        table
    }

    /// Table of one side, that of the ranks at present.
    pub fn single_table(&self, unit: Unit) -> Table {
        let mut table = Table::new(["network", "as it ran"]);
        table.row([
            "bytes x links".to_owned(),
            units::count(self.hop_bytes.identity.round()),
        ]);
        for (name, change) in self.loads() {
            table.row([name, unit.text(change.identity.round())]);
        }
        table
    }

    fn loads(&self) -> [(String, Change); 3] {
        [
            (
                format!("most loaded link ({})", self.routing),
                self.most_loaded,
            ),
            (
                "the same by any routing, at least".to_owned(),
                self.any_routing,
            ),
            ("mean of all links".to_owned(), self.mean_load),
        ]
    }

    /// The change of the most loaded link, for a verdict.
    pub fn in_words(&self) -> String {
        let (before, after) = (self.most_loaded.identity, self.most_loaded.placement);
        let change = if before > 0.0 {
            units::change(before, after)
        } else {
            "no change".to_owned()
        };
        if self.adaptive {
            format!(
                "the most loaded link: {change} by {} routes, {} at least by any; real ones adapt",
                self.routing,
                units::change(self.any_routing.identity, self.any_routing.placement)
            )
        } else {
            format!(
                "the most loaded link: {change}, if routes are by {} and nobody else sends",
                self.routing
            )
        }
    }
}

/// Formats a network and its hosts for human readers.
pub fn site_text(file: &str, site: &Site) -> String {
    let network = site.network();
    let positions = network.positions();
    let links = network.all_links().count();
    let mut text = format!("{file}: {}\n", network.describe());
    text += &format!(
        "  {} at {}, {} in both directions together, routes: {}\n",
        pluralize(site.nodes(), "node"),
        pluralize(positions, "position"),
        pluralize(links, "link"),
        network.routing()
    );
    let (mean, most) = distances(site);
    text += &format!("  distance of two nodes: {mean:.2} links on average, {most} at most\n");
    for host in site.hosts().iter().take(LISTED) {
        let place = network.vertex_name(host.position);
        text += &format!("  {} at {place}\n", host.name);
    }
    if site.hosts().len() > LISTED {
        text += &format!("  and {} more\n", site.hosts().len() - LISTED);
    }
    text
}

/// Converts a network and its hosts to JSON.
pub fn json(site: &Site) -> serde_json::Value {
    let network = site.network();
    let (mean, most) = distances(site);
    let hosts: serde_json::Map<String, serde_json::Value> = site
        .hosts()
        .iter()
        .map(|host| (host.name.clone(), network.vertex_name(host.position).into()))
        .collect();
    serde_json::json!({
        "network": network.describe(),
        "nodes": site.nodes(),
        "positions": network.positions(),
        "links": network.all_links().count(),
        "routing": network.routing(),
        "distance": { "mean": mean, "most": most },
        "hosts": hosts,
    })
}

/// Maximum number of hosts listed by name.
const LISTED: usize = 16;

/// Mean and largest distance of two different nodes, from many evenly spread pairs.
fn distances(site: &Site) -> (f64, u32) {
    const PAIRS: usize = 200_000;
    let nodes = site.nodes();
    let pairs = nodes * nodes.saturating_sub(1);
    if pairs == 0 {
        return (0.0, 0);
    }
    let step = pairs.div_ceil(PAIRS) | 1;
    let (mut sum, mut count, mut most) = (0_u64, 0_u64, 0);
    for pair in (0..pairs).step_by(step) {
        let (a, b) = (pair / (nodes - 1), pair % (nodes - 1));
        let b = b + usize::from(b >= a);
        let distance = site.network().distance(site.position(a), site.position(b));
        sum += u64::from(distance);
        count += 1;
        most = most.max(distance);
    }
    (sum as f64 / count as f64, most)
}
