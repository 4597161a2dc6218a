//! The choice of a plan: the quickest of all algorithms and the native collective, by their
//! estimated times.
//!
//! ```text
//!   operation, bytes, root --> every algorithm's time, with its best size of segments
//!                              the native collective's, by the algorithm it usually takes
//!                          --> the least: an algorithm and a size, or the native one
//! ```
//!
//! All ranks of a communicator come to the same choice when they have the same platform:
//! nothing else is looked at. Without a platform, rules take the place of times.
//!
//! [`predict`] simulates what the choice only estimates; [`measured`] reads times to compare with.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

mod candidate;
mod choice;
mod chooser;
mod class;
mod foresee;
mod form;
pub mod measured;
mod native;
mod policy;
pub mod predict;
mod prices;
mod rules;
mod sizes;
mod started;
#[cfg(test)]
mod tests;
pub mod uneven;
mod unknown;

pub use candidate::{Candidate, Challenger};
pub use choice::Choice;
pub use chooser::Chooser;
pub use class::class_bytes;
pub use foresee::are_bytes_known;
pub use form::{Form, Progress, direct};
