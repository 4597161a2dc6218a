//! Algorithms that use clusters: between the leaders of clusters, then inside each.

pub mod aggregate;
pub mod allgather;
pub mod alltoall;
pub mod barrier;
pub mod between;
mod block_tree;
pub(crate) mod block_tree_shape;
pub mod broadcast;
pub mod direct;
pub mod grouped;
pub mod inside;
pub mod lanes;
pub mod multi_source;
pub mod reduce;
pub mod reduce_exchange;
pub mod reduce_scatter;
pub mod scan;
pub mod stage;
