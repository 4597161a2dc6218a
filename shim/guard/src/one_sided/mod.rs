//! One-sided communication in small pieces: updates of one target that are held back and joined.
//!
//! The gain is that of the report on remote memory access (R. Prou, 2015, HAL hal-01252752, chapter
//! 2): one message of all bytes is cheaper than one for each piece, as long as pieces are small.

mod batch;
pub mod cost;

pub use batch::{Batch, Joined, Limits};
