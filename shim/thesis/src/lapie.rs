//! The grids of LaPIe's experiments (thesis 7.1.5 and 7.2), rebuilt from its tables of latencies.
//!
//! The thesis plots gaps and prints none. Those between sites follow from the ends of its plots:
//! one connection moved 64 KiB per round trip (reference 4.5), and into icluster2 half of that.
//! Inside a site one megabyte takes 9.1 ms, between the logical clusters of IDPOT 20 ms.
#![allow(clippy::unwrap_used, missing_docs)] // users are tests and benchmarks, which may panic

use treepie_base::Cluster;
use treepie_base::square::Square;
use treepie_collective::read::simulate::{Options, Sending, simulate};
use treepie_collective::{Algorithm, Amount, Clusters, Network, Operation, Problem};
use treepie_platform::orders::Costs;
use treepie_platform::{Contents, Host, Link, Parallel, Platform, PlatformCluster};

/// One of the grids.
pub struct Grid {
    pub name: &'static str,
    /// Ranks of each cluster.
    pub sizes: &'static [usize],
    /// Latencies in microseconds, by pair of clusters.
    pub latencies: &'static [&'static [f64]],
    /// The cluster whose incoming links are half as fast.
    pub slow_to_enter: Option<Cluster>,
}

/// Table 7.3: 88 processes (broadcast, case 1).
pub const CASE_1: Grid = Grid {
    name: "88 machines",
    sizes: &[31, 29, 6, 1, 1, 20],
    latencies: &[
        &[47.56, 62.10, 12181.52, 12187.24, 12197.49, 5210.99],
        &[62.10, 47.92, 12181.52, 12198.03, 12195.22, 5211.47],
        &[12181.52, 12181.52, 35.52, 60.08, 60.08, 5388.49],
        &[12187.24, 12198.03, 60.08, 0.0, 242.47, 5393.98],
        &[12197.49, 12195.22, 60.08, 242.47, 0.0, 5394.10],
        &[5210.99, 5211.47, 5388.49, 5393.98, 5394.10, 27.53],
    ],
    slow_to_enter: None,
};

/// Table 7.4: 78 processes (broadcast, case 2; scatter, case 1).
pub const CASE_2: Grid = Grid {
    name: "78 machines",
    sizes: &[20, 11, 7, 1, 20, 19],
    latencies: &[
        &[48.39, 6577.49, 6586.49, 6592.51, 5211.94, 8602.73],
        &[6577.49, 35.52, 59.96, 59.96, 5387.48, 2736.56],
        &[6586.49, 59.96, 60.08, 79.51, 5393.98, 2740.26],
        &[6592.51, 59.96, 79.51, 0.0, 5405.78, 2745.98],
        &[5211.94, 5387.48, 5393.98, 5405.78, 26.94, 3630.51],
        &[8602.73, 2736.56, 2740.26, 2745.98, 3630.51, 35.04],
    ],
    slow_to_enter: None,
};

/// Figure 7.11: 190 processes, 188 of which get the message (broadcast, case 3): Toulouse, Orsay,
/// Sophia, icluster2, Orsay. Latencies as in table 7.4, with icluster2 in the place of IDPOT, and
/// those of figure 7.14.
pub const CASE_3: Grid = Grid {
    name: "190 machines (188 are told)",
    sizes: &[28, 20, 50, 60, 30],
    latencies: &[
        &[26.94, 5211.94, 3630.51, 5486.65, 5211.94],
        &[5211.94, 48.39, 8602.73, 6577.49, 62.10],
        &[3630.51, 8602.73, 35.04, 2736.56, 8602.73],
        &[5486.65, 6577.49, 2736.56, 40.88, 6577.49],
        &[5211.94, 62.10, 8602.73, 6577.49, 47.92],
    ],
    slow_to_enter: Some(Cluster(3)),
};

/// Table 7.6: 40 processes (total exchange): IDPOT, IDPOT, Sophia.
pub const CASE_4: Grid = Grid {
    name: "40 machines",
    sizes: &[13, 7, 20],
    latencies: &[
        &[35.52, 59.96, 2735.97],
        &[59.96, 60.08, 2744.07],
        &[2735.97, 2744.07, 34.92],
    ],
    slow_to_enter: None,
};

/// Figure 7.18: 208 processes, 207 of which get a message (scatter, case 2): IDPOT; icluster2 with
/// eight more of IDPOT; Toulouse, Sophia, Orsay, Orsay. Latencies as in tables 7.3 and 7.4, and of
/// icluster2 as in case 3; it and the rest of IDPOT, in one city, are as far apart as the logical
/// clusters of IDPOT.
pub const CASE_5: Grid = Grid {
    name: "208 machines",
    sizes: &[9, 68, 29, 52, 13, 36],
    latencies: &[
        &[35.52, 59.96, 5387.48, 2736.56, 6577.49, 6577.49],
        &[59.96, 40.88, 5486.65, 2736.56, 6577.49, 6577.49],
        &[5387.48, 5486.65, 26.94, 3630.51, 5211.94, 5211.94],
        &[2736.56, 2736.56, 3630.51, 35.04, 8602.73, 8602.73],
        &[6577.49, 6577.49, 5211.94, 8602.73, 48.39, 62.10],
        &[6577.49, 6577.49, 5211.94, 8602.73, 62.10, 47.92],
    ],
    slow_to_enter: Some(Cluster(1)),
};

/// Distribution of the sizes of a total exchange with a given mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Volumes {
    /// All equal.
    Even,
    /// From 0 to twice the mean.
    Mixed,
    /// Every fifth rank sends four times as much as the others, and an eighth of all blocks is
    /// empty.
    Skewed,
}

