//! Network of a communicator whose ranks are on one host and share its memory.
//!
//! The times of messages were measured on one machine, and serve to rank strategies; a guard
//! determines which of them is faster than the native collective. They include the overhead of
//! ranks, as part of the gap.

use crate::clusters::Clusters;
use crate::network::computing::Computing;
use crate::network::inside::innermost;
use crate::network::links::{Network, Shared};
use std::sync::Arc;
use treepie_base::Cluster;
use treepie_base::square::Square;
use treepie_platform::{Link, Sample};

/// Seconds from the write of a message until it is visible.
const LATENCY: f64 = 0.1e-6;

/// Gaps by bytes, in seconds: messages in blocks, copied twice, and from 32 KiB on copied once.
/// Between two processes on the cores of one socket (Xeon of the generation of 2023, 2.3 GHz).
const GAPS: [(u64, f64); 6] = [
    (0, 0.1e-6),
    (1 << 10, 0.25e-6),
    ((32 << 10) - 1, 6.5e-6),
    (32 << 10, 5e-6),
    (64 << 10, 8e-6),
    (1 << 20, 95e-6),
];

/// Seconds to combine a byte with another in the caches.
const PER_BYTE: f64 = 0.1e-9;

/// Bytes that the memory of a host moves in a second, for all its cores together. Counted for a
/// `mixed-radix` allreduce, which moves 5.1 bytes per byte and rank: 64 MiB on the 128 cores of two
/// EPYCs took 157.5 ms (`ext_mpi_collectives`, PPAM 2024).
const MOVED_IN_A_SECOND: f64 = 280e9;

/// Bytes of the caches of that host.
const CACHES: f64 = (512 << 20) as f64;

/// Seconds that `bytes` bytes take through a host's memory, of buffers of `held` bytes, without the
/// part that stays in the caches. Messages and sums of one rank are priced separately, at the rate
/// of one core; this is the limit for all cores together.
pub(crate) fn seconds(bytes: f64, held: f64) -> f64 {
    let cached = (CACHES / held.max(1.0)).min(1.0);
    (1.0 - cached) * bytes / MOVED_IN_A_SECOND
}

/// Ratio of distances for each level that two ranks do not share: a cache line passes from core to
/// core in 15 to 19 ns inside one third-level cache, in 80 ns to another one of the chip
/// (AnandTech's review of the Ryzen 9 7950X, 2022); sockets are farther apart.
const FARTHER: f64 = 2.0;

/// Link between ranks that are `apart` levels apart.
fn link(apart: usize) -> Option<Arc<Link>> {
    let times = FARTHER.powi(apart as i32);
    let sample = |(bytes, gap)| Sample {
        bytes,
        gap: times * gap,
        send: times * gap,
        receive: times * gap,
        ..Sample::default()
    };
    // The constants are valid parameters of a link, as a test shows.
    let link = Link::new(times * LATENCY, GAPS.map(sample).to_vec());
    link.ok().map(Arc::new)
}

impl Network {
    /// Network of the ranks of one host, which share its memory. Clusters are its groups on the
    /// widest level.
    pub fn in_memory(clusters: &Clusters) -> Self {
        let (ranks, count) = (clusters.ranks(), clusters.count());
        let levels = clusters.closer().len();
        let (across, on_host) = (link(levels + 1), link(levels));
        let shared = across.clone().filter(|_| count > 1);
        let shared = shared.map(|link| Shared { link, share: 1.0 });
        let network = Network {
            cluster_of: (0..ranks).map(|rank| clusters.of(rank)).collect(),
            host_of: vec![0; ranks],
            hosts: 1,
            between: Square::new(count, |(from, to)| across.clone().filter(|_| from != to)),
            within: vec![None; count].into(),
            on_host: vec![on_host; count].into(),
            inside: innermost(clusters, levels, |level, _| link(levels - 1 - level)),
            contention: vec![None; count].into(),
            uplink: vec![shared.clone(); count].into(),
            downlink: vec![shared; count].into(),
            leaders: clusters
                .all()
                .map(|cluster| clusters.leader(cluster))
                .collect(),
            is_near: count > 1,
            is_in_memory: true,
            centre: Cluster(0),
            farthest: 0.0,
            slowest: 0.0,
            lanes: 1,
            computing: Computing { per_byte: PER_BYTE },
        };
        match count {
            1 => network,
            _ => network.with_totals(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::links::Distance;

    #[test]
    fn all_ranks_of_a_host_reach_each_other_in_its_memory() {
        let network = Network::in_memory(&Clusters::one(5));
        assert_eq!((network.ranks(), network.clusters()), (5, 1));
        assert_eq!(network.distance(0, 4), Distance::Host);
        let link = network.link(0, 4).expect("its parameters are right");
        for (bytes, gap) in GAPS {
            assert_eq!(link.gap(bytes), gap);
        }
    }

    #[test]
    fn what_stays_in_the_caches_takes_memory_no_time() {
        assert_eq!(seconds(1e12, CACHES), 0.0);
        assert_eq!(seconds(0.0, 0.0), 0.0);
        let half = seconds(280e6, 2.0 * CACHES);
        assert!((half - 0.5e-3).abs() < 1e-9, "{half}");
    }

    #[test]
    fn each_level_that_two_ranks_do_not_share_makes_them_twice_as_far() {
        let by = |size: usize| -> Vec<usize> { (0..64).map(|rank| rank / size).collect() };
        let one = Clusters::one(64).with_closer(&by(32)).with_closer(&by(8));
        let clusters = one.with_closer(&by(4)).parted_inside();
        let network = Network::in_memory(&clusters);
        assert_eq!((network.clusters(), network.hosts()), (2, 1));
        assert!(network.is_near());
        let times = |to| {
            network
                .link(0, to)
                .map(|link| (link.latency() / LATENCY).round())
        };
        assert_eq!([1, 4, 8, 32].map(times), [1.0, 2.0, 4.0, 8.0].map(Some));
        assert_eq!(network.link(0, 40), network.between(Cluster(0), Cluster(1)));
        assert_eq!(Clusters::of_network(&network), clusters);
    }
}
