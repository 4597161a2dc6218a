//! Graphs of named switches with hosts on them.

use std::collections::HashMap;
use std::path::Path;

use treepie_base::FileError;

use super::error::in_network;
use crate::networks::graph::{Edge, GraphNetwork};
use crate::networks::network::Network;
use crate::networks::site::{Host, Site};

/// A graph built from named switches, hosts on them, and links.
#[derive(Default)]
pub(super) struct GraphBuilder {
    vertex_of: HashMap<String, usize>,
    names: Vec<String>,
    hosts: Vec<(String, usize)>,
    edges: Vec<Edge>,
}

impl GraphBuilder {
    /// Returns the number of a vertex, which is added if there is none with that name.
    pub(super) fn vertex(&mut self, name: &str) -> usize {
        if let Some(&vertex) = self.vertex_of.get(name) {
            return vertex;
        }
        self.vertex_of.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        self.names.len() - 1
    }

    /// The number of an existing vertex.
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

    /// Builds the network; hosts are joined to their vertices by separate links if `access` is 2,
    /// and are these vertices if it is 0.
    pub(super) fn site(self, path: &Path, access: u32) -> Result<Site, FileError> {
        // Vertices with hosts are numbered first.
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
