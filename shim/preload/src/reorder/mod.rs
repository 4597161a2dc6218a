//! Communicators with a topology, reordered if the program allows it (`reorder = 1`): the graph's
//! weights are the matrix, the cores where the processes run are the tree, and the result of
//! TreeMatch is the new order of the ranks.
//!
//! Node `i` of the graph keeps the program's description; another process gets rank `i`, does its
//! work, and finds its neighbours there. This makes neighbourhood collectives cheaper. (MPI-4.1,
//! section 8.5: "free to remap to other processes".)
//!
//! ```text
//!   old communicator --split by new rank--> reordered one
//!        |                                      |  the native procedure, reorder = 0
//!        |  arguments of node i                 v
//!        +------ to the new rank i ------> communicator with the topology
//! ```

mod create;
mod edges;
mod graph;
mod order;
mod seats;
mod weights;

pub use create::{
    Places, begin, cart_create, dist_graph_create, dist_graph_create_adjacent, end, graph_create,
};
