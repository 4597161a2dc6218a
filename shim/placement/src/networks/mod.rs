//! Placement onto networks that are no trees.
//!
//! ```text
//! nodes       the nodes of a job on a network
//! measures    bytes times links, loads of links, floors, before and after
//! field       vertices, slots and nodes: what all searches work on
//! distances   distances between nodes, as a table or from coordinates
//! near        nodes that are near to each node
//!
//! halves      a tree of the nodes, cut where the network is widest: multisection runs on it
//! fold        grids of ranks onto grids of nodes, by Gray codes
//! curves      ranks and nodes along Hilbert curves
//! anneal      swaps with true distances, from hot to cold; then the last descent
//! schedule    how long and how hot
//! relieve     swaps that lower the load of the most loaded links
//! exhaustive  a few ranks: all placements
//! inside      the cores of every node, by the strategies for trees
//! bound       costs that no placement is below
//! ```
//!
//! These are the two stages of the thesis (algorithm 5: the network first, then TreeMatch inside
//! every node), and the first of them on single ranks, so that a node's ranks are not fixed before
//! distances are known.

mod anneal;
mod bound;
mod curves;
mod distances;
mod exhaustive;
mod field;
mod fold;
mod halves;
mod inside;
mod measures;
mod near;
mod nodes;
mod place;
mod relieve;
mod schedule;

pub use bound::lower_bound;
pub use measures::{Measures, hop_bytes, link_traffic};
pub use nodes::NetworkNodes;
pub use place::place_on_network;
