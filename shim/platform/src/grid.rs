//! Emulated grids as YAML, the input of `scripts/grid`.
//!
//! ```yaml
//! treepie: grid
//! version: 1
//! wan_latency_us: 10000
//! clusters:
//! - {name: a, hosts: 4, latency_us: 50, mbit: 1000, uplink_mbit: 100}
//! - {name: b, hosts: 4, latency_us: 50, mbit: 1000, uplink_mbit: 100}
//! links:
//! - {between: [a, b], latency_us: 5000, mbit: 60, connection_mbit: 20}
//! ```
//!
//! Latencies are one way; rates are in megabits per second, 0 for no limit. `mbit` is shared by all
//! hosts, `connection_mbit` is the limit of one connection: its window limits it on a long path.

use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use treepie_base::square::Square;
use treepie_base::{Cluster, File, FileContents, FileError, Kind, List, text};

/// Maximum number of clusters, and of hosts of one: each has a byte of an address.
const MOST: usize = 250;
/// Maximum length of a host's name, which is also the name of a namespace.
const LONGEST_NAME: usize = 32;

/// A cluster of equal hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridCluster {
    /// Its name; the names of its hosts are this and a number.
    pub name: String,
    /// Number of hosts.
    pub hosts: usize,
    /// One-way latency between two of its hosts, in microseconds.
    pub latency_us: f64,
    /// Rate of each host's link, in megabits per second; 0 for no limit.
    #[serde(default)]
    pub mbit: f64,
    /// Rate of the link that all hosts share towards other clusters, in megabits per second.
    #[serde(default)]
    pub uplink_mbit: f64,
}

/// The path between two clusters, if it differs from the default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GridLink {
    /// Names of the two clusters.
    pub between: (String, String),
    /// One-way latency in microseconds.
    pub latency_us: f64,
    /// Rate in megabits per second in each direction, in addition to the limits of the uplinks; 0
    /// for no other limit.
    #[serde(default)]
    pub mbit: f64,
    /// Limit of one connection in each direction, in megabits per second; 0 for no separate limit.
    #[serde(default)]
    pub connection_mbit: f64,
}

/// A grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Its clusters.
    pub clusters: List<Cluster, GridCluster>,
    /// One-way latency between clusters, in microseconds.
    latencies: Square<Cluster, f64>,
    /// Rate between clusters, in megabits per second.
    rates: Square<Cluster, f64>,
    /// Rate of one connection between clusters, in megabits per second.
    connections: Square<Cluster, f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GridText {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    about: Option<String>,
    #[serde(default)]
    wan_latency_us: f64,
    clusters: List<Cluster, GridCluster>,
    #[serde(default)]
    links: Vec<GridLink>,
}

