//! Lower bound of all schedules: one latency (over other clusters, if that is shorter), and the
//! time of the bytes that must pass the busiest link between clusters, or the card of a host.
//!
//! Every cluster except the root's must receive a broadcast once; the sum of a reduction leaves
//! every other cluster once; an `Allreduce` of C clusters moves 2 (C - 1) / C messages over the
//! average uplink (Patarasuk and Yuan 2009); a block crosses links once per receiving rank.

use crate::clusters::Clusters;
use crate::network::links::Network;
use crate::operation::Operation;
use treepie_base::square::Square;
use treepie_base::{Cluster, List};
use treepie_platform::Link;

/// Blocks that must leave a cluster and enter it for the neighbours of its ranks: equal blocks
/// cross each link once.
fn between_neighbours(clusters: &Clusters, operation: Operation, cluster: Cluster) -> (u64, u64) {
    let Some(all) = clusters.neighbourhoods() else {
        return (0, 0);
    };
    let (mut out, mut into) = (0, 0);
    for rank in 0..clusters.ranks() {
        let here = clusters.of(rank);
        let ends = all.outgoing(rank).iter().flatten();
        let mut to: Vec<Cluster> = ends.map(|end| clusters.of(end.rank)).collect();
        if operation.gathers_from_neighbours() {
            to.sort_unstable();
            to.dedup();
        }
        let leaves = |&&to: &&Cluster| here == cluster && to != cluster;
        let enters = |&&to: &&Cluster| here != cluster && to == cluster;
        out += to.iter().filter(leaves).count() as u64;
        into += to.iter().filter(enters).count() as u64;
    }
    (out, into)
}

/// True for each cluster in which the ranks of this one have neighbours, on either side.
fn neighbour_clusters(clusters: &Clusters, cluster: Cluster) -> List<Cluster, bool> {
    let mut are: List<Cluster, bool> = vec![false; clusters.count()].into();
    if let Some(all) = clusters.neighbourhoods() {
        for &rank in clusters.members(cluster) {
            let ends = all.outgoing(rank).iter().chain(all.incoming(rank));
            ends.flatten()
                .for_each(|end| are[clusters.of(end.rank)] = true);
        }
    }
    are
}

