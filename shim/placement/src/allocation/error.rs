//! Reasons why a placement is not applied to a job.

use thiserror::Error;

use crate::error::PlacementError;
use treepie_base::{Cluster, Process};
use treepie_topology::TopologyError;
use treepie_topology::networks::NetworkError;

/// Reason why a placement is not applied to a job as it was launched. Each text continues a
/// sentence that begins with the name of a file.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs)] // the messages say what their fields are
pub enum AllocationError {
    /// The number of hosts differs.
    #[error("is for {recorded} hosts, and the job runs on {job}")]
    Hosts { recorded: usize, job: usize },
    /// No host of the job is similar to one of the placement's.
    #[error(
        "has {ranks} ranks on {host}, a host of {cores} cores, and no host of the job that is left has \
         such cores and as many processes"
    )]
    Host {
        host: String,
        cores: usize,
        ranks: usize,
    },
    /// No cluster of the job is similar to one of the placement's.
    #[error(
        "has {hosts} hosts in one cluster, and no cluster of the job that is left has such hosts"
    )]
    Cluster { hosts: usize },
    /// Some process has no cluster.
    #[error("{given} processes have a cluster, and the job has {job}; give one number for each")]
    ClustersGiven { given: usize, job: usize },
    /// A host that is in two clusters.
    #[error(
        "the processes of {host} are in the clusters {first} and {second}; give those of one host one \
         number"
    )]
    Split {
        host: String,
        first: Cluster,
        second: Cluster,
    },
    /// A bare shape that the hosts do not have.
    #[error("is for {shape}, and the job has {job} processes on its hosts")]
    Shape { shape: String, job: String },
    /// A process is bound to a core that the placement does not use.
    #[error(
        "has no rank on core {core} of {host}, counted from 0, where process {process} is bound"
    )]
    Core {
        process: Process,
        host: String,
        core: usize,
    },
    /// The number of processes differs.
    #[error("is for {recorded} processes, and the job has {job}")]
    Count { recorded: usize, job: usize },
    /// The ranks cannot be placed.
    #[error("cannot be placed on the hosts of this job: {0}")]
    Placement(#[from] PlacementError),
    /// The hosts do not form a tree.
    #[error("the hosts of this job do not form a tree: {0}")]
    Topology(#[from] TopologyError),
    /// The hosts are not on the network.
    #[error(transparent)]
    Network(#[from] NetworkError),
}
