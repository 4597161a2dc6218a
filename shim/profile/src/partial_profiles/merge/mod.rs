//! Merging of the partial profiles of ranks into one profile.

mod counts;
pub(super) mod merger;
mod open_phase;
#[cfg(test)]
mod tests;
mod windows;

pub use merger::{Merged, Merger, PartialProfileError};
