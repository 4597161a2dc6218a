//! Algorithms that use ranks only, independently of clusters: those of MPI libraries among them;
//! and exchanges whose radices, orders or messages follow clusters (`grid-levels`, `grid-spread`,
//! `grid-node-aware`).

pub mod at_once;
pub(crate) mod bine;
pub mod bruck;
pub(crate) mod circulant;
pub(crate) mod circulant_blocks;
pub mod composed;
pub mod doubling;
mod fold;
pub mod halving;
pub(crate) mod held;
pub mod hypercube;
pub mod linear;
pub mod matchings;
pub mod neighbours;
pub(crate) mod node_aware;
pub mod pairwise;
pub(crate) mod radices;
pub mod ring;
pub(crate) mod rounds;
pub mod scan;
pub mod scatter;
pub mod scheduled;
pub(crate) mod sparbit;
pub(crate) mod stages;
pub mod tree;
pub mod uniform;
pub(crate) mod windowed;
