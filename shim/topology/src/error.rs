//! Errors of descriptions of topologies.

use thiserror::Error;

use crate::limits::{LEAF_LIMIT, LEVEL_LIMIT};
use treepie_base::Leaf;

/// Reason why a topology could not be built. Levels are counted from 1, below the root.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TopologyError {
    /// There is no level, no machine, or no leaf at all.
    #[error("the topology is empty: give at least one level, as in \"4:2:2\"")]
    Empty,
    /// A part of an arity string is not a number.
    #[error(
        "level {level} of topology \"{text}\" is \"{part}\": expected the number of children of every node of that level, as in \"4:2:2\""
    )]
    NotANumber {
        /// The whole string.
        text: String,
        /// The part that is not a number.
        part: String,
        /// The part, counted from 1.
        level: usize,
    },
    /// A node above the leaves has no children.
    #[error("level {level} has a node without children: every arity is at least 1")]
    ZeroArity {
        /// The level, counted from 1.
        level: usize,
    },
    /// More leaves than supported.
    #[error("the topology has more than {LEAF_LIMIT} leaves: check the arities")]
    TooManyLeaves,
    /// More levels than any machine has.
    #[error("the topology has {levels} levels: expected at most {LEVEL_LIMIT}")]
    TooManyLevels {
        /// Number of levels given.
        levels: usize,
    },
    /// A list has another length than the number of items that it describes.
    #[error("{found} {what} for {expected}: give one for each")]
    WrongCount {
        /// The listed items, in the plural.
        what: &'static str,
        /// Actual length of the list.
        found: usize,
        /// Expected length, and the described items.
        expected: String,
    },
    /// Two leaves of one machine have the same physical number.
    #[error(
        "leaves {first} and {second} both have physical number {os_index}: numbers may only repeat on different machines"
    )]
    NumberTwice {
        /// The number.
        os_index: usize,
        /// A leaf that has it.
        first: Leaf,
        /// Another leaf that has it.
        second: Leaf,
    },
    /// A leaf that does not exist.
    #[error("leaf {leaf} is outside the topology: its {leaves} leaves count from 0")]
    NoSuchLeaf {
        /// The given leaf.
        leaf: Leaf,
        /// Number of leaves.
        leaves: usize,
    },
    /// No level has the given name.
    #[error("no level is called \"{name}\": the levels are {known}")]
    NoSuchLevel {
        /// The given name.
        name: String,
        /// The existing names.
        known: String,
    },
    /// A machine whose host is not in the network.
    #[error(
        "host {host} is not in the network, which has {known}: add it there or leave the network out"
    )]
    NotInNetwork {
        /// The host.
        host: String,
        /// Hosts of the network.
        known: String,
    },
    /// A distance is not finite, is negative, or is smaller than that of a deeper level.
    #[error(
        "distance {distance} of level {level} is wrong: expected a finite number, not negative, and not smaller than the distance one level deeper"
    )]
    BadDistance {
        /// The level, counted from 1.
        level: usize,
        /// The given distance.
        distance: f64,
    },
}
