//! Bytes carried by the links between clusters.

use std::fmt;

use treepie_base::square::Square;
use treepie_base::{Cluster, List};
use treepie_platform::grid::Grid;

/// Bytes from cluster to cluster. As text, a line for each pair: their names, the bytes after the
/// headers of IP and TCP, and the bytes on the wire.
#[derive(Debug)]
pub struct Carried {
    names: List<Cluster, String>,
    cluster_of: Vec<Cluster>,
    /// Payload and wire bytes from cluster to cluster.
    between: Square<Cluster, (u64, f64)>,
}

impl Carried {
    /// Starts with zero.
    pub fn new(grid: &Grid) -> Self {
        let names: List<Cluster, String> = grid.clusters.iter().map(|c| c.name.clone()).collect();
        Carried {
            between: Square::filled(names.len(), (0, 0.0)),
            cluster_of: grid.cluster_of_host(),
            names,
        }
    }

    /// Adds a packet from one host to another.
    pub fn add(&mut self, (from, to): (usize, usize), payload: u64, wire: f64) {
        let pair = (self.cluster_of[from], self.cluster_of[to]);
        self.between[pair].0 += payload;
        self.between[pair].1 += wire;
    }
}

impl fmt::Display for Carried {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (from, to) in self.between.keys() {
            let (payload, wire) = self.between[(from, to)];
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
