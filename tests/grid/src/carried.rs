//! Bytes carried by the links between clusters.

use std::fmt;

use treepie_base::{Cluster, List, pairs};
use treepie_platform::grid::Grid;

/// Bytes from cluster to cluster. As text, a line for each pair: their names, the bytes after the
/// headers of IP and TCP, and the bytes on the wire.
#[derive(Debug)]
pub struct Carried {
    names: List<Cluster, String>,
    cluster_of: Vec<Cluster>,
    /// Payload and wire bytes from cluster to cluster, row by row.
    between: Vec<(u64, f64)>,
}

impl Carried {
    /// Starts with zero.
    pub fn new(grid: &Grid) -> Self {
        let names: List<Cluster, String> = grid.clusters.iter().map(|c| c.name.clone()).collect();
        Carried {
            between: vec![(0, 0.0); names.len() * names.len()],
            cluster_of: grid.cluster_of_host(),
            names,
        }
    }

    /// Adds a packet from one host to another.
    pub fn add(&mut self, (from, to): (usize, usize), payload: u64, wire: f64) {
        let pair = self.cluster_of[from].0 * self.names.len() + self.cluster_of[to].0;
        self.between[pair].0 += payload;
        self.between[pair].1 += wire;
    }
}

impl fmt::Display for Carried {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((from, to), (payload, wire)) in pairs(self.names.keys()).zip(&self.between) {
            if from != to {
                writeln!(
                    out,
                    "{} {} {payload} {wire:.0}",
                    self.names[from], self.names[to]
                )?;
            }
        }
        Ok(())
    }
}
