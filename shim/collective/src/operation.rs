//! The collective operations of MPI that a profile records.

use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};

use treepie_base::from_name;

/// Collective operation on an intra-communicator. Blocking, non-blocking and persistent forms are
/// one operation: they move the same data. Those of neighbourhoods come last.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Display,
    IntoStaticStr,
    VariantArray,
    Serialize,
    Deserialize,
)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // each is the MPI function of that name
pub enum Operation {
    Barrier,
    Bcast,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
    Reduce,
    Allreduce,
    ReduceScatter,
    ReduceScatterBlock,
    Scan,
    Exscan,
    NeighborAllgather,
    NeighborAllgatherv,
    NeighborAlltoall,
    NeighborAlltoallv,
    NeighborAlltoallw,
}

/// Number of operations in which all ranks of a communicator take part.
const OF_ALL_RANKS: usize = 17;

/// Meaning of the bytes of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// No data is moved.
    Nothing,
    /// One message, equal for all ranks.
    Message,
    /// One block for each rank.
    Blocks,
    /// One block for each ordered pair of ranks.
    PairBlocks,
}

impl Operation {
    /// All operations among all ranks of a communicator, in the order of the MPI standard's
    /// chapter.
    pub fn all() -> impl Iterator<Item = Operation> {
        Self::VARIANTS[..OF_ALL_RANKS].iter().copied()
    }

    /// Operations among the neighbours of a topology (MPI-4.1, section 8.6).
    pub fn of_neighbours() -> impl Iterator<Item = Operation> {
        Self::VARIANTS[OF_ALL_RANKS..].iter().copied()
    }

    /// Operations of [`Operation::all`] and [`Operation::of_neighbours`].
    pub fn every() -> impl Iterator<Item = Operation> {
        Self::VARIANTS.iter().copied()
    }

    /// True if ranks exchange only with their neighbours in a topology.
    #[inline]
    pub fn is_among_neighbours(self) -> bool {
        self as usize >= OF_ALL_RANKS
    }

    /// True if a rank has one block, which all its neighbours receive.
    #[inline]
    pub fn gathers_from_neighbours(self) -> bool {
        matches!(
            self,
            Operation::NeighborAllgather | Operation::NeighborAllgatherv
        )
    }

    /// True if one rank of the communicator is the root.
    #[inline]
    pub fn has_root(self) -> bool {
        use Operation::*;
        matches!(self, Bcast | Gather | Gatherv | Scatter | Scatterv | Reduce)
    }

    /// True if operands are combined.
    #[inline]
    pub fn reduces(self) -> bool {
        use Operation::*;
        matches!(
            self,
            Reduce | Allreduce | ReduceScatter | ReduceScatterBlock | Scan | Exscan
        )
    }

    /// True if all ranks' blocks are equal: each rank knows all sizes of a call.
    #[inline]
    pub fn has_equal_blocks(self) -> bool {
        use Operation::*;
        !matches!(
            self,
            Gatherv
                | Scatterv
                | Allgatherv
                | ReduceScatter
                | Alltoallv
                | Alltoallw
                | NeighborAllgatherv
                | NeighborAlltoallv
                | NeighborAlltoallw
        )
    }

    /// True if MPI gives each rank the sizes of all blocks; in other operations only the root has
    /// them, or each rank has those that it sends and receives.
    #[inline]
    pub fn tells_all_sizes(self) -> bool {
        use Operation::*;
        !matches!(
            self,
            Gatherv
                | Scatterv
                | Alltoallv
                | Alltoallw
                | NeighborAllgatherv
                | NeighborAlltoallv
                | NeighborAlltoallw
        )
    }

    /// True if no rank can complete the operation before all have begun it.
    #[inline]
    pub fn needs_all(self) -> bool {
        use Operation::*;
        matches!(
            self,
            Barrier
                | Allgather
                | Allgatherv
                | Alltoall
                | Alltoallv
                | Alltoallw
                | Allreduce
                | ReduceScatter
                | ReduceScatterBlock
        )
    }

    /// Meaning of the bytes of a record of this operation.
    pub fn unit(self) -> Unit {
        use Operation::*;
        match self {
            Barrier => Unit::Nothing,
            Bcast | Reduce | Allreduce | Scan | Exscan => Unit::Message,
            Gather | Gatherv | Scatter | Scatterv | Allgather | Allgatherv | ReduceScatter
            | ReduceScatterBlock => Unit::Blocks,
            Alltoall | Alltoallv | Alltoallw => Unit::PairBlocks,
            NeighborAllgather | NeighborAllgatherv | NeighborAlltoall | NeighborAlltoallv
            | NeighborAlltoallw => Unit::PairBlocks,
        }
    }
}

from_name!(Operation, "collective");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_read_back_from_its_name() {
        for operation in Operation::every() {
            assert_eq!(operation.to_string().parse(), Ok(operation));
        }
        assert_eq!(Operation::all().last(), Some(Operation::Exscan));
        assert!(!Operation::all().any(Operation::is_among_neighbours));
        assert!(Operation::of_neighbours().all(Operation::is_among_neighbours));
    }

    #[test]
    fn names_are_those_of_mpi_in_lower_case_with_hyphens() {
        assert_eq!(
            Operation::ReduceScatterBlock.to_string(),
            "reduce-scatter-block"
        );
        assert_eq!(
            "Reduce_scatter_block".parse(),
            Ok(Operation::ReduceScatterBlock)
        );
    }
}
