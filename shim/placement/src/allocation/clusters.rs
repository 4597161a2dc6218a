//! Clusters of a job's hosts, given by number.

use std::collections::BTreeMap;

use crate::allocation::error::AllocationError;
use crate::allocation::job::hosts_of;
use crate::binding::LaunchedProcess;
use treepie_base::{Cluster, Process, Slice};
use treepie_topology::Topology;

/// Builds the network of hosts from the cluster of each process. Processes are in the order of the
/// launcher's world; clusters are sorted by number.
///
/// # Errors
/// The number of processes differs from that of the job, or a host is in two clusters.
pub fn network_of(
    processes: &Slice<Process, LaunchedProcess>,
    cluster_of_process: &Slice<Process, Cluster>,
) -> Result<Topology, AllocationError> {
    let (given, job) = (cluster_of_process.len(), processes.len());
    if given != job {
        return Err(AllocationError::ClustersGiven { given, job });
    }
    let mut clusters: BTreeMap<Cluster, Vec<String>> = BTreeMap::new();
    for host in hosts_of(processes) {
        let first = cluster_of_process[host.processes[0]];
        let others = host
            .processes
            .iter()
            .map(|&process| cluster_of_process[process]);
        if let Some(second) = others.into_iter().find(|&other| other != first) {
            return Err(AllocationError::Split {
                host: host.name,
                first,
                second,
            });
        }
        clusters.entry(first).or_default().push(host.name);
    }
    Ok(Topology::from_clusters(clusters.into_values().collect())?)
}
