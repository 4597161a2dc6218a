//! Limits of the sizes of topologies.

/// Maximum number of leaves of a topology.
pub const LEAF_LIMIT: usize = 1 << 24;

/// Maximum number of levels below the root of a topology.
pub(crate) const LEVEL_LIMIT: usize = 64;
