//! The collective operations of MPI that a profile records.

use strum::{Display, IntoStaticStr, VariantArray};

use crate::affinity::names::from_name;

/// A collective operation on an intra-communicator. Blocking, non-blocking and
/// persistent forms are one operation: they move the same data.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
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
}

/// What the bytes of a record stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// Nothing is moved.
    Nothing,
    /// One message that every rank ends or starts with.
    Message,
    /// One block for each rank.
    Blocks,
    /// One block for each ordered pair of ranks.
    PairBlocks,
}

impl Operation {
    /// All operations, in the order of the MPI standard's chapter.
    pub fn all() -> impl Iterator<Item = Operation> {
        Self::VARIANTS.iter().copied()
    }

    /// Whether one rank of the communicator is the root.
    #[inline]
    pub fn has_root(self) -> bool {
        use Operation::*;
        matches!(self, Bcast | Gather | Gatherv | Scatter | Scatterv | Reduce)
    }

    /// Whether operands are combined.
    #[inline]
    pub fn reduces(self) -> bool {
        use Operation::*;
        matches!(
            self,
            Reduce | Allreduce | ReduceScatter | ReduceScatterBlock | Scan | Exscan
        )
    }

    /// Whether all ranks' blocks are equal: what one rank knows of a call, all know.
    #[inline]
    pub fn has_equal_blocks(self) -> bool {
        use Operation::*;
        !matches!(
            self,
            Gatherv | Scatterv | Allgatherv | ReduceScatter | Alltoallv | Alltoallw
        )
    }

    /// Whether MPI tells each rank the sizes of all blocks; in others the root alone knows them, or
    /// each rank those that it sends and receives.
    #[inline]
    pub fn tells_all_sizes(self) -> bool {
        use Operation::*;
        !matches!(self, Gatherv | Scatterv | Alltoallv | Alltoallw)
    }

    /// What the bytes of a record of this operation stand for.
    pub(super) fn unit(self) -> Unit {
        use Operation::*;
        match self {
            Barrier => Unit::Nothing,
            Bcast | Reduce | Allreduce | Scan | Exscan => Unit::Message,
            Gather | Gatherv | Scatter | Scatterv | Allgather | Allgatherv | ReduceScatter
            | ReduceScatterBlock => Unit::Blocks,
            Alltoall | Alltoallv | Alltoallw => Unit::PairBlocks,
        }
    }
}

from_name!(Operation, "collective");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_read_back_from_its_name() {
        for operation in Operation::all() {
            assert_eq!(operation.to_string().parse(), Ok(operation));
        }
        assert_eq!(Operation::all().count(), 17);
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
