//! Choice of a plan: the fastest of all algorithms and the native collective, by their estimated
//! times.
//!
//! ```text
//!   operation, bytes, root --> every algorithm's time, with its best size of segments
//!                              the native collective's, by the algorithm it usually takes
//!                          --> the least: an algorithm and a size, or the native one
//! ```
//!
//! All ranks of a communicator make the same choice if they have the same platform, as it depends
//! on nothing else. Without a platform, rules replace times.
//!
//! [`predict`] simulates the times that the choice only estimates; [`measured`] reads times for
//! comparison.
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
