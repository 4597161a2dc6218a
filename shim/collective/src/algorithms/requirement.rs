//! Requirements of an algorithm on a call, beyond its operation.

use thiserror::Error;

use crate::problem::Problem;

/// Requirement of an algorithm on a call. Its text, for messages, is the property that a call must
/// have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Requirement {
    /// Operands may be combined in any order, which may depend on clusters.
    #[error("an operation whose operands may be combined in any order")]
    Commutative,
    /// At most this many ranks.
    #[error("at most {0} ranks")]
    MaxRanks(usize),
    /// The number of ranks is a power of two.
    #[error("a power of two of ranks")]
    PowerOfTwo,
    /// The number of ranks is even.
    #[error("an even number of ranks")]
    EvenRanks,
    /// All ranks know the sizes of all blocks.
    #[error("sizes of blocks that all ranks know")]
    KnownSizes,
    /// The leader of each cluster knows the sizes of its ranks' blocks.
    #[error("sizes of blocks that ranks tell the leader of their cluster")]
    ToldSizes,
    /// The communicator has a topology, which all ranks know.
    #[error("a topology that all ranks know")]
    Topology,
}

impl Requirement {
    /// True if a call meets it.
    pub fn is_met(self, problem: &Problem) -> bool {
        match self {
            Requirement::Commutative => !problem.ordered,
            Requirement::KnownSizes => problem.sizes_are_known(),
            Requirement::ToldSizes => problem.sizes_are_known() || problem.sizes_are_told(),
            Requirement::Topology => problem.clusters.neighbourhoods().is_some(),
            Requirement::MaxRanks(_) | Requirement::PowerOfTwo | Requirement::EvenRanks => {
                self.allows(problem.ranks())
            }
        }
    }

    /// True if a communicator of this many ranks meets it.
    pub fn allows(self, ranks: usize) -> bool {
        match self {
            Requirement::Commutative | Requirement::Topology => true,
            Requirement::KnownSizes | Requirement::ToldSizes => true,
            Requirement::MaxRanks(most) => ranks <= most,
            Requirement::PowerOfTwo => ranks.is_power_of_two(),
            Requirement::EvenRanks => ranks.is_multiple_of(2) || ranks == 1,
        }
    }
}
