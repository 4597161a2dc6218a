//! Reason why there is no placement, or why a given one is refused.

use thiserror::Error;

use crate::constraints::error::ConstraintError;
use crate::strategy::Strategy;
use treepie_base::{Leaf, Rank};
use treepie_topology::TopologyError;
use treepie_topology::networks::NetworkError;
use treepie_traffic::MatrixError;

/// Reason why ranks cannot be placed, or a placement is none.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs)] // the messages say what their fields are
pub enum PlacementError {
    /// Each rank needs a leaf of its own.
    #[error(
        "{ranks} ranks do not fit on {leaves} cores that may be used: use more nodes or fewer ranks, or let cores take several (slots)"
    )]
    TooManyRanks { ranks: usize, leaves: usize },
    /// A list of leaves has another length than there are ranks.
    #[error("{found} leaves are given for {expected} ranks: give one for each")]
    WrongCount { found: usize, expected: usize },
    /// A rank is on a leaf that does not exist.
    #[error("rank {rank} is on leaf {leaf}, but the topology's {leaves} leaves count from 0")]
    NoSuchLeaf {
        rank: Rank,
        leaf: Leaf,
        leaves: usize,
    },
    /// A rank is on a leaf that may not be used.
    #[error("rank {rank} is on leaf {leaf}, which is forbidden in this topology")]
    ForbiddenLeaf { rank: Rank, leaf: Leaf },
    /// Two ranks or processes are on one leaf.
    #[error("leaf {leaf} has both rank {first} and rank {second}: expected one rank on each leaf")]
    LeafTwice {
        leaf: Leaf,
        first: Rank,
        second: Rank,
    },
    /// A placement puts a rank where the launcher has started no process.
    #[error(
        "rank {rank} belongs on leaf {leaf}, where the launcher started no process: place again with the leaves that are in use, or bind as well"
    )]
    NoProcess { rank: Rank, leaf: Leaf },
    /// The affinities add up to more than a number can hold.
    #[error("the affinities add up to {total:e}, which is too large: scale the matrix down")]
    TooHeavy { total: f64 },
    /// Exact grouping would list more groups than memory holds.
    #[error(
        "exact grouping would weigh {groups} groups of {size} ranks, at most {limit} are possible here: use the strategy treematch, which groups exactly where that is cheap"
    )]
    TooManyGroups {
        groups: u64,
        size: usize,
        limit: u64,
    },
    /// A strategy for trees that are balanced and symmetric.
    #[error(
        "the strategy {strategy} needs a tree whose parts are all alike, which this one, without the cores that may not be used, is not: use treematch-constraints or best"
    )]
    UnevenTree { strategy: Strategy },
    /// A balancer without loads.
    #[error("the strategy {strategy} balances loads: give the load of each rank")]
    NoLoads { strategy: Strategy },
    /// Another number of loads than ranks.
    #[error("{found} loads are given for {expected} ranks: give one for each")]
    WrongLoads { found: usize, expected: usize },
    /// A load that is no load.
    #[error("the load of rank {rank} is {load}: loads are finite and not negative")]
    BadLoad { rank: Rank, load: f64 },
    /// A balancer cannot respect constraints of single ranks.
    #[error(
        "the strategy {strategy} moves ranks as their loads demand and cannot respect {what}: use another strategy or leave that out"
    )]
    NotWithLoads {
        strategy: Strategy,
        what: &'static str,
    },
    /// A balancer put more ranks on a leaf than it takes.
    #[error(
        "balancing the loads puts {found} ranks on leaf {leaf}, which takes {slots}: allow more slots or use another strategy"
    )]
    Overfull {
        leaf: Leaf,
        found: usize,
        slots: usize,
    },
    /// The objective or strategy needs a tree; the network is none.
    #[error(
        "{what} is defined on trees and not on this network: use the objectives sum, congestion or mixture, and a strategy without tmlb"
    )]
    TreesOnly { what: String },
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
