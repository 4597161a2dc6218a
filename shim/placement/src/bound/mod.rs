//! Lower bounds of the cost of any placement.
//!
//! DistComm is a sum over the levels of the tree: the cut of a level, that is the affinity between
//! ranks in different nodes, times the distance that the level adds. Each level divides the ranks
//! into groups of given sizes. No placement costs less than the sum of the least cuts of all
//! levels:
//!
//! ```text
//! heaviest        a group has room for few partners only
//! isoperimetric   a group of a mesh or torus has a surface
//!   layers        size of the surface in three dimensions
//! flow            traffic of all ranks to all others crosses a cut: hypercubes, transposes
//! semidefinite    any pattern of up to some hundred ranks: a relaxation
//!   triangles     its inequalities between three ranks
//!   symmetry      smaller eigenvalue problems if a mesh can be reflected
//! ```

mod flow;
mod groups;
mod heaviest;
mod isoperimetric;
mod layers;
pub(crate) mod lower;
mod network;
mod semidefinite;
mod symmetry;
#[cfg(test)]
mod tests;
mod tree;
mod triangles;

pub use lower::lower_bound;
