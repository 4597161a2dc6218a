//! Open MPI's HAN, the default of Open MPI 5 where hosts have as many ranks each, and several: one
//! rank of each host takes part between hosts, in segments that do not overlap there.
//!
//! ```text
//!   bcast      first segment: tuned between hosts | each further one: linear, once the last has left
//!   reduce     each segment: halving and a gather, or a binomial tree for a few bytes
//!   allreduce  reduce and bcast, of the segments one behind the other
//!   others     inside hosts, then tuned between hosts, with the blocks of a host together
//! ```
//!
//! Source: `ompi/mca/coll/han` and `coll/libnbc`, which it uses between hosts. On four hosts 10 ms and
//! 100 Mbit/s apart it was measured as this says within 7 %: broadcasts of 8 B, 64 KiB and 1 MiB in 20.7,
//! 48.1 and 612 ms, reductions in 21.3, 50.8 and 787 ms.

use super::by_rank::{host_seconds, seconds};
use super::{Costed, Scene, sizes};
use crate::collective::{Clusters, Network};
use crate::collective::{Host, Operation};

/// `coll_han_*_segsize`, in bytes.
const SEGMENT: u64 = 64 << 10;

/// One rank of each host of a communicator.
#[derive(Debug, Clone)]
pub struct Leaders {
    network: Network,
    clusters: Clusters,
}

impl Leaders {
    /// Those of this network; `None` where HAN leaves everything to others.
    pub fn new(network: &Network) -> Option<Self> {
        let network = network.one_of_each_host()?;
        let clusters = Clusters::of_network(&network);
        Some(Leaders { network, clusters })
    }

    /// What HAN takes for a collective; `None` for those that it does not do. `scene` is that of all ranks.
    pub fn seconds(&self, scene: &Scene, operation: Operation) -> Option<f64> {
        let sizes = sizes(&self.network, &self.clusters);
        let host = scene.network.host_of()[scene.root];
        let block = scene.bytes * (scene.clusters.ranks() / self.network.ranks()) as u64;
        let at = |bytes: u64, of: &dyn Fn(&Scene) -> f64| {
            let piece = Costed::new(&self.network, bytes);
            of(&Scene {
                network: &self.network,
                clusters: &self.clusters,
                sizes: &sizes,
                bytes,
                root: host,
                piece: &piece,
            })
        };
        let tuned = |operation, bytes| {
            at(bytes, &|scene| {
                host_seconds(scene, Host::OpenMpi, operation)
            })
        };
        let segment = scene.bytes.min(SEGMENT);
        let further = scene.bytes.div_ceil(SEGMENT).max(1) as f64 - 1.0;
        // Further broadcasts start when the last one has left, not when it is there.
        let broadcast = at(segment, &|scene| {
            let linear = seconds(scene, Operation::Bcast, "linear");
            let latency = scene
                .others(scene.home())
                .filter_map(|to| scene.network.between(scene.home(), to));
            linear - latency.map(|link| link.latency()).fold(0.0, f64::max)
        });
        let reduce = at(segment, &|scene| {
            let algorithm = match segment < 4 * self.network.ranks() as u64 {
                true => "binomial",
                false => "reduce-scatter-gather",
            };
            seconds(scene, Operation::Reduce, algorithm)
        });
        match operation {
            Operation::Bcast => Some(tuned(operation, segment) + further * broadcast),
            Operation::Reduce => Some((1.0 + further) * reduce),
            Operation::Allreduce => {
                let first = at(segment, &|scene| seconds(scene, Operation::Bcast, "linear"));
                Some(reduce + first + further * reduce.max(broadcast))
            }
            Operation::Barrier => Some(tuned(operation, 0)),
            Operation::Gather | Operation::Scatter | Operation::Allgather => {
                Some(tuned(operation, block))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::Chooser;
    use crate::collective::grids::{lan, of_numbers, wan};
    use std::sync::Arc;

    /// Four hosts of four ranks.
    fn four_hosts() -> Network {
        let numbers: Vec<usize> = (0..16).map(|rank| rank / 4).collect();
        of_numbers(&numbers, 4, |_| lan(), |_, _| wan(10.0, 100.0))
    }

    /// Milliseconds measured on the emulated grid of four hosts with four ranks each.
    #[test]
    fn what_open_mpi_5_takes_on_four_hosts_is_predicted() {
        let network = four_hosts();
        let clusters = Clusters::of_network(&network);
        let leaders = Leaders::new(&network).expect("hosts have four ranks each");
        let sizes = sizes(&network, &clusters);
        for (operation, bytes, measured) in [
            (Operation::Bcast, 8, 20.7),
            (Operation::Bcast, 65536, 48.1),
            (Operation::Bcast, 1 << 20, 611.8),
            (Operation::Bcast, 4 << 20, 2411.0),
            (Operation::Reduce, 8, 21.3),
            (Operation::Reduce, 1024, 41.5),
            (Operation::Reduce, 65536, 50.8),
            (Operation::Reduce, 1 << 20, 787.5),
            (Operation::Allreduce, 8, 31.7),
            (Operation::Allreduce, 1024, 52.4),
            (Operation::Allreduce, 65536, 98.3),
            (Operation::Allreduce, 1 << 20, 854.2),
            (Operation::Allgather, 8, 21.7),
            (Operation::Gather, 8, 21.3),
            (Operation::Scatter, 8, 21.0),
            (Operation::Barrier, 0, 21.7),
        ] {
            let piece = Costed::new(&network, bytes);
            let scene = Scene {
                network: &network,
                clusters: &clusters,
                sizes: &sizes,
                bytes,
                root: 0,
                piece: &piece,
            };
            let told = 1e3 * leaders.seconds(&scene, operation).expect("HAN does it");
            let error = told / measured - 1.0;
            assert!(
                error.abs() < 0.1,
                "{operation} of {bytes}: {told:.1} ms, {measured} ms"
            );
        }
    }

    #[test]
    fn han_leaves_to_others_what_has_no_two_levels_alike() {
        let on = |numbers: &[usize], each| {
            Leaders::new(&of_numbers(
                numbers,
                each,
                |_| lan(),
                |_, _| wan(10.0, 100.0),
            ))
        };
        assert!(on(&[0, 0, 1, 1], 2).is_some());
        // One rank on each host, one host, hosts of two ranks and of one.
        assert!(on(&[0, 0, 1, 1], 1).is_none());
        assert!(on(&[0, 0, 0], 3).is_none());
        assert!(on(&[0, 0, 1], 2).is_none());
    }

    /// `tuned` sends a few bytes to all at once, in one latency; HAN needs two.
    #[test]
    fn a_short_broadcast_is_left_to_tuned_and_not_to_han() {
        let network = Arc::new(four_hosts());
        let clusters = Clusters::of_network(&network);
        let tuned = Chooser::new(Some(network), &clusters, Some(Host::OpenMpi));
        let chosen = |mut chooser: Chooser| {
            let choice = chooser.choose(Operation::Bcast, Some(8), 0, false, &clusters);
            choice.strategy.map(|strategy| strategy.name)
        };
        assert_eq!(chosen(tuned.clone()), None);
        assert!(chosen(tuned.with_han()).is_some());
    }
}
