//! One function for each algorithm, which writes what one rank does.

mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod between;
mod direct;
mod gather;
mod grid_broadcast;
mod grid_reduce;
mod halving;
mod inside;
mod lanes;
mod matchings;
mod reduce_exchange;
mod reduce_scatter;
mod scan;
mod scan_exchange;
mod table;
mod trees;

pub(super) use between::{Between, Direction, Grouped, by_tail, costs};
pub(super) use direct::straight_of_allreduce;
pub(super) use scan_exchange::runs;
pub(super) use table::STRATEGIES;
pub(super) use trees::{Shape, round};
