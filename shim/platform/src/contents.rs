//! Parts of a platform before they are checked.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use treepie_base::{Cluster, List, list};

use crate::contention::Contention;
use crate::inside::Inside;
use crate::link::Link;
use crate::numbers;

/// A machine and the ranks on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Its name as reported by the MPI.
    pub name: String,
    /// Its ranks in the world, from low to high; empty if not known.
    #[serde(with = "list", default, skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<usize>,
}

/// Processes that are closer than two hosts of their cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Shared level, one of [`LEVELS`](super::LEVELS).
    pub name: String,
    /// The link between two such processes.
    pub link: Link,
}

/// A cluster of homogeneous hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct PlatformCluster {
    /// Its name.
    pub name: String,
    /// Indices of its hosts in [`Contents::hosts`].
    pub hosts: Vec<usize>,
    /// Its leader.
    pub leader: usize,
    /// The link between two of its hosts; `None` if it has only one.
    pub within: Option<Link>,
    /// Closer links, from the widest level to the closest.
    pub levels: Vec<Level>,
    /// Its response to a total exchange, if measured.
    pub contention: Option<Contention>,
}

/// Bandwidth of several simultaneous pairs between two clusters (item 23), two hosts of a cluster,
/// or two groups of ranks of a host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parallel {
    /// The sending cluster.
    pub from: Cluster,
    /// The receiving cluster; the same one for two of its hosts, or inside one host.
    pub to: Cluster,
    /// The closest level that the ranks of each pair share on one host, one of
    /// [`LEVELS`](super::LEVELS); `None` between hosts.
    pub level: Option<&'static str>,
    /// Number of pairs that send at the same time.
    pub pairs: usize,
    /// Bytes per second of all pairs together.
    pub bytes_per_second: f64,
}

/// Record of a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probing {
    /// Duration in seconds.
    #[serde(serialize_with = "numbers::write_rounded")]
    pub seconds: f64,
    /// Time limit in seconds.
    pub budget: f64,
    /// Pairs of hosts whose latency was measured.
    pub latency_pairs: usize,
    /// Probes of pLogP parameters: C (C - 1) / 2 between clusters, one inside each
    /// that has two hosts, and those of closer levels.
    pub probes: usize,
    /// Number of all pairs of ranks.
    pub pairs: usize,
    /// Measurements left out for lack of time, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// The parts of a platform before they are checked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Contents {
    /// All machines.
    pub hosts: Vec<Host>,
    /// Levels inside hosts to which ranks are bound, the widest first.
    pub inside: Vec<Inside>,
    /// All logical clusters.
    pub clusters: List<Cluster, PlatformCluster>,
    /// Links between clusters, by sender and receiver. A missing direction is taken to equal the
    /// other.
    pub links: BTreeMap<(Cluster, Cluster), Link>,
    /// Bandwidth of several simultaneous pairs.
    pub parallel: Vec<Parallel>,
    /// Tolerance used to find the clusters.
    pub tolerance: Option<f64>,
    /// Record of its measurement; `None` if it was written by hand.
    pub probing: Option<Probing>,
}

/// Reason why parts do not form a platform. The text names the field.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{field}: {problem}")]
pub struct PlatformError {
    /// Name of the field in a file.
    pub field: String,
    /// Expectation and remedy.
    pub problem: String,
}
