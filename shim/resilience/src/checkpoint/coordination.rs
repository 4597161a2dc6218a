//! Messages by which all ranks agree on a cut.

use treepie_collective::read::simulate::{Options, SimulationError, simulate};
use treepie_collective::{Builder, Clusters, Network, Plan};

/// Method of agreement of the ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coordination {
    /// A marker from each rank to each other (Chandy and Lamport 1985; Coti 2006, 2.4.1).
    Markers,
    /// Counts of sent messages, through a coordinator in each cluster, and the release.
    ByCluster,
    /// Counts inside each cluster, and no messages between clusters.
    InsideClusters,
}

/// Number of messages until all ranks know that the cut is complete, for `ranks` ranks in
/// `clusters` clusters; the release is not counted.
pub fn message_count(coordination: Coordination, ranks: u64, clusters: u64) -> u64 {
    let inside = 2 * (ranks - clusters);
    match coordination {
        Coordination::Markers => ranks * (ranks - 1),
        Coordination::ByCluster => inside + clusters * (clusters - 1),
        Coordination::InsideClusters => inside,
    }
}

/// Seconds until all ranks agree, on an otherwise idle network. Counts have so few bytes that their
/// messages are modelled as empty, like markers.
///
/// # Errors
/// None for the plans of this file; those of the simulator.
pub fn seconds(coordination: Coordination, network: &Network) -> Result<f64, SimulationError> {
    let clusters = Clusters::of_network(network);
    let plans: Vec<Plan> = (0..network.ranks())
        .map(|rank| match coordination {
            Coordination::Markers => markers(rank, network.ranks()),
            Coordination::ByCluster => counts(rank, network, &clusters, true),
            Coordination::InsideClusters => counts(rank, network, &clusters, false),
        })
        .collect();
    Ok(simulate(network, &plans, 1, Options::default())?.seconds)
}

fn markers(rank: usize, ranks: usize) -> Plan {
    Builder::plan(1, |steps| {
        for distance in 1..ranks {
            steps.signal((rank + distance) % ranks);
        }
        for distance in 1..ranks {
            steps.await_signal((rank + ranks - distance) % ranks);
        }
    })
}

/// Members report to the leader of their cluster, leaders to each other, and back.
fn counts(rank: usize, network: &Network, clusters: &Clusters, between: bool) -> Plan {
    let cluster = network.cluster_of()[rank];
    let leaders = network.leaders();
    let leader = leaders[cluster];
    let others = |all: &[usize], one: usize| -> Vec<usize> {
        all.iter().copied().filter(|&other| other != one).collect()
    };
    Builder::plan(1, |steps| {
        if rank != leader {
            steps.signal(leader);
            steps.await_signal(leader);
            return;
        }
        let members = others(clusters.members(cluster), leader);
        for &member in &members {
            steps.await_signal(member);
        }
        steps.fence();
        if between {
            for other in others(leaders.as_ref(), leader) {
                steps.signal(other);
                steps.await_signal(other);
            }
            steps.fence();
        }
        for &member in &members {
            steps.signal(member);
        }
    })
}
