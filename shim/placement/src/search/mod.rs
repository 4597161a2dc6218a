//! Search for placements: candidates from initial mapping and refinement, of which the cheapest is
//! chosen.
//!
//! ```text
//! problem      the flow common to all targets
//! tree         candidates on trees
//!   multilevel multilevel mapping
//! network      candidates on networks
//!   inside_nodes
//!              ranks of a node on its cores
//! ```

mod inside_nodes;
mod multilevel;
pub(crate) mod network;
pub(crate) mod problem;
pub(crate) mod tree;
