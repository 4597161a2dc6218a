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
//!
//! They are a second text of algorithms that have descriptions. A reading of the descriptions
//! ([`crate::read::cost`]) cannot replace them: on 88 to 256 ranks it took 0.3 to 23 ms for each
//! algorithm and size of segments, and a choice tries dozens. For long messages in segments, it was
//! up to nine times too long: it runs the steps of a rank in their order, and a plan does not.

pub(crate) mod blocks;
pub(crate) mod input;
pub(crate) mod reductions;
pub(crate) mod trees;

pub use input::{CostInput, Size, sizes};