/// Minimum time of `operation` in seconds, for a message, or a block of each rank, of `bytes`
/// bytes.
pub fn bound(
    network: &Network,
    clusters: &Clusters,
    operation: Operation,
    bytes: u64,
    root: usize,
) -> f64 {
    use Operation::*;
    let count = clusters.count();
    let root_cluster = clusters.of(root);
    let size = |cluster: Cluster| clusters.members(cluster).len() as u64;
    let all = clusters.ranks() as u64;
    let others = |cluster: Cluster| all - size(cluster);
    // Bytes that leave and enter each cluster.
    let crossing = |cluster: Cluster| -> (u64, u64) {
        let is_root = cluster == root_cluster;
        match operation {
            Barrier => (0, 0),
            Bcast if is_root => (bytes, 0),
            Bcast => (0, bytes),
            Reduce if is_root => (0, bytes),
            Reduce => (bytes, 0),
            Allreduce => (bytes, bytes),
            Gather | Gatherv if is_root => (0, others(cluster) * bytes),
            Gather | Gatherv => (size(cluster) * bytes, 0),
            Scatter | Scatterv if is_root => (others(cluster) * bytes, 0),
            Scatter | Scatterv => (0, size(cluster) * bytes),
            Allgather | Allgatherv => (size(cluster) * bytes, others(cluster) * bytes),
            Alltoall | Alltoallv | Alltoallw => {
                let pairs = size(cluster) * others(cluster) * bytes;
                (pairs, pairs)
            }
            // Sums that the others need, and sums that are needed here.
            ReduceScatter | ReduceScatterBlock => (others(cluster) * bytes, size(cluster) * bytes),
            Scan | Exscan => (bytes, bytes),
            NeighborAllgather | NeighborAllgatherv | NeighborAlltoall | NeighborAlltoallv
            | NeighborAlltoallw => {
                let (out, into) = between_neighbours(clusters, operation, cluster);
                (out * bytes, into * bytes)
            }
        }
    };
    let latencies = least_latencies(network);
    let latency = |one: Cluster, other: Cluster| latencies[(one, other)];
    let farthest = |cluster: Cluster| match operation {
        Bcast | Scatter | Scatterv => latency(root_cluster, cluster),
        Reduce | Gather | Gatherv => latency(cluster, root_cluster),
        _ => {
            let near = operation.is_among_neighbours();
            let near = near.then(|| neighbour_clusters(clusters, cluster));
            clusters
                .all()
                .filter(|&other| near.as_ref().is_none_or(|near| near[other]))
                .map(|other| latency(cluster, other).max(latency(other, cluster)))
                .fold(0.0, f64::max)
        }
    };
    let rooted = matches!(
        operation,
        Bcast | Scatter | Scatterv | Reduce | Gather | Gatherv
    );
    let nearest = clusters
        .others(root_cluster)
        .map(farthest)
        .fold(f64::INFINITY, f64::min);
    // All uplinks together carry 2 (C - 1) messages of an allreduce.
    let together = match operation {
        Allreduce if count > 1 && bytes > 0 => {
            let rates = clusters
                .all()
                .map(|cluster| 1.0 / network.uplink(cluster, bytes));
            let pairs = latencies.keys().filter(|(from, to)| from != to);
            let shortest = pairs
                .map(|pair| latencies[pair])
                .fold(f64::INFINITY, f64::min);
            2.0 * (count - 1) as f64 / rates.sum::<f64>() + shortest
        }
        _ => 0.0,
    };
    // Every host except the root's receives a broadcast, or sends its operand.
    let on_cards = clusters.all().map(|cluster| {
        let late = match cluster == root_cluster {
            true => 0.0,
            false => farthest(cluster),
        };
        match operation {
            Bcast => late + to_card(network, cluster, bytes, |other| (other, cluster)),
            Reduce => late + to_card(network, cluster, bytes, |other| (cluster, other)),
            _ => 0.0,
        }
    });
    let together = on_cards.fold(together, f64::max);
    clusters
        .all()
        .filter(|_| count > 1)
        .map(|cluster| {
            let (leaves, enters) = crossing(cluster);
            let passing = |seconds: f64, bytes: u64| if bytes == 0 { 0.0 } else { seconds };
            let busy = passing(network.uplink(cluster, leaves), leaves)
                .max(passing(network.downlink(cluster, enters), enters));
            // At the root's own end the nearest cluster may be the last.
            let late = match rooted && cluster == root_cluster {
                true => nearest,
                false => farthest(cluster),
            };
            busy + late
        })
        .fold(together, f64::max)
}

/// Seconds of `bytes` on the fastest link of a host of a cluster that has several; `ends` gives its
/// connection with another cluster.
fn to_card(
    network: &Network,
    cluster: Cluster,
    bytes: u64,
    ends: impl Fn(Cluster) -> (Cluster, Cluster),
) -> f64 {
    let hosts = network.hosts_of(cluster);
    let Some(within) = network.between_hosts(cluster).filter(|_| hosts > 1) else {
        return 0.0;
    };
    let others = network.all_clusters().map(ends);
    let far = others.filter_map(|(from, to)| network.between(from, to));
    far.map(|link| link.gap(bytes))
        .fold(within.gap(bytes), f64::min)
}

/// Least latency from each cluster to each other, in seconds, over others if that is shorter
/// (Floyd and Warshall).
fn least_latencies(network: &Network) -> Square<Cluster, f64> {
    let latency = |(from, to)| network.between(from, to).map_or(0.0, Link::latency);
    let mut least = Square::new(network.clusters(), latency);
    for over in network.all_clusters() {
        for (from, to) in least.keys() {
            let relayed = least[(from, over)] + least[(over, to)];
            least[(from, to)] = least[(from, to)].min(relayed);
        }
    }
    least
}
