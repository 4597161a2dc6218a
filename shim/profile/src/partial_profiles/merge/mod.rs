//! Partial profiles of ranks become one profile.

mod counts;
pub(super) mod merger;
mod open_phase;
#[cfg(test)]
mod tests;
mod windows;

pub use merger::{Merged, Merger, PartialProfileError};
