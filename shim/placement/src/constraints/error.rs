//! Constraints that contradict each other or the topology.

use thiserror::Error;
use treepie_base::{Leaf, Rank};

/// Reason why constraints cannot be met. Leaves of the topology are called cores, as users do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs)] // the messages explain the fields
pub enum ConstraintError {
    /// The list of slots has another length than the number of cores.
    #[error("{found} numbers of slots are given for {expected} cores: give one for each")]
    WrongSlots { found: usize, expected: usize },
    /// There are more ranks than slots on all cores.
    #[error(
        "{ranks} ranks do not fit into the {slots} slots of the cores that may be used: allow more slots or cores, or use fewer ranks"
    )]
    TooFewSlots { ranks: usize, slots: usize },
    /// A rank that the job does not have.
    #[error("{what} names rank {rank}, but the job's {ranks} ranks count from 0")]
    NoSuchRank {
        what: &'static str,
        rank: Rank,
        ranks: usize,
    },
    /// A core that the topology does not have.
    #[error("{what} names core {leaf}, but the topology's {leaves} cores count from 0")]
    NoSuchLeaf {
        what: &'static str,
        leaf: Leaf,
        leaves: usize,
    },
    /// A rank is fixed to a core that may not be used.
    #[error(
        "rank {rank} is fixed to core {leaf}, which is {why}: fix it to another core or let that one be used"
    )]
    FixedToUnusable {
        rank: Rank,
        leaf: Leaf,
        why: &'static str,
    },
    /// More ranks are fixed to a core than it has slots.
    #[error(
        "{found} ranks are fixed to core {leaf}, which takes {slots}: fix some of them elsewhere or allow more slots"
    )]
    FixedTooMany {
        leaf: Leaf,
        found: usize,
        slots: usize,
    },
    /// A rank has no usable core left.
    #[error(
        "rank {rank} has no core left: none of those that it may use can be used; allow it others"
    )]
    NothingAllowed { rank: Rank },
    /// Several ranks together may use fewer slots than there are ranks.
    #[error(
        "ranks {} may only use cores {}, which take {slots} ranks: allow some of them other cores",
        short(ranks),
        short(leaves)
    )]
    Crowded {
        ranks: Vec<Rank>,
        leaves: Vec<Leaf>,
        slots: usize,
    },
    /// The level to share is not in the tree.
    #[error("no level is called \"{name}\": the levels are {known}")]
    NoSuchLevel { name: String, known: String },
    /// No node can hold all ranks of a set.
    #[error(
        "ranks {} must share a {level}, but no {level} has room for all {}: the largest takes {largest} of them",
        short(ranks), ranks.len()
    )]
    TooManyTogether {
        ranks: Vec<Rank>,
        level: String,
        largest: usize,
    },
    /// The search found no assignment of sets of ranks to nodes.
    #[error(
        "no {level} was found for ranks {}, which must share one, beside the other ranks that must share theirs: make some of these sets smaller",
        short(ranks)
    )]
    NoNodeFound { ranks: Vec<Rank>, level: String },
    /// No hardware thread of a core may be used.
    #[error("0 threads of each core would leave nothing to use: allow at least 1")]
    NoThreads,
}

/// Maximum number of numbers in a message.
const MOST_LISTED: usize = 12;

/// Formats a list of numbers, truncated if it is long.
fn short<I: ToString>(numbers: &[I]) -> String {
    let listed = numbers.iter().take(MOST_LISTED).map(I::to_string);
    let listed = listed.collect::<Vec<_>>().join(", ");
    match numbers.len() > MOST_LISTED {
        true => format!("{listed}, ... ({} of them)", numbers.len()),
        false => listed,
    }
}
