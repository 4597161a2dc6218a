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

pub mod algorithms;
pub mod choose;
mod clusters;
#[cfg(test)]
mod grids;
pub mod native;
mod network;
mod operation;
pub mod plan;
mod problem;
pub mod read;
pub mod record;
#[cfg(test)]
pub(crate) mod strategies;
#[cfg(test)]
mod tests;

pub use algorithms::{Strategy, Uniform};
pub use choose::{Choice, Chooser, Considered};
pub use clusters::Clusters;
pub use native::Host;
pub use network::{Distance, Network};
pub use operation::Operation;
pub use plan::{Action, Builder, Flow, LARGEST_MESSAGE, Plan, Range, Space, Step, Waits};
pub use problem::{Amount, Problem, share};
pub use read::bound::bound;
pub use read::traffic::{Algorithm, Model, expand};
pub use record::{Record, RecordError, Volume, size_class};
