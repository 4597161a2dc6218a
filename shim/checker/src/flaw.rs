//! Defects of plans.

use thiserror::Error;
use treepie_collective::Space;

/// Error in a plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Flaw {
    /// A step touches what its buffer does not have.
    #[error("rank {rank}, step {step}: a range ends behind its buffer")]
    Outside {
        /// The rank.
        rank: usize,
        /// The step.
        step: usize,
    },
    /// The input is written.
    #[error("rank {rank}, step {step}: writes to the input buffer")]
    WritesInput {
        /// The rank.
        rank: usize,
        /// The step.
        step: usize,
    },
    /// The two ranges of a step differ in length.
    #[error("rank {rank}, step {step}: ranges differ in length ({left}, {right})")]
    Lengths {
        /// The rank.
        rank: usize,
        /// The step.
        step: usize,
        /// Units of the first range.
        left: u64,
        /// Units of the second.
        right: u64,
    },
    /// Two steps may run at the same time and touch the same units.
    #[error("rank {rank}: steps {first} and {second} touch the same units and may overlap")]
    Race {
        /// The rank.
        rank: usize,
        /// The earlier step.
        first: usize,
        /// The later step.
        second: usize,
    },
    /// The scratch buffer is larger than the operation can need.
    #[error("rank {rank}: {scratch} units of scratch, where {most} are the most")]
    Scratch {
        /// The rank.
        rank: usize,
        /// Units that it asks for.
        scratch: u64,
        /// Units that it may ask for.
        most: u64,
    },
    /// A unit is used that nothing was put into.
    #[error("rank {rank}, step {step}: unit {unit} of {space:?} is used before it has a value")]
    Undefined {
        /// The rank.
        rank: usize,
        /// The step.
        step: usize,
        /// The buffer.
        space: Space,
        /// The unit.
        unit: u64,
    },
    /// Two messages between the same ranks have the same tag, or sender and
    /// receiver do not agree on the length.
    #[error(
        "the message with tag {tag} from rank {from} to rank {to} is sent twice, or not as long as it is received"
    )]
    Message {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// The tag.
        tag: u32,
    },
    /// Operands that do not belong together are reduced.
    #[error("rank {rank}, step {step}: it reduces units of different places")]
    Mixed {
        /// The rank.
        rank: usize,
        /// The step.
        step: usize,
    },
    /// Some steps never start.
    #[error("deadlock: rank {rank} never completes step {step}")]
    Deadlock {
        /// The first rank that does not end.
        rank: usize,
        /// Its first step that is not done.
        step: usize,
    },
    /// A rank may leave a barrier that another has not reached.
    #[error("a rank leaves the barrier before all have reached it")]
    Barrier,
    /// Ranks that must get the same get results that were computed differently.
    #[error("rank {rank}: unit {unit} of the output is computed in another way than on rank 0")]
    Differs {
        /// The rank.
        rank: usize,
        /// The unit.
        unit: u64,
    },
    /// A result is not what it must be.
    #[error(
        "rank {rank}: unit {unit} of the output is not what MPI defines: it is of ranks {found:?}"
    )]
    Result {
        /// The rank.
        rank: usize,
        /// The unit.
        unit: u64,
        /// The ranks whose operands are there, from left to right.
        found: Vec<usize>,
    },
}
