//! The engine behind the best placements.
//!
//! ```text
//! graph          both directions of the matrix, in compressed rows
//! slots          the leaves that are to be filled
//!
//! grid, tiling   ranks that form a mesh, a torus or a table: equal boxes
//! boxes          the same where equal boxes do not fit
//! multisection   anything: block by block down the tree
//!   block        some levels of the tree with up to 64 cells
//!   bisect       their first division, by coarsening (coarsen) and moves (heap)
//!   anneal       moves and swaps between the cells (mapping)
//! exhaustive     a few ranks: all placements
//! refine         swaps anywhere in the tree, the last step of all
//! ```

mod anneal;
mod bisect;
mod block;
mod candidates;
mod coarsen;
mod coordinate_bisection;
mod effort;
mod exhaustive;
mod graph;
mod grid;
mod heap;
mod mapping;
mod multisection;
mod refine;
mod slots;
#[cfg(test)]
mod tests;
mod tiling;

pub use candidates::Engine;
pub use effort::Effort;
pub(super) use graph::Graph;
pub(super) use grid::Grid;
