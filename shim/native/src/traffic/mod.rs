//! What a collective sends: the messages between pairs of ranks that a recorded collective causes.
//!
//! An MPI library does not tell from outside which messages its collectives
//! send. A profile therefore records what was asked for (a `Record`: which
//! operation, in which group, how often, how much), and [`expand()`] derives the
//! traffic by a [`Model`]: with the algorithm that the `Family` usually chooses, with
//! one that the caller names, or as the collective is meant. The result is a model
//! and belongs to [`Layer::Collectives`](treepie_traffic::Layer::Collectives). What a plan of
//! Treepie's own sent is known exactly: [`expand_as_run`].
//!
//! Both read the descriptions of [`algorithms`](treepie_collective::algorithms): what would be run,
//! checked and simulated is what is counted. The traces that Open MPI's monitoring component wrote
//! are test vectors.

mod expand;
mod model;
mod neighbours;
mod sent;
#[cfg(test)]
mod tests;

pub use expand::{expand, expand_as_run};
pub use model::Model;
