//! Decision tables: the algorithm of a collective by its size and the size of its communicator.

use crate::{mpich, open_mpi};
use strum::{Display, IntoStaticStr, VariantArray};
use treepie_base::from_name;
use treepie_collective::operation::Operation;
use treepie_collective::{Algorithm, Flow};

/// Segments in which MPIs send a message down a chain, in bytes.
const CHAIN_SEGMENT: u64 = 64 << 10;

/// Family of MPI libraries, whose defaults select the algorithms.
///
/// Neither traffic through memory that the ranks of a node share nor an administrator's tuning is
/// modelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Family {
    /// Open MPI 4.1 and later.
    OpenMpi,
    /// MPICH and its relatives: Intel MPI, MVAPICH, Cray MPICH.
    Mpich,
}

impl Family {
    /// Both families.
    pub const ALL: [Family; 2] = [Family::OpenMpi, Family::Mpich];

    /// Returns the usual eager limit over TCP with default settings, in bytes: a larger message
    /// uses a rendezvous. Measured between hosts: Open MPI 4.1 and 5 use it from 64 KiB on, header
    /// included; MPICH 4.0 over UCX 1.13 from between 19,000 and 20,000 bytes on, with one and with
    /// four processes on a host.
    pub fn usual_eager_limit(self) -> u64 {
        match self {
            Family::OpenMpi => 48 << 10,
            Family::Mpich => 16 << 10,
        }
    }

    /// Returns the family that a profile names; for an unknown name that of MPICH, whose rules most
    /// libraries have.
    pub fn of_family(family: &str) -> Family {
        family.parse().unwrap_or(Family::Mpich)
    }

    /// Returns its algorithm for `operation` among `ranks` ranks, by name. `block_bytes` is the
    /// size of [`Volume::Uniform`](treepie_collective::Volume::Uniform), for one call, or the mean
    /// if ranks differ.
    pub fn usual_algorithm(
        self,
        operation: Operation,
        ranks: usize,
        block_bytes: u64,
    ) -> &'static str {
        let usual = match self {
            Family::OpenMpi => open_mpi::usual(operation, ranks, block_bytes),
            Family::Mpich => mpich::usual(operation, ranks, block_bytes),
        };
        match Algorithm::find(operation, usual) {
            Some(algorithm) if !allows(algorithm, ranks) => self.fallback(usual).unwrap_or(usual),
            _ => usual,
        }
    }

    /// Returns the algorithm that replaces the one of this name if its requirements are not met.
    fn fallback(self, name: &str) -> Option<&'static str> {
        let fallbacks = match self {
            Family::OpenMpi => open_mpi::FALLBACKS,
            Family::Mpich => &[],
        };
        let found = fallbacks.iter().find(|(from, _)| *from == name);
        found.map(|&(_, to)| to)
    }

    /// Returns its implementation of `operation` among `ranks` ranks by the algorithm of this name;
    /// `None` if that is not modelled: it has no such algorithm, or a special case for this number
    /// of ranks.
    pub fn by_name(
        self,
        operation: Operation,
        name: &str,
        ranks: usize,
    ) -> Option<NativeAlgorithm> {
        if let Some(&(.., parts)) = COMPOSED
            .iter()
            .find(|(of, composed, _)| of.contains(&operation) && *composed == name)
        {
            return Some(NativeAlgorithm::Composed(parts(operation)));
        }
        let known = |name| Algorithm::find(operation, name).filter(|known| known.is_by_rank());
        let algorithm = known(name)?;
        if allows(algorithm, ranks) {
            return Some(NativeAlgorithm::By(algorithm));
        }
        self.fallback(name).and_then(known).map(NativeAlgorithm::By)
    }

    /// True if `by_name` is this MPI's behaviour when the algorithm is forced.
    pub fn models(self, operation: Operation, name: &str, ranks: usize) -> bool {
        let own_way = self == Family::OpenMpi
            && matches!(name, "scatter-doubling" | "reduce-scatter-gather")
            && !ranks.is_power_of_two();
        !own_way && self.by_name(operation, name, ranks).is_some()
    }

    /// Returns the flow of its messages: whole, except for the blocks that MPICH sends around a
    /// ring in an `Allgatherv` (`ALLGATHERV_PIPELINE_MSG_SIZE`).
    pub fn flow(self, operation: Operation, name: &str) -> Flow {
        match (self, operation, name) {
            (Family::Mpich, Operation::Allgatherv, "ring") => Flow {
                segment: 32 * 1024,
                ..Flow::WHOLE
            },
            _ => Flow::WHOLE,
        }
    }

    /// True if it exchanges with one partner after the other; otherwise all messages of a total
    /// exchange are in flight together. MPICH does so with long blocks
    /// (`ALLTOALL_MEDIUM_MSG_SIZE`).
    pub fn exchanges_in_turn(self, operation: Operation, bytes: u64) -> bool {
        self == Family::Mpich && operation == Operation::Alltoall && bytes > 32 << 10
    }

    /// Returns the flow as in [`Family::flow`], with the segments of its pipelines, which a profile
    /// counts as one message.
    pub fn segments(self, operation: Operation, name: &str) -> Flow {
        match name {
            "chain" => Flow {
                segment: CHAIN_SEGMENT,
                ..Flow::WHOLE
            },
            _ => self.flow(operation, name),
        }
    }
}

fn allows(algorithm: &Algorithm, ranks: usize) -> bool {
    let mut required = algorithm.requires.iter();
    required.all(|requirement| requirement.allows(ranks))
}

