//! Errors of descriptions of topologies.

use thiserror::Error;

use crate::limits::{LEAF_LIMIT, LEVEL_LIMIT};
use treepie_base::Leaf;

/// Reason why a topology could not be made. Levels are counted from 1, below the root.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TopologyError {
    /// No level, no machine, or no leaf at all.
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
    /// A node that is no leaf has no children.
    #[error("level {level} has a node without children: every arity is at least 1")]
    ZeroArity {
        /// The level, counted from 1.
        level: usize,
    },
    /// More leaves than this program handles.
    #[error("the topology has more than {LEAF_LIMIT} leaves: check the arities")]
    TooManyLeaves,
    /// More levels than any machine has.
    #[error("the topology has {levels} levels: expected at most {LEVEL_LIMIT}")]
    TooManyLevels {
        /// Number of levels given.
        levels: usize,
    },
    /// A list has another length than what it describes.
    #[error("{found} {what} for {expected}: give one for each")]
    WrongCount {
        /// The listed items, in the plural.
        what: &'static str,
        /// The number given.
        found: usize,
        /// Their number to describe, and of what.
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
        /// The leaf that was given.
        leaf: Leaf,
        /// Number of leaves.
        leaves: usize,
    },
    /// A level name that no level has.
    #[error("no level is called \"{name}\": the levels are {known}")]
    NoSuchLevel {
        /// The name that was given.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A machine whose host is not in the network.
    #[error(
        "host {host} is not in the network, which has {known}: add it there or leave the network out"
    )]
    NotInNetwork {
        /// The host.
        host: String,
        /// Hosts that are.
        known: String,
    },
    /// A distance that is not finite, negative, or smaller than that of a deeper level.
    #[error(
        "distance {distance} of level {level} is wrong: expected a finite number, not negative, and not smaller than the distance one level deeper"
    )]
    BadDistance {
        /// The level, counted from 1.
        level: usize,
        /// The distance that was given.
        distance: f64,
    },
}
