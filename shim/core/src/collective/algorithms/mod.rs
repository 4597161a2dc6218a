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
pub(super) mod strategy;
mod table;
mod trees;

pub(in crate::collective) use between::{Between, Direction, Grouped, by_tail, costs};
pub(in crate::collective) use direct::straight_of_allreduce;
pub(in crate::collective) use scan_exchange::runs;
pub use strategy::{Strategy, Uniform};
pub(in crate::collective) use table::STRATEGIES;
pub(in crate::collective) use trees::{Shape, round};
