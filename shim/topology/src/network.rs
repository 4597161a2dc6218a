//! The network above machines: a tree whose leaves are hosts, which machines replace.

use std::collections::HashMap;

use crate::build::Tree;
use crate::error::TopologyError;
use crate::tree::{ProcessingUnit, Topology};
use treepie_base::{Leaf, List};

/// The level of groups of equivalent hosts.
const CLUSTER: &str = "cluster";

impl Topology {
    /// Puts machines under the switches, clusters or other levels that join them. Every leaf of
    /// `network` is a host. Hosts without a machine, which are not part of the job, are left out;
    /// machines may differ. The level of the hosts is called "node", distances become hops.
    ///
    /// # Errors
    /// The network does not have a machine's host, or see [`Topology::join`].
    pub fn networked(
        network: &Topology,
        machines: Vec<(String, Topology)>,
    ) -> Result<Self, TopologyError> {
        let place_of = places(network);
        let mut placed = Vec::with_capacity(machines.len());
        for (host, machine) in machines {
            let place = place_of.get(host.as_str()).copied();
            let place = place.ok_or_else(|| TopologyError::NotInNetwork {
                host: host.clone(),
                known: some_hosts(network),
            })?;
            placed.push((place, (host, machine)));
        }
        placed.sort_by_key(|&(place, _)| place);
        let places: Vec<Leaf> = placed.iter().map(|&(place, _)| place).collect();
        let above = network.clone().allowing_only(&places)?.pruned()?;
        let below = Topology::cluster(placed.into_iter().map(|(_, machine)| machine).collect())?;
        let children = (0..above.depth()).map(|depth| above.child_counts(depth));
        let inside = (1..below.depth()).map(|depth| below.child_counts(depth));
        let switches = above.levels().iter().take(above.depth() - 1);
        let names = switches.chain(below.levels());
        let names = names.map(|level| level.name.clone()).collect();
        let children: Vec<Vec<usize>> = children.chain(inside).collect();
        Topology::from_child_counts(names, &children, below.leaves().to_owned())
    }

    /// Builds a network of clusters, each given by its hosts.
    ///
    /// # Errors
    /// A cluster has no hosts, or there is no cluster.
    pub fn from_clusters(clusters: Vec<Vec<String>>) -> Result<Self, TopologyError> {
        let host = |name| {
            Tree::Leaf(ProcessingUnit {
                host: Some(name),
                ..ProcessingUnit::default()
            })
        };
        let cluster = |hosts: Vec<String>| Tree::Inner(hosts.into_iter().map(host).collect());
        let tree = Tree::Inner(clusters.into_iter().map(cluster).collect());
        Topology::from_tree(&tree, Some(&[CLUSTER.to_owned(), "node".to_owned()]))
    }

    /// The depth of the clusters, if the tree has such a level.
    pub fn cluster_depth(&self) -> Option<usize> {
        let level = self
            .levels()
            .iter()
            .position(|level| level.name == CLUSTER)?;
        Some(level + 1)
    }

    /// The names of the leaves' hosts in logical order, each once.
    pub fn hosts(&self) -> Vec<&str> {
        let mut hosts: Vec<&str> = Vec::new();
        for host in self.leaves().iter().filter_map(|leaf| leaf.host.as_deref()) {
            if hosts.last() != Some(&host) {
                hosts.push(host);
            }
        }
        hosts
    }

    /// The trees below the nodes at `depth`, each with a separate root, and the distances of their
    /// levels.
    ///
    /// # Errors
    /// [`TopologyError::Empty`] below the leaves.
    pub fn parts(&self, depth: usize) -> Result<Vec<Topology>, TopologyError> {
        let part = |node: usize| {
            let mut nodes = node..node + 1;
            let mut children = Vec::new();
            for at in depth..self.depth() {
                let counts = nodes.clone().map(|n| self.children(at, n).len());
                children.push(counts.collect::<Vec<usize>>());
                nodes = self.children(at, nodes.start).start..self.children(at, nodes.end - 1).end;
            }
            let levels = self.levels().iter().skip(depth);
            let names = levels.map(|level| level.name.clone()).collect();
            let leaves = self.leaves().raw.get(nodes).unwrap_or_default();
            let leaves: List<Leaf, ProcessingUnit> = leaves.to_vec().into();
            let distances = self.level_distances().get(depth..).unwrap_or_default();
            Topology::from_child_counts(names, &children, leaves)?.with_level_distances(distances)
        };
        (0..self.node_count(depth)).map(part).collect()
    }
}

/// The leaf of every host.
fn places(network: &Topology) -> HashMap<&str, Leaf> {
    let leaves = network.leaves().iter_enumerated();
    let named = leaves.filter_map(|(place, leaf)| Some((leaf.host.as_deref()?, place)));
    named.collect()
}

fn some_hosts(network: &Topology) -> String {
    const MOST: usize = 8;
    let hosts = network.hosts();
    let more = if hosts.len() > MOST { ", ..." } else { "" };
    hosts[..hosts.len().min(MOST)].join(", ") + more
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn host(name: &str) -> Tree {
        Tree::Leaf(ProcessingUnit {
            host: Some(name.to_owned()),
            ..ProcessingUnit::default()
        })
    }

    fn two_switches() -> Topology {
        let switches = vec![
            Tree::Inner(vec![host("a"), host("b")]),
            Tree::Inner(vec![host("c"), host("d")]),
        ];
        let names = ["switch".to_owned(), "node".to_owned()];
        Topology::from_tree(&Tree::Inner(switches), Some(&names)).unwrap()
    }

    fn machine(host: &str, arities: &str) -> (String, Topology) {
        (host.to_owned(), Topology::from_arities(arities).unwrap())
    }

    #[test]
    fn machines_of_different_kinds_take_the_places_of_their_hosts() {
        let machines = vec![machine("d", "2:2"), machine("a", "3"), machine("b", "1:2")];
        let joined = Topology::networked(&two_switches(), machines).unwrap();
        let names: Vec<&str> = joined.levels().iter().map(|l| l.name.as_str()).collect();
        assert_eq!(names, ["switch", "node", "socket", "core"]);
        assert_eq!(joined.hosts(), ["a", "b", "d"]);
        assert_eq!(joined.leaf_count(), 9);
        // a and b are below one switch, d below the other.
        assert_eq!(joined.distance(Leaf(0), Leaf(3)), 6);
        assert_eq!(joined.distance(Leaf(0), Leaf(5)), 8);
        assert_eq!(joined.level_distances(), [8.0, 6.0, 4.0, 2.0]);
    }

    #[test]
    fn a_host_that_the_network_does_not_have_is_named() {
        let error = Topology::networked(&two_switches(), vec![machine("e", "2")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "host e is not in the network, which has a, b, c, d: add it there or leave the network out"
        );
    }

    #[test]
    fn the_parts_of_a_tree_are_its_machines() {
        let tree = Topology::from_arities("3:2:2").unwrap();
        let tree = tree.with_level_distances(&[100.0, 10.0, 1.0]).unwrap();
        let parts = tree.parts(1).unwrap();
        assert_eq!(parts.len(), 3);
        assert_eq!(parts[2].arities(), Some(vec![2, 2]));
        assert_eq!(parts[2].level_distances(), [10.0, 1.0]);
        assert_eq!(tree.parts(0).unwrap()[0], tree);
        assert!(tree.parts(3).is_err());
    }
}
