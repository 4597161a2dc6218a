//! Limits of the sizes of topologies.

/// A topology has at most this many leaves.
pub const LEAF_LIMIT: usize = 1 << 24;

/// A topology has at most this many levels below the root.
pub(crate) const LEVEL_LIMIT: usize = 64;
