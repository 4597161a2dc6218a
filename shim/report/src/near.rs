//! Traffic of nodes through their network interfaces: the share that begins and ends at cores next
//! to one.

use serde::Serialize;
use treepie_placement::near::Interfaces;
use treepie_topology::Topology;

use super::levels::Situation;
use super::units;
use super::words::pluralize;
use crate::change::Change;
use crate::gain::machine_depth;

/// Bytes between nodes and the interfaces used, before and after.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NearNetwork {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of nodes without a known interface.
    pub unknown: usize,
    /// Number of nodes whose cores are all next to an interface.
    pub alike: usize,
    /// Bytes that leave or enter a node at cores next to an interface.
    pub next_to_one: Change,
    /// All bytes that leave or enter a node.
    pub all: Change,
}

impl NearNetwork {
    /// Compares two placements; `None` if no core is nearer to an interface than others.
    pub fn new(
        topology: &Topology,
        interfaces: &Interfaces,
        before: Situation,
        after: Situation,
    ) -> Option<Self> {
        let traffic = |s: Situation| interfaces.traffic(s.matrix, topology, s.leaf_of_rank);
        let (first, second) = (traffic(before), traffic(after));
        interfaces.differ().then(|| NearNetwork {
            nodes: interfaces.nodes(),
            unknown: interfaces.unknown(),
            alike: interfaces.alike(),
            next_to_one: Change {
                identity: first.1,
                placement: second.1,
            },
            all: Change {
                identity: first.0,
                placement: second.0,
            },
        })
    }

    /// Compares them for the interfaces described by the machines themselves, without any
    /// selection.
    pub fn of_network(topology: &Topology, before: Situation, after: Situation) -> Option<Self> {
        let interfaces = Interfaces::of_network(topology, depth_of_nodes(topology));
        NearNetwork::new(topology, &interfaces, before, after)
    }

    /// Formats this in one line, without its end; `None` if no traffic leaves a node.
    pub fn in_words(&self) -> Option<String> {
        let share = |part: f64, all: f64| {
            if all > 0.0 {
                units::share(part, all)
            } else {
                "nothing".to_owned()
            }
        };
        let (before, after) = (
            share(self.next_to_one.identity, self.all.identity),
            share(self.next_to_one.placement, self.all.placement),
        );
        let sent = self.all.identity > 0.0 || self.all.placement > 0.0;
        let unknown = match self.unknown {
            0 => String::new(),
            some => format!(
                " ({} of {} have no known interface)",
                some,
                pluralize(self.nodes, "node")
            ),
        };
        sent.then(|| {
            format!(
                "at cores next to a network interface: {after} of the bytes between nodes, \
                 {before} before{unknown}"
            )
        })
    }
}

/// The depth of the machines; the root if no level has such a name: the tree is one machine.
pub fn depth_of_nodes(topology: &Topology) -> usize {
    machine_depth(topology)
        .filter(|&depth| depth < topology.depth())
        .unwrap_or(0)
}
