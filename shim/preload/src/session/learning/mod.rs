//! `mode: auto`: acts on the results of earlier runs, and keeps those of this run. Process 0 reads
//! and writes; all ranks adopt its decision.

mod actions;
mod application;
mod history;
mod lesson;

pub use history::Learning;
pub use lesson::{begin, elapsed, end, keep_platform};
