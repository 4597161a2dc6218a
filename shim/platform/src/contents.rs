//! Parts of a platform, before they are checked.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use treepie_base::list;

use crate::contention::Contention;
use crate::inside::Inside;
use crate::link::Link;
use crate::numbers;

/// A machine and the ranks on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Its name, as the MPI reports it.
    pub name: String,
    /// Its ranks in the world, from low to high; none where they are not known.
    #[serde(with = "list", default, skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<usize>,
}

/// Processes that are closer than two hosts of their cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Shared level, one of [`LEVELS`](super::LEVELS).
    pub name: String,
    /// The link between two of them.
    pub link: Link,
}

/// Hosts that are alike to each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    /// Its name.
    pub name: String,
    /// Places of its hosts in [`Contents::hosts`].
    pub hosts: Vec<usize>,
    /// Its leader.
    pub leader: usize,
    /// The link between two of its hosts; `None` if it has one only.
    pub within: Option<Link>,
    /// Closer links, from the widest level to the closest.
    pub levels: Vec<Level>,
    /// Its response to a total exchange, if that was measured.
    pub contention: Option<Contention>,
}

/// Bandwidth of several pairs at once between two clusters (item 23), two hosts of a cluster, or
/// two groups of ranks of a host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parallel {
    /// The sending cluster.
    pub from: usize,
    /// The receiving cluster; the same one for two of its hosts, or inside one.
    pub to: usize,
    /// The closest level that the ranks of each pair share on one host, one of
    /// [`LEVELS`](super::LEVELS); `None` between hosts.
    pub level: Option<&'static str>,
    /// Number of pairs that send at the same time.
    pub pairs: usize,
    /// Bytes a second of all pairs together.
    pub bytes_per_second: f64,
}

/// Record of a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probing {
    /// Seconds that it took.
    #[serde(serialize_with = "numbers::write_rounded")]
    pub seconds: f64,
    /// Seconds that it was allowed to take.
    pub budget: f64,
    /// Pairs of hosts whose latency was measured.
    pub latency_pairs: usize,
    /// Probes of pLogP parameters: C (C - 1) / 2 between clusters, one inside each
    /// that has two hosts, and those of closer levels.
    pub probes: usize,
    /// Pairs of ranks that there are.
    pub pairs: usize,
    /// Measurements for which the time was too short, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// The parts of a platform, before they are checked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Contents {
    /// All machines.
    pub hosts: Vec<Host>,
    /// Levels inside hosts that ranks are bound to, the widest first.
    pub inside: Vec<Inside>,
    /// All logical clusters.
    pub clusters: Vec<Cluster>,
    /// Links between clusters, by sender and receiver. A direction that is
    /// missing is taken to be like the other.
    pub links: BTreeMap<(usize, usize), Link>,
    /// Bandwidth of several pairs at once.
    pub parallel: Vec<Parallel>,
    /// Tolerance that the clusters were found with.
    pub tolerance: Option<f64>,
    /// Record of its measurement; `None` if it was written by hand.
    pub probing: Option<Probing>,
}

/// Reason why parts are no platform. The text names the field.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{field}: {problem}")]
pub struct PlatformError {
    /// The field, as a file names it.
    pub field: String,
    /// Expectation and remedy.
    pub problem: String,
}
