//! Networks that several forms describe: rings, tori with cells, graphs of switches.

use std::collections::HashMap;
use std::path::Path;

use super::in_network;
use crate::Topology;
use crate::networks::{Edge, GraphNetwork, Host, Lattice, Network, Site};
use treepie_base::FileError;

/// The hosts of a tree and their leaves.
pub(super) fn hosts_of(tree: &Topology) -> Vec<Host> {
    let leaves = tree.leaves().iter().enumerate();
    let named = leaves.filter_map(|(position, leaf)| {
        Some(Host {
            name: leaf.host.clone()?,
            position,
        })
    });
    named.collect()
}

/// A torus or mesh of a file, and which host is in which cell.
pub(super) struct Torus {
    /// Its name.
    pub name: String,
    /// Sizes.
    pub sizes: Vec<usize>,
    /// Which dimensions close.
    pub wraps: Vec<bool>,
    /// Hosts and their coordinates.
    pub hosts: Vec<(String, Vec<usize>)>,
}

impl Torus {
    /// A torus whose cells take `hosts` in order, the first coordinate fastest.
    ///
    /// # Errors
    /// More hosts than cells.
    pub(super) fn in_order(
        name: &str,
        sizes: &[usize],
        hosts: Vec<String>,
    ) -> Result<Self, String> {
        let cells = sizes
            .iter()
            .try_fold(1_usize, |all, &size| all.checked_mul(size));
        if cells.is_none_or(|cells| hosts.len() > cells) {
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            return Err(format!(
                "{name} has {} hosts for the cells of {}; correct its sizes or its hosts",
                hosts.len(),
                sizes.join("x")
            ));
        }
        let at = |cell: usize| -> Vec<usize> {
            let mut rest = cell;
            let digit = |&size: &usize| {
                let at = rest % size;
                rest /= size;
                at
            };
            sizes.iter().map(digit).collect()
        };
        let hosts = hosts.into_iter().enumerate();
        Ok(Torus {
            name: name.to_owned(),
            sizes: sizes.to_vec(),
            wraps: vec![true; sizes.len()],
            hosts: hosts.map(|(cell, host)| (host, at(cell))).collect(),
        })
    }
}

impl Torus {
    /// The smallest lattice with all these coordinates: a part of a torus looks like a mesh, and
    /// only what is full surely closes.
    pub(super) fn smallest(name: &str, hosts: Vec<(String, Vec<usize>)>) -> Self {
        let dimensions = hosts.first().map_or(0, |(_, at)| at.len());
        let largest = |dimension: usize| hosts.iter().map(|(_, at)| at[dimension]).max();
        let sizes: Vec<usize> = (0..dimensions)
            .map(|dimension| largest(dimension).unwrap_or(0).saturating_add(1))
            .collect();
        let full = sizes
            .iter()
            .try_fold(1_usize, |all, &size| all.checked_mul(size));
        Torus {
            name: name.to_owned(),
            wraps: vec![full == Some(hosts.len()); dimensions],
            sizes,
            hosts,
        }
    }
}

