//! Reason why there is no placement, or why a given placement is refused.

use thiserror::Error;

use crate::constraints::error::ConstraintError;
use crate::strategy::Strategy;
use treepie_base::{Leaf, Rank};
use treepie_topology::TopologyError;
use treepie_topology::networks::NetworkError;
use treepie_traffic::MatrixError;

/// Reason why ranks cannot be placed, or a placement is invalid.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs)] // the messages explain the fields
pub enum PlacementError {
    /// There are fewer usable leaves than ranks.
    #[error(
        "{ranks} ranks do not fit on {leaves} cores that may be used: use more nodes or fewer ranks, or let cores take several (slots)"
    )]
    TooManyRanks { ranks: usize, leaves: usize },
    /// A list of leaves has another length than the number of ranks.
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
    /// The sum of the affinities exceeds the range of a number.
    #[error("the affinities add up to {total:e}, which is too large: scale the matrix down")]
    TooHeavy { total: f64 },
    /// Exact grouping would list more groups than fit into memory.
    #[error(
        "exact grouping would weigh {groups} groups of {size} ranks, at most {limit} are possible here: use the strategy treematch, which groups exactly where that is cheap"
    )]
    TooManyGroups {
        groups: u64,
        size: usize,
        limit: u64,
    },
    /// The strategy needs a balanced and symmetric tree.
    #[error(
        "the strategy {strategy} needs a tree whose parts are all alike, which this one, without the cores that may not be used, is not: use treematch-constraints or best"
    )]
    UnevenTree { strategy: Strategy },
    /// A balancer without loads.
    #[error("the strategy {strategy} balances loads: give the load of each rank")]
    NoLoads { strategy: Strategy },
    /// The number of loads differs from the number of ranks.
    #[error("{found} loads are given for {expected} ranks: give one for each")]
    WrongLoads { found: usize, expected: usize },
    /// A load is negative or not finite.
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
    /// The objective or strategy needs a tree; the network is not one.
    #[error(
        "{what} is defined on trees and not on this network: use the objectives sum, congestion or mixture, and a strategy without tmlb"
    )]
    TreesOnly { what: String },
    /// The network does not fit the nodes.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The constraints contradict each other or the topology.
    #[error(transparent)]
    Constraint(#[from] ConstraintError),
    /// The matrix could not be built.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    /// The topology has no leaf that may be used.
    #[error(transparent)]
    Topology(#[from] TopologyError),
}
