//! Collectives as plans: what each rank sends, receives, reduces and copies.
//!
//! ```text
//!   problem --strategy's generator, one rank at a time--> plan --> checked
//!                                                              --> simulated
//!                                                              --> exported
//!                                                              --> executed
//! ```
//!
//! A generator writes one rank's steps in the order in which a simple program
//! would do them. [`Builder`] finds which of them must wait for each other, so
//! that everything else overlaps: segments of a message flow through a rank
//! while the rest is on its way. Generators know nothing of MPI, and who runs a
//! plan knows nothing of trees.

mod bound;
mod builder;
pub mod check;
pub mod choose;
mod clusters;
mod estimate;
pub mod export;
mod generators;
#[cfg(test)]
mod grids;
mod hazards;
mod network;
pub mod plan;
mod problem;
pub mod simulate;
mod strategy;
#[cfg(test)]
mod tests;
mod waits;

pub use bound::bound;
pub use builder::{Builder, Flow, LARGEST_MESSAGE};
pub use choose::{Choice, Chooser, Considered};
pub use clusters::Clusters;
pub use network::{Distance, Network};
pub use plan::{Action, Plan, Range, Space, Step};
pub use problem::{Amount, Problem, share};
pub use strategy::{Strategy, Uniform};
pub use waits::Waits;
