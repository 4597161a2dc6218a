//! Estimated times of algorithms, from the load of each link. A choice among all of them takes tens
//! of microseconds; with the simulator, which follows every message, milliseconds to seconds.
//!
//! ```text
//!   time = the first segment's path to the last rank
//!        + (segments - 1) * the time of one on the busiest link of the path
//! ```
//!
//! This is the pipeline of thesis table 6.2 with any tree in place of the chain, and any link that
//! several messages share in place of `g`.

pub(crate) mod blocks;
pub(crate) mod input;
pub(crate) mod reductions;
pub(crate) mod trees;

pub use input::{CostInput, Size, sizes};