/// Implementation of a collective in a native MPI.
#[derive(Debug, Clone, Copy)]
pub enum NativeAlgorithm {
    /// One algorithm.
    By(&'static Algorithm),
    /// Two consecutive collectives, with rank 0 as root, each with its usual algorithm.
    Composed([Operation; 2]),
}

/// Collectives that an operation is composed of.
type Parts = fn(Operation) -> [Operation; 2];

/// Algorithms that are composed of two collectives, each with its usual algorithm.
const COMPOSED: &[(&[Operation], &str, Parts)] = {
    use Operation::*;
    &[
        (&[Allreduce], "reduce-broadcast", |_| [Reduce, Bcast]),
        (
            &[Allgather, Allgatherv],
            "gather-broadcast",
            |of| match of {
                Allgatherv => [Gatherv, Bcast],
                _ => [Gather, Bcast],
            },
        ),
        (
            &[ReduceScatter, ReduceScatterBlock],
            "reduce-scatterv",
            |of| match of {
                ReduceScatter => [Reduce, Scatterv],
                _ => [Reduce, Scatter],
            },
        ),
    ]
};

from_name!(Family, "MPI family");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_algorithm_is_always_one_of_the_table_that_the_ranks_allow() {
        for host in Family::ALL {
            for operation in Operation::all() {
                for ranks in [
                    1,
                    2,
                    3,
                    7,
                    8,
                    9,
                    20,
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
                        let usual = host.usual_algorithm(operation, ranks, bytes);
                        assert!(
                            host.by_name(operation, usual, ranks).is_some(),
                            "{host} {operation} {ranks} {bytes}: {usual}"
                        );
                        if let Some(algorithm) = Algorithm::find(operation, usual) {
                            assert!(
                                allows(algorithm, ranks),
                                "{host} {operation} {ranks}: {usual}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn mpich_takes_other_algorithms_for_long_messages_than_for_short_ones() {
        let of = |operation, size, bytes| Family::Mpich.usual_algorithm(operation, size, bytes);
        assert_eq!(
            [12288, 12289, 524288, 524289].map(|bytes| of(Operation::Bcast, 16, bytes)),
            [
                "binomial",
                "scatter-doubling",
                "scatter-doubling",
                "scatter-allgather"
            ]
        );
        assert_eq!(
            [8, 127, 128].map(|bytes| of(Operation::Allreduce, 16, bytes)),
            [
                "recursive-doubling",
                "recursive-doubling",
                "reduce-scatter-allgather"
            ]
        );
        assert_eq!(
            [9, 10, 32, 64].map(|size| of(Operation::Allgather, size, 8 * 1024)),
            ["bruck", "ring", "recursive-doubling", "ring"]
        );
    }

    #[test]
    fn open_mpi_decides_by_tables_of_its_own() {
        let of = |operation, size, bytes| Family::OpenMpi.usual_algorithm(operation, size, bytes);
        assert_eq!(
            [7, 8, 4096, 16384, 32768].map(|bytes| of(Operation::Bcast, 8, bytes)),
            [
                "quadrinomial",
                "binary",
                "binary",
                "highest-bit-binomial",
                "linear"
            ]
        );
        assert_eq!(
            [3, 4, 8, 64].map(|size| of(Operation::Barrier, size, 0)),
            [
                "recursive-doubling",
                "linear",
                "recursive-doubling",
                "dissemination"
            ]
        );
        // By the bytes of all blocks: 8 blocks of 32 KiB.
        assert_eq!(
            [32767, 32768].map(|bytes| of(Operation::ReduceScatter, 8, bytes)),
            ["recursive-halving", "ring"]
        );
        // Its algorithms are replaced by others for numbers of ranks that are odd or no power of
        // two.
        assert_eq!(of(Operation::Allgather, 6, 8), "bruck");
        assert_eq!(of(Operation::Allgather, 33, 8 << 10), "ring");
        assert_eq!(of(Operation::Bcast, 20, 1 << 20), "scatter-allgather");
    }

    #[test]
    fn what_hosts_do_in_their_own_ways_is_not_claimed() {
        let claimed = |host: Family, size| {
            let bcast = host.models(Operation::Bcast, "scatter-doubling", size);
            let reduce = host.models(Operation::Reduce, "reduce-scatter-gather", size);
            (bcast, reduce)
        };
        assert_eq!(claimed(Family::OpenMpi, 6), (false, false));
        assert_eq!(claimed(Family::OpenMpi, 8), (true, true));
        assert_eq!(claimed(Family::Mpich, 6), (false, true));
        assert!(Family::OpenMpi.models(Operation::Allgather, "recursive-doubling", 6));
        assert!(!Family::Mpich.models(Operation::Allgather, "recursive-doubling", 6));
        assert!(!Family::OpenMpi.models(Operation::Barrier, "scatter-doubling", 8));
        assert!(Family::OpenMpi.models(Operation::Bcast, "chain", 6));
        assert!(!Family::OpenMpi.models(Operation::Bcast, "grid-chain", 6));
    }

    #[test]
    fn a_family_that_is_not_known_is_taken_for_mpich() {
        assert_eq!(Family::of_family("open-mpi"), Family::OpenMpi);
        assert_eq!(Family::of_family("mpich"), Family::Mpich);
        assert_eq!(Family::of_family("standard"), Family::Mpich);
    }
}
