//! Defects of plans.

use thiserror::Error;
use treepie_collective::Space;

/// Error in a plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Flaw {
    /// A step accesses units outside its buffer.
    #[error("rank {rank}, step {step}: a range ends behind its buffer")]
    Outside {
        /// Rank.
        rank: usize,
        /// Step.
        step: usize,
    },
    /// The input is written.
    #[error("rank {rank}, step {step}: writes to the input buffer")]
    WritesInput {
        /// Rank.
        rank: usize,
        /// Step.
        step: usize,
    },
    /// The two ranges of a step differ in length.
    #[error("rank {rank}, step {step}: ranges differ in length ({left}, {right})")]
    Lengths {
        /// Rank.
        rank: usize,
        /// Step.
        step: usize,
        /// Units of the first range.
        left: u64,
        /// Units of the second.
        right: u64,
    },
    /// Two steps may run at the same time and access the same units.
    #[error("rank {rank}: steps {first} and {second} touch the same units and may overlap")]
    Race {
        /// Rank.
        rank: usize,
        /// Earlier step.
        first: usize,
        /// Later step.
        second: usize,
    },
    /// The scratch buffer is larger than the operation can need.
    #[error("rank {rank}: {scratch} units of scratch, where {most} are the most")]
    Scratch {
        /// Rank.
        rank: usize,
        /// Units that it has.
        scratch: u64,
        /// Maximum number of units.
        most: u64,
    },
    /// An undefined unit is used.
    #[error("rank {rank}, step {step}: unit {unit} of {space:?} is used before it has a value")]
    Undefined {
        /// Rank.
        rank: usize,
        /// Step.
        step: usize,
        /// Buffer.
        space: Space,
        /// Unit.
        unit: u64,
    },
    /// Two messages between the same ranks have the same tag, or sender and receiver disagree on
    /// the length.
    #[error(
        "the message with tag {tag} from rank {from} to rank {to} is sent twice, or not as long as it is received"
    )]
    Message {
        /// Sender.
        from: usize,
        /// Receiver.
        to: usize,
        /// Tag.
        tag: u32,
    },
    /// Operands of different units are reduced.
    #[error("rank {rank}, step {step}: it reduces units of different places")]
    Mixed {
        /// Rank.
        rank: usize,
        /// Step.
        step: usize,
    },
    /// Some steps never start.
    #[error("deadlock: rank {rank} never completes step {step}")]
    Deadlock {
        /// First rank that does not end.
        rank: usize,
        /// Its first incomplete step.
        step: usize,
    },
    /// A rank may leave a barrier that another has not reached.
    #[error("a rank leaves the barrier before all have reached it")]
    Barrier,
    /// Results that must be equal on all ranks were computed differently.
    #[error("rank {rank}: unit {unit} of the output is computed in another way than on rank 0")]
    Differs {
        /// Rank.
        rank: usize,
        /// Unit.
        unit: u64,
    },
    /// A result is wrong.
    #[error(
        "rank {rank}: unit {unit} of the output is not what MPI defines: it is of ranks {found:?}"
    )]
    Result {
        /// Rank.
        rank: usize,
        /// Unit.
        unit: u64,
        /// Ranks whose operands it contains, from left to right.
        found: Vec<usize>,
    },
}
