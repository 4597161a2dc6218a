//! Bytes carried by the links between clusters.

use std::fmt;

use treepie_platform::grid::Grid;

/// Bytes from cluster to cluster. As text, a line for each pair: their names, the bytes after the
/// headers of IP and TCP, and the bytes on the wire.
#[derive(Debug)]
pub struct Carried {
    names: Vec<String>,
    cluster_of: Vec<usize>,
    /// Payload and wire bytes from cluster to cluster, row by row.
    between: Vec<(u64, f64)>,
}

impl Carried {
    /// Starts with zero.
    pub fn new(grid: &Grid) -> Self {
        let names: Vec<String> = grid.clusters.iter().map(|c| c.name.clone()).collect();
        Carried {
            between: vec![(0, 0.0); names.len() * names.len()],
            cluster_of: grid.cluster_of_host(),
            names,
        }
    }

    /// Adds a packet from one host to another.
    pub fn add(&mut self, (from, to): (usize, usize), payload: u64, wire: f64) {
        let pair = self.cluster_of[from] * self.names.len() + self.cluster_of[to];
        self.between[pair].0 += payload;
        self.between[pair].1 += wire;
    }
}

impl fmt::Display for Carried {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clusters = self.names.len();
        for (pair, (payload, wire)) in self.between.iter().enumerate() {
            let (from, to) = (pair / clusters, pair % clusters);
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