impl Volumes {
    /// All distributions.
    pub const ALL: [Volumes; 3] = [Volumes::Even, Volumes::Mixed, Volumes::Skewed];

    /// Bytes from each of `ranks` to each, sender by sender.
    pub fn table(self, ranks: usize, mean: u64) -> Vec<u64> {
        let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
        let mix = |from: usize, to: usize| ((from * 7919 + to * 104_729) % 64) as u64;
        let size = |(from, to): (usize, usize)| match self {
            Volumes::Even => mean,
            Volumes::Mixed => mean * mix(from, to) / 32,
            Volumes::Skewed if mix(from, to) < 8 => 0,
            Volumes::Skewed if from.is_multiple_of(5) => mean * 5 / 2,
            Volumes::Skewed => mean * 5 / 8,
        };
        pairs.map(size).collect()
    }
}

const MEGABYTE: f64 = (1 << 20) as f64;

/// Latency in seconds above which two clusters are at different sites.
const BETWEEN_SITES: f64 = 1e-3;

impl Grid {
    /// Seconds per byte between two clusters.
    pub fn per_byte(&self, from: Cluster, to: Cluster) -> f64 {
        let latency = 1e-6 * self.latencies[from.0][to.0];
        let slow = match self.slow_to_enter {
            Some(cluster) if cluster == to && latency > BETWEEN_SITES => 2.0,
            _ => 1.0,
        };
        match latency {
            l if l > BETWEEN_SITES => slow * 2.0 * l / 65536.0,
            _ if from == to => 9.1e-3 / MEGABYTE,
            _ => 20e-3 / MEGABYTE,
        }
    }

    /// Input of the heuristics for a message of `bytes`, with pipelines inside (7.5 of the digest:
    /// 10 to 15 ms per megabyte).
    pub fn costs(&self, bytes: u64) -> Costs {
        let count = self.sizes.len();
        let gap = Square::new(count, |(from, to)| self.per_byte(from, to) * bytes as f64);
        let latency = |(from, to): (Cluster, Cluster)| 1e-6 * self.latencies[from.0][to.0];
        let inside = self.sizes.iter().map(|&size| match size {
            1 => 0.0,
            _ => 12e-3 * bytes as f64 / MEGABYTE,
        });
        Costs::new(gap, Square::new(count, latency), inside.collect()).unwrap()
    }

    /// A host for each rank, in the order of the cluster file.
    fn contents(&self) -> Contents {
        let mut contents = Contents::default();
        let mut rank = 0;
        let clusters = (0..self.sizes.len()).map(Cluster);
        for (cluster, &size) in clusters.clone().zip(self.sizes) {
            let hosts: Vec<usize> = (rank..rank + size).collect();
            contents.hosts.extend(hosts.iter().map(|&rank| Host {
                name: format!("n{rank}"),
                ranks: vec![rank],
            }));
            contents.clusters.push(PlatformCluster {
                name: format!("c{cluster}"),
                leader: rank,
                within: (size > 1).then(|| self.link(cluster, cluster)),
                hosts,
                levels: Vec::new(),
                contention: None,
            });
            rank += size;
            for other in clusters.clone().filter(|&other| other != cluster) {
                let link = self.link(cluster, other);
                contents.links.insert((cluster, other), link);
            }
        }
        contents
    }

    /// Converts the grid to a platform on which connections of a site share a link as fast as the
    /// fastest.
    pub fn network(&self) -> Network {
        let platform = Platform::new(self.contents()).unwrap();
        let ranks: Vec<usize> = (0..platform.ranks()).collect();
        Network::new(&platform, &ranks).unwrap()
    }

    /// Converts the grid to a platform on which several simultaneous connections move more than one
    /// (4.8 of the digest): 24 between two sites 120 MB/s, those inside a site half of the single
    /// rate each.
    pub fn platform(&self) -> Platform {
        let mut contents = self.contents();
        let together = contents.links.iter().map(|(&(from, to), link)| {
            let hosts = self.sizes[from.0].min(self.sizes[to.0]);
            let (pairs, bytes_per_second) = match link.latency() > BETWEEN_SITES {
                true => (24, 120e6),
                false => (hosts, 0.5 * hosts as f64 * MEGABYTE / link.gap(1 << 20)),
            };
            Parallel {
                from,
                to,
                level: None,
                pairs,
                bytes_per_second,
            }
        });
        contents.parallel = together.collect();
        Platform::new(contents).unwrap()
    }

    fn link(&self, from: Cluster, to: Cluster) -> Link {
        let latency = 1e-6 * self.latencies[from.0][to.0];
        Link::linear(latency, 2e-6, self.per_byte(from, to)).unwrap()
    }

    /// The lowest rank of a cluster.
    pub fn first_of(&self, cluster: Cluster) -> usize {
        self.sizes[..cluster.0].iter().sum()
    }
}

/// Seconds of an exchange of these sizes by an algorithm, with whole messages; `None` if it does
/// not support the exchange.
pub fn exchanged(
    network: &Network,
    table: Vec<u64>,
    strategy: &Algorithm,
    sending: Sending,
) -> Option<f64> {
    let clusters = Clusters::of_network(network);
    let amount = Amount::Table(table);
    let problem = Problem {
        operation: Operation::Alltoallv,
        root: 0,
        amount: &amount,
        clusters: &clusters,
        ordered: false,
        network: Some(network),
        unit_bytes: 1,
    };
    if !strategy.serves(&problem) {
        return None;
    }
    let uncut = u64::MAX >> 8;
    let plans = strategy.describe(&problem).plans(uncut);
    let options = Options {
        sending,
        ..Options::default()
    };
    Some(simulate(network, &plans, 1, options).unwrap().seconds)
}
