//! Which algorithm a host MPI takes for a collective, by its size and that of the
//! communicator.

mod mpich;
mod open_mpi;

use std::num::NonZeroU64;

use crate::affinity::names::named;
use crate::collective::operation::Operation;
use crate::collective::read::traffic::algorithm::Algorithm;

/// A family of MPI libraries, whose defaults decide about algorithms.
///
/// What happens through memory that the ranks of a node share is modelled for
/// neither, nor what an administrator has tuned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Host {
    /// Open MPI 4.1 and later.
    OpenMpi,
    /// MPICH and its relatives: Intel MPI, MVAPICH, Cray MPICH.
    Mpich,
}

impl Host {
    /// Both.
    pub const ALL: [Host; 2] = [Host::OpenMpi, Host::Mpich];

    pub(in crate::collective) const NAMES: &'static [(&'static str, Host)] =
        &[("open-mpi", Host::OpenMpi), ("mpich", Host::Mpich)];

    /// The largest message, in bytes, that these MPIs send at once over TCP in their usual settings;
    /// what is larger asks its receiver first. Measured between hosts: Open MPI 4.1 and 5 ask from
    /// 64 KiB on, header included; MPICH 4.0 over UCX 1.13 from between 19,000 and 20,000 bytes on, with one
    /// and with four processes on a host.
    pub fn usual_eager_limit(self) -> u64 {
        match self {
            Host::OpenMpi => 48 << 10,
            Host::Mpich => 16 << 10,
        }
    }

    /// The family that a profile names; MPICH's rules, which most libraries have,
    /// for a name that is not known.
    pub fn of_family(family: &str) -> Host {
        family.parse().unwrap_or(Host::Mpich)
    }

    /// Whether `algorithm` is modelled as this host does it, for `operation` among
    /// `communicator_size` ranks. Off powers of two, hosts deal in their own ways with
    /// what halves or doubles.
    pub fn models(
        self,
        operation: Operation,
        algorithm: Algorithm,
        communicator_size: usize,
    ) -> bool {
        let otherwise = match (self, algorithm) {
            (_, Algorithm::ScatterDoubling) => true,
            (Host::OpenMpi, Algorithm::ReduceScatterGather) => true,
            (Host::Mpich, Algorithm::RecursiveDoubling) => {
                matches!(operation, Operation::Allgather | Operation::Allgatherv)
            }
            _ => false,
        };
        let claimed = communicator_size.is_power_of_two() || !otherwise;
        operation.algorithms().contains(&algorithm) && claimed
    }

    /// The bytes of the pieces in which this host passes the blocks of `operation` round
    /// a ring, where it cuts them: MPICH's `ALLGATHERV_PIPELINE_MSG_SIZE`.
    pub(in crate::collective) fn ring_piece(self, operation: Operation) -> Option<NonZeroU64> {
        match (self, operation) {
            (Host::Mpich, Operation::Allgatherv) => NonZeroU64::new(32 * 1024),
            _ => None,
        }
    }

    /// The algorithm that this host takes for `operation` among
    /// `communicator_size` ranks. `block_bytes` is what
    /// [`Volume::Uniform`](crate::collective::Volume::Uniform) says, for one call, or the mean
    /// where ranks differ.
    pub fn usual_algorithm(
        self,
        operation: Operation,
        communicator_size: usize,
        block_bytes: u64,
    ) -> Algorithm {
        match self {
            Host::OpenMpi => open_mpi::usual_algorithm(operation, communicator_size, block_bytes),
            Host::Mpich => mpich::usual_algorithm(operation, communicator_size, block_bytes),
        }
    }
}

named!(Host, "MPI family");

#[cfg(test)]
mod tests {
    use super::*;
    use Algorithm::*;

    #[test]
    fn the_usual_algorithm_is_always_one_that_is_modelled_for_the_operation() {
        for host in Host::ALL {
            for operation in Operation::all() {
                for size in [
                    1,
                    2,
                    3,
                    7,
                    8,
                    9,
                    40,
                    100,
                    200,
                    400,
                    1000,
                    1500,
                    3000,
                    1 << 20,
                ] {
                    for class in 0..64 {
                        let bytes = (1u64 << class) - 1;
                        let usual = host.usual_algorithm(operation, size, bytes);
                        assert!(
                            operation.algorithms().contains(&usual),
                            "{host} {operation} {size} {bytes}: {usual}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn mpich_takes_other_algorithms_for_long_messages_than_for_short_ones() {
        let of = |operation, size, bytes| Host::Mpich.usual_algorithm(operation, size, bytes);
        assert_eq!(
            [12288, 12289, 524288, 524289].map(|bytes| of(Operation::Bcast, 16, bytes)),
            [Binomial, ScatterDoubling, ScatterDoubling, ScatterAllgather]
        );
        assert_eq!(
            [8, 127, 128].map(|bytes| of(Operation::Allreduce, 16, bytes)),
            [RecursiveDoubling, RecursiveDoubling, ReduceScatterAllgather]
        );
        assert_eq!(
            [9, 10, 32, 64].map(|size| of(Operation::Allgather, size, 8 * 1024)),
            [Bruck, Ring, RecursiveDoubling, Ring]
        );
    }

    #[test]
    fn open_mpi_decides_by_tables_of_its_own() {
        let of = |operation, size, bytes| Host::OpenMpi.usual_algorithm(operation, size, bytes);
        assert_eq!(
            [7, 8, 4096, 16384, 32768].map(|bytes| of(Operation::Bcast, 8, bytes)),
            [Quadrinomial, Binary, Binary, HighestBitBinomial, Linear]
        );
        assert_eq!(
            [3, 4, 8, 64].map(|size| of(Operation::Barrier, size, 0)),
            [RecursiveDoubling, Linear, RecursiveDoubling, Dissemination]
        );
        // By the bytes of all blocks: 8 blocks of 32 KiB.
        assert_eq!(
            [32767, 32768].map(|bytes| of(Operation::ReduceScatter, 8, bytes)),
            [RecursiveHalving, Ring]
        );
    }

    #[test]
    fn what_hosts_do_in_their_own_ways_is_not_claimed() {
        let claimed = |host: Host, size| {
            let bcast = host.models(Operation::Bcast, ScatterDoubling, size);
            let reduce = host.models(Operation::Reduce, ReduceScatterGather, size);
            (bcast, reduce)
        };
        assert_eq!(claimed(Host::OpenMpi, 6), (false, false));
        assert_eq!(claimed(Host::OpenMpi, 8), (true, true));
        assert_eq!(claimed(Host::Mpich, 6), (false, true));
        assert!(Host::OpenMpi.models(Operation::Allgather, RecursiveDoubling, 6));
        assert!(!Host::Mpich.models(Operation::Allgather, RecursiveDoubling, 6));
        assert!(!Host::OpenMpi.models(Operation::Barrier, ScatterDoubling, 8));
        assert!(Host::OpenMpi.models(Operation::Bcast, Chain, 6));
    }

    #[test]
    fn a_family_that_is_not_known_is_taken_for_mpich() {
        assert_eq!(Host::of_family("open-mpi"), Host::OpenMpi);
        assert_eq!(Host::of_family("mpich"), Host::Mpich);
        assert_eq!(Host::of_family("standard"), Host::Mpich);
    }
}
