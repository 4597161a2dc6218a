//! Coarsening: smaller graphs of ranks, and smaller trees of hardware.
//!
//! ```text
//! graph      both directions of the matrix, in compressed rows
//! matching   vertices joined along heavy edges
//! block      some levels of a tree with up to 64 cells
//! halves     a tree of the nodes on a network, cut where the network is widest
//! ```

pub(crate) mod block;
pub(crate) mod graph;
pub(crate) mod halves;
pub(crate) mod matching;
