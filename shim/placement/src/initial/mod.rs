//! Initial mappings.
//!
//! ```text
//! baselines        without a matrix: packed, round-robin
//! exhaustive       a few ranks: all placements
//! grid, tiling     ranks that form a mesh, a torus or a table: equal boxes
//! coordinate_bisection
//!                  boxes if equal ones do not fit
//! multisection     any pattern: block by block down a tree
//!   bisect         the first division of a block
//! fold, hilbert    grids of ranks onto grids of nodes: by Gray codes, along Hilbert curves
//! ```

pub(crate) mod baselines;
pub(crate) mod bisect;
pub(crate) mod coordinate_bisection;
pub(crate) mod exhaustive;
pub(crate) mod fold;
pub(crate) mod grid;
pub(crate) mod hilbert;
pub(crate) mod multisection;
#[cfg(test)]
mod tests;
pub(crate) mod tiling;
