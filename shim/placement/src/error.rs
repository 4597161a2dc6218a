//! Reason why there is no placement, or why a given one is refused.

use thiserror::Error;

use super::{ConstraintError, Strategy};
use treepie_topology::TopologyError;
use treepie_topology::networks::NetworkError;
use treepie_traffic::MatrixError;

/// Reason why ranks cannot be placed, or a placement is none.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum PlacementError {
    /// Each rank needs a leaf of its own.
    #[error(
        "{ranks} ranks do not fit on {leaves} cores that may be used: use more nodes or fewer ranks, or let cores take several (slots)"
    )]
    TooManyRanks {
        /// Order of the matrix.
        ranks: usize,
        /// Leaves that are not forbidden.
        leaves: usize,
    },
    /// A list of leaves has another length than there are ranks.
    #[error("{found} leaves are given for {expected} ranks: give one for each")]
    WrongCount {
        /// Leaves given.
        found: usize,
        /// Ranks to place.
        expected: usize,
    },
    /// A rank is on a leaf that does not exist.
    #[error("rank {rank} is on leaf {leaf}, but the topology's {leaves} leaves count from 0")]
    NoSuchLeaf {
        /// The rank.
        rank: usize,
        /// The leaf that was given.
        leaf: usize,
        /// Number of leaves.
        leaves: usize,
    },
    /// A rank is on a leaf that may not be used.
    #[error("rank {rank} is on leaf {leaf}, which is forbidden in this topology")]
    ForbiddenLeaf {
        /// The rank.
        rank: usize,
        /// The leaf.
        leaf: usize,
    },
    /// Two ranks or processes are on one leaf.
    #[error("leaf {leaf} has both rank {first} and rank {second}: expected one rank on each leaf")]
    LeafTwice {
        /// The leaf.
        leaf: usize,
        /// One of them.
        first: usize,
        /// The other.
        second: usize,
    },
    /// A placement puts a rank where the launcher has started no process.
    #[error(
        "rank {rank} belongs on leaf {leaf}, where the launcher started no process: place again with the leaves that are in use, or bind as well"
    )]
    NoProcess {
        /// The rank.
        rank: usize,
        /// The leaf.
        leaf: usize,
    },
    /// The affinities add up to more than a number can hold.
    #[error("the affinities add up to {total:e}, which is too large: scale the matrix down")]
    TooHeavy {
        /// Sum of all entries.
        total: f64,
    },
    /// Exact grouping would list more groups than memory holds.
    #[error(
        "exact grouping would weigh {groups} groups of {size} ranks, at most {limit} are possible here: use the strategy treematch, which groups exactly where that is cheap"
    )]
    TooManyGroups {
        /// Groups to weigh on one level.
        groups: u64,
        /// Ranks of a group.
        size: usize,
        /// The most that are weighed.
        limit: u64,
    },
    /// A strategy for trees that are balanced and symmetric.
    #[error(
        "the strategy {strategy} needs a tree whose parts are all alike, which this one, without the cores that may not be used, is not: use treematch-constraints or best"
    )]
    UnevenTree {
        /// The strategy.
        strategy: Strategy,
    },
    /// A balancer without loads.
    #[error("the strategy {strategy} balances loads: give the load of each rank")]
    NoLoads {
        /// The strategy.
        strategy: Strategy,
    },
    /// Another number of loads than ranks.
    #[error("{found} loads are given for {expected} ranks: give one for each")]
    WrongLoads {
        /// Loads given.
        found: usize,
        /// Ranks to place.
        expected: usize,
    },
    /// A load that is no load.
    #[error("the load of rank {rank} is {load}: loads are finite and not negative")]
    BadLoad {
        /// The rank.
        rank: usize,
        /// The given value.
        load: f64,
    },
    /// A balancer cannot respect constraints of single ranks.
    #[error(
        "the strategy {strategy} moves ranks as their loads demand and cannot respect {what}: use another strategy or leave that out"
    )]
    NotWithLoads {
        /// The strategy.
        strategy: Strategy,
        /// The constraint.
        what: &'static str,
    },
    /// A balancer put more ranks on a leaf than it takes.
    #[error(
        "balancing the loads puts {found} ranks on leaf {leaf}, which takes {slots}: allow more slots or use another strategy"
    )]
    Overfull {
        /// The leaf.
        leaf: usize,
        /// Ranks there.
        found: usize,
        /// Ranks that it takes.
        slots: usize,
    },
    /// What is defined on trees, on a network that is none.
    #[error(
        "{what} is defined on trees and not on this network: use the objectives sum, congestion or mixture, and a strategy without tmlb"
    )]
    TreesOnly {
        /// The objective or strategy.
        what: String,
    },
    /// A network that does not fit the nodes.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// Constraints that contradict each other or the topology.
    #[error(transparent)]
    Constraint(#[from] ConstraintError),
    /// A matrix could not be made.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    /// The topology has no leaf that may be used.
    #[error(transparent)]
    Topology(#[from] TopologyError),
}
