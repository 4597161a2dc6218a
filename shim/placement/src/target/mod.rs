//! Targets of a placement: the slots of a tree, or of nodes on a network.
//!
//! ```text
//! cells, links     the interface of a target for a search
//! tree_cells, tree_links, slots
//!                  trees, whose distances follow from the level of the common ancestor
//! network          ranks and slots on the nodes of a job; their cells
//! network_links    their links by the stated routing
//! nodes            positions of the nodes
//! distances, near  distances from tables or coordinates; near nodes
//! occupancy        ranks on slots
//! ```

pub(crate) mod cells;
pub(crate) mod distances;
pub(crate) mod links;
pub(crate) mod near;
pub(crate) mod network;
pub(crate) mod network_links;
pub(crate) mod nodes;
pub(crate) mod occupancy;
pub(crate) mod slots;
pub(crate) mod tree_cells;
pub(crate) mod tree_links;