/// The network of one torus; of several alike, one more dimension joins them, whose steps are
/// longer than any way inside. `name` chooses one of them.
///
/// # Errors
/// None or no such torus; several that are not alike; what [`Lattice::new`] refuses.
pub(super) fn of_tori(
    path: &Path,
    tori: Vec<Torus>,
    name: Option<&str>,
) -> Result<Site, FileError> {
    let names: Vec<String> = tori.iter().map(|torus| torus.name.clone()).collect();
    let all = tori.len();
    let chosen: Vec<Torus> = tori
        .into_iter()
        .filter(|torus| name.is_none_or(|name| name == torus.name))
        .collect();
    let (Some(first), false) = (chosen.first(), all == 0) else {
        let name = name.unwrap_or_default();
        let problem = format!("has no {name}; there are {}", names.join(", "));
        return Err(FileError::field(path, "network", problem));
    };
    let alike = |torus: &Torus| torus.sizes == first.sizes && torus.wraps == first.wraps;
    if !chosen.iter().all(alike) {
        let problem = format!(
            "{} are of different sizes, and nothing is known of the way between them; name one of \
             them behind a colon, as in {}:{}",
            names.join(", "),
            path.display(),
            first.name
        );
        return Err(FileError::field(path, "network", problem));
    }
    let (mut sizes, mut wraps) = (first.sizes.clone(), first.wraps.clone());
    let mut lengths = vec![1; sizes.len()];
    if chosen.len() > 1 {
        let longest: usize = sizes.iter().sum();
        sizes.push(chosen.len());
        wraps.push(false);
        lengths.push(longest.min(1000) as u32);
    }
    let lattice = in_network(path, Lattice::new(&sizes, &wraps))?;
    let lattice = in_network(path, lattice.with_lengths(&lengths))?;
    let mut hosts = Vec::new();
    let mut taken: HashMap<usize, String> = HashMap::new();
    for (number, torus) in chosen.iter().enumerate() {
        for (name, at) in &torus.hosts {
            let mut at = at.clone();
            if chosen.len() > 1 {
                at.push(number);
            }
            let position = lattice.position(&at).ok_or_else(|| {
                let problem = format!(
                    "{name} is at {at:?}, outside the sizes {sizes:?}; correct one of the two"
                );
                FileError::field(path, "hosts", problem)
            })?;
            if let Some(other) = taken.insert(position, name.clone()) {
                let problem = format!("{other} and {name} are both at {at:?}; correct one of them");
                return Err(FileError::field(path, "hosts", problem));
            }
            hosts.push(Host {
                name: name.clone(),
                position,
            });
        }
    }
    in_network(path, Site::new(Network::Lattice(lattice), hosts))
}

/// A graph that is built up from named switches, hosts on them, and links.
#[derive(Default)]
pub(super) struct GraphBuilder {
    vertex_of: HashMap<String, usize>,
    names: Vec<String>,
    hosts: Vec<(String, usize)>,
    edges: Vec<Edge>,
}

impl GraphBuilder {
    /// The number of a vertex, which is added if there is none of that name.
    pub(super) fn vertex(&mut self, name: &str) -> usize {
        if let Some(&vertex) = self.vertex_of.get(name) {
            return vertex;
        }
        self.vertex_of.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        self.names.len() - 1
    }

    /// The number of a vertex that there is.
    pub(super) fn known(&self, name: &str) -> Option<&usize> {
        self.vertex_of.get(name)
    }

    /// Puts a host on a vertex.
    pub(super) fn host(&mut self, host: &str, vertex: usize) {
        self.hosts.push((host.to_owned(), vertex));
    }

    /// Joins two vertices.
    pub(super) fn link(&mut self, one: usize, other: usize, length: u32, capacity: f64) {
        self.edges.push(Edge {
            one,
            other,
            length,
            capacity,
        });
    }

    /// The network; hosts hang on their vertices by links of their own if `access` is 2, and are
    /// these vertices if it is 0.
    pub(super) fn site(self, path: &Path, access: u32) -> Result<Site, FileError> {
        // Vertices with hosts come first.
        let mut number = vec![usize::MAX; self.names.len()];
        let mut order = Vec::new();
        let with_hosts = self.hosts.iter().map(|host| host.1);
        for vertex in with_hosts.chain(0..self.names.len()) {
            if number[vertex] == usize::MAX {
                number[vertex] = order.len();
                order.push(vertex);
            }
        }
        let mut positions: Vec<usize> = self.hosts.iter().map(|host| number[host.1]).collect();
        positions.sort_unstable();
        positions.dedup();
        let names = order
            .iter()
            .map(|&vertex| self.names[vertex].clone())
            .collect();
        let edges: Vec<Edge> = self
            .edges
            .iter()
            .map(|edge| Edge {
                one: number[edge.one],
                other: number[edge.other],
                ..*edge
            })
            .collect();
        let graph = GraphNetwork::new(names, positions.len(), access, &edges);
        let graph = in_network(path, graph)?;
        let hosts = self.hosts.into_iter().map(|(name, vertex)| Host {
            name,
            position: number[vertex],
        });
        in_network(path, Site::new(Network::Graph(graph), hosts.collect()))
    }
}
