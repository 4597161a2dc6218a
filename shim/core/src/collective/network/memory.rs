//! The network of a communicator whose ranks are on one host and share its memory.
//!
//! What messages take was measured on one machine, and ranks strategies: which of them is quicker
//! than the native collective, a guard finds out. So are the times that a rank is busy with a
//! message, which go into the gap.

use std::sync::Arc;

use super::Network;
use crate::collective::read::models::Computing;
use crate::platform::{Link, Sample};

/// Seconds from a message that is written to one that is seen.
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

impl Network {
    /// So many ranks of one host that share its memory.
    pub fn in_memory(ranks: usize) -> Self {
        let sample = |(bytes, gap)| Sample {
            bytes,
            gap,
            send: gap,
            receive: gap,
            ..Sample::default()
        };
        let link = Link::new(LATENCY, GAPS.map(sample).to_vec());
        // The constants above are parameters of a link, as a test shows.
        let on_host = link.ok().map(Arc::new);
        Network {
            cluster_of: vec![0; ranks],
            host_of: vec![0; ranks],
            hosts: 1,
            between: vec![None],
            within: vec![None],
            on_host: vec![on_host],
            contention: vec![None],
            uplink: vec![None],
            downlink: vec![None],
            leaders: vec![0],
            is_near: false,
            is_in_memory: true,
            centre: 0,
            farthest: 0.0,
            slowest: 0.0,
            lanes: 1,
            computing: Computing { per_byte: PER_BYTE },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::Distance;

    #[test]
    fn all_ranks_of_a_host_reach_each_other_in_its_memory() {
        let network = Network::in_memory(5);
        assert_eq!((network.ranks(), network.clusters()), (5, 1));
        assert_eq!(network.distance(0, 4), Distance::Host);
        let link = network.link(0, 4).expect("its parameters are right");
        for (bytes, gap) in GAPS {
            assert_eq!(link.gap(bytes), gap);
        }
    }
}
