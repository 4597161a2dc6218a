//! Algorithms of native MPIs for a collective that is started and completed later.
//!
//! Open MPI's component `libnbc` has a few algorithms of its own, independent of the component that
//! runs the blocking ones; its persistent collectives use the same. The MPICH family has those of
//! the blocking collectives, and uses those of short messages for longer ones. Source:
//! `coll/libnbc` of Open MPI 4.1 and 5.0, the rules of MPICH 4.0 (`generic.json`, `collective=i*`).

use crate::family::Family;
use crate::mpich;
use treepie_collective::Operation::{self, *};

/// Bytes from which `libnbc` forwards a broadcast in segments, and divides a reduction.
const LONG: u64 = 64 << 10;

/// Number of ranks up to which `libnbc`'s root sends a broadcast to all ranks itself.
const FEW: usize = 4;

/// Number of ranks among which long reductions go along a chain.
const PAIR: usize = 2;

impl Family {
    /// Returns its algorithm for the non-blocking and persistent forms of `operation`, as
    /// [`Family::usual_algorithm`] does for the blocking one.
    pub fn started_algorithm(
        self,
        operation: Operation,
        ranks: usize,
        block_bytes: u64,
    ) -> &'static str {
        match self {
            Family::OpenMpi => libnbc(operation, ranks, block_bytes),
            Family::Mpich => mpich::started(operation, ranks, block_bytes),
        }
    }
}

fn libnbc(operation: Operation, ranks: usize, bytes: u64) -> &'static str {
    match operation {
        Barrier => "dissemination",
        Bcast if ranks <= FEW => "flat",
        Bcast if bytes < LONG => "binomial",
        Reduce if bytes < LONG || ranks > PAIR => "binomial",
        Bcast | Reduce => "chain",
        Allreduce if bytes < LONG || ranks < FEW => "reduce-broadcast",
        Allreduce => "ring",
        Gather | Gatherv | Scatter | Scatterv | Allgather | Allgatherv => "flat",
        Alltoall | Alltoallv | Alltoallw => "flat",
        NeighborAllgather | NeighborAllgatherv => "flat",
        NeighborAlltoall | NeighborAlltoallv | NeighborAlltoallw => "flat",
        ReduceScatter | ReduceScatterBlock => "reduce-scatterv",
        Scan | Exscan => "chain",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mpich_takes_bruck_for_longer_blocks_where_alltoall_is_started() {
        let kib = 1024;
        assert_eq!(Family::Mpich.usual_algorithm(Alltoall, 16, kib), "pairwise");
        assert_eq!(Family::Mpich.started_algorithm(Alltoall, 16, kib), "bruck");
        let longer = Family::Mpich.started_algorithm(Alltoall, 16, 4 * kib);
        assert_eq!(longer, "pairwise");
    }

    #[test]
    fn what_is_named_is_modelled() {
        for family in Family::ALL {
            for operation in Operation::every() {
                for ranks in [2, 5, 16] {
                    for bytes in [0, 8, 1 << 20] {
                        let name = family.started_algorithm(operation, ranks, bytes);
                        let found = family.by_name(operation, name, ranks);
                        assert!(found.is_some(), "{family} {operation}: {name}");
                    }
                }
            }
        }
    }
}