impl Grid {
    /// Reads and checks a grid.
    ///
    /// # Errors
    /// The file cannot be read, is not a grid, or is inconsistent.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        Grid::from_text(path, &text::read(path)?)
    }

    /// Parses the grid from the text of a file; `path` is for messages.
    ///
    /// # Errors
    /// The text is not a grid, or is inconsistent.
    pub fn from_text(path: &Path, text: &str) -> Result<Self, FileError> {
        let document = File::<GridText>::from_text(path, text)?.body;
        let count = document.clusters.len();
        let called: HashMap<&str, Cluster> = document
            .clusters
            .iter_enumerated()
            .map(|(number, cluster)| (cluster.name.as_str(), number))
            .collect();
        let mut latencies = Square::filled(count, document.wan_latency_us);
        let mut rates = Square::filled(count, 0.0);
        let mut connections = rates.clone();
        for (number, link) in document.links.iter().enumerate() {
            let cluster = |name: &String| {
                called.get(name.as_str()).copied().ok_or_else(|| {
                    let problem = format!("no cluster is called {name}; name one of `clusters`");
                    FileError::field(path, format!("links[{number}].between"), problem)
                })
            };
            let (one, other) = (cluster(&link.between.0)?, cluster(&link.between.1)?);
            for pair in [(one, other), (other, one)] {
                latencies[pair] = link.latency_us;
                rates[pair] = link.mbit;
                connections[pair] = link.connection_mbit;
            }
        }
        Ok(Grid {
            clusters: document.clusters,
            latencies,
            rates,
            connections,
        })
    }

    /// One-way latency between two clusters, in microseconds.
    pub fn latency_us(&self, from: Cluster, to: Cluster) -> f64 {
        self.latencies[(from, to)]
    }

    /// Rate of the path between two clusters itself, in megabits per second; 0 if only the uplinks
    /// limit it.
    pub fn link_mbit(&self, from: Cluster, to: Cluster) -> f64 {
        self.rates[(from, to)]
    }

    /// Rate of one connection between two clusters, in megabits per second; 0 for no separate
    /// limit.
    pub fn connection_mbit(&self, from: Cluster, to: Cluster) -> f64 {
        self.connections[(from, to)]
    }

    /// Least rate on the path of a connection between hosts of two clusters, in megabits per
    /// second; 0 if there is no limit.
    pub fn mbit(&self, from: Cluster, to: Cluster) -> f64 {
        let (here, there) = (&self.clusters[from], &self.clusters[to]);
        let mut limits = vec![here.mbit, there.mbit];
        if from != to {
            limits.extend([
                here.uplink_mbit,
                there.uplink_mbit,
                self.link_mbit(from, to),
                self.connection_mbit(from, to),
            ]);
        }
        let least = limits.into_iter().filter(|&limit| limit > 0.0);
        least.reduce(f64::min).unwrap_or(0.0)
    }

    /// Cluster of every host, over all clusters.
    pub fn cluster_of_host(&self) -> Vec<Cluster> {
        let clusters = self.clusters.iter_enumerated();
        clusters
            .flat_map(|(number, cluster)| std::iter::repeat_n(number, cluster.hosts))
            .collect()
    }

    /// Names of all hosts, over all clusters.
    pub fn host_names(&self) -> Vec<String> {
        let clusters = self.clusters.iter();
        clusters
            .flat_map(|cluster| {
                (0..cluster.hosts).map(|number| format!("{}{number}", cluster.name))
            })
            .collect()
    }
}

impl FileContents for GridText {
    const KIND: Kind = Kind::Grid;

    fn on_read(&mut self, path: &Path) -> Result<(), FileError> {
        let wrong = |field: String, problem: String| Err(FileError::field(path, field, problem));
        if self.clusters.is_empty() || self.clusters.len() > MOST {
            let problem = format!(
                "has {}; 1 to {MOST} clusters were expected",
                self.clusters.len()
            );
            return wrong("clusters".into(), problem);
        }
        let mut names = std::collections::HashSet::new();
        for (place, cluster) in self.clusters.iter().enumerate() {
            let field = |name: &str| format!("clusters[{place}].{name}");
            let letters = cluster
                .name
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b == b'-');
            if cluster.name.is_empty() || !letters || cluster.name.len() > LONGEST_NAME {
                let problem = format!(
                    "{:?} names no hosts; write up to {LONGEST_NAME} small letters and `-`",
                    cluster.name
                );
                return wrong(field("name"), problem);
            }
            if !names.insert(&cluster.name) {
                return wrong(field("name"), format!("{} is there twice", cluster.name));
            }
            if cluster.hosts == 0 || cluster.hosts > MOST {
                let problem = format!("{} were found; 1 to {MOST} were expected", cluster.hosts);
                return wrong(field("hosts"), problem);
            }
            for (name, value) in [
                ("latency_us", cluster.latency_us),
                ("mbit", cluster.mbit),
                ("uplink_mbit", cluster.uplink_mbit),
            ] {
                if !(value.is_finite() && value >= 0.0) {
                    return wrong(
                        field(name),
                        format!("{value}: a number from 0 was expected"),
                    );
                }
            }
        }
        let of_links = self.links.iter().enumerate().flat_map(|(number, link)| {
            let field = move |name: &str| format!("links[{number}].{name}");
            [
                (field("latency_us"), link.latency_us),
                (field("mbit"), link.mbit),
                (field("connection_mbit"), link.connection_mbit),
            ]
        });
        for (field, value) in of_links.chain([("wan_latency_us".into(), self.wan_latency_us)]) {
            if !(value.is_finite() && value >= 0.0) {
                return wrong(field, format!("{value}: a number from 0 was expected"));
            }
        }
        Ok(())
    }
}
