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

use super::by_rank::{native_seconds, seconds};
use super::{CostInput, Size, sizes};
use crate::collective::network::MessageCosts;
use crate::collective::{Clusters, Host, Network, Operation};

/// `coll_han_*_segsize`, in bytes.
const SEGMENT: u64 = 64 << 10;

/// One rank of each host of a communicator.
#[derive(Debug, Clone)]
pub struct HostLeaders {
    network: Network,
    clusters: Clusters,
    sizes: Vec<Size>,
}

impl HostLeaders {
    /// Those of this network; `None` where HAN leaves everything to other components.
    pub fn new(network: &Network) -> Option<Self> {
        let network = network.one_of_each_host()?;
        let clusters = Clusters::of_network(&network);
        Some(HostLeaders {
            sizes: sizes(&network, &clusters),
            network,
            clusters,
        })
    }

    /// Seconds of HAN for a collective of all ranks; `None` for those that it does not do.
    pub fn seconds(&self, all: &CostInput) -> Option<f64> {
        use Operation::{Allgather, Allreduce, Barrier, Bcast, Gather, Reduce, Scatter};
        let between = |operation, bytes: u64, of: &dyn Fn(&CostInput) -> f64| {
            of(&CostInput {
                network: &self.network,
                clusters: &self.clusters,
                sizes: &self.sizes,
                operation,
                bytes,
                root: all.network.host_of()[all.root],
                segment: &MessageCosts::new(&self.network, bytes),
                edges: &[],
            })
        };
        let tuned = |bytes| {
            between(all.operation, bytes, &|input| {
                native_seconds(input, Host::OpenMpi)
            })
        };
        let by = |operation, algorithm, bytes| {
            between(operation, bytes, &|input| seconds(input, algorithm))
        };
        let segment = all.bytes.min(SEGMENT);
        let further = all.bytes.div_ceil(SEGMENT).max(1) as f64 - 1.0;
        let first = by(Bcast, "linear", segment);
        // Further broadcasts start when the last one has left, not when it is there.
        let broadcast = between(Bcast, segment, &|input| {
            let root = input.root_cluster();
            let links = input
                .others(root)
                .filter_map(|to| input.network.between(root, to));
            first - links.map(|link| link.latency()).fold(0.0, f64::max)
        });
        let reduce = match segment < 4 * self.network.ranks() as u64 {
            true => by(Reduce, "binomial", segment),
            false => by(Reduce, "reduce-scatter-gather", segment),
        };
        match all.operation {
            Bcast => Some(tuned(segment) + further * broadcast),
            Reduce => Some((1.0 + further) * reduce),
            Allreduce => Some(reduce + first + further * reduce.max(broadcast)),
            Barrier => Some(tuned(0)),
            Gather | Scatter | Allgather => {
                let block = all.clusters.ranks() / self.network.ranks();
                Some(tuned(all.bytes * block as u64))
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
        let leaders = HostLeaders::new(&network).expect("hosts have four ranks each");
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
            let input = CostInput {
                network: &network,
                clusters: &clusters,
                sizes: &sizes,
                operation,
                bytes,
                root: 0,
                segment: &MessageCosts::new(&network, bytes),
                edges: &[],
            };
            let told = 1e3 * leaders.seconds(&input).expect("HAN does it");
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
            HostLeaders::new(&of_numbers(
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
