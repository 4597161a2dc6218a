//! Traffic of a collective: the messages between pairs of ranks that a recorded collective causes.
//!
//! The messages that the collectives of an MPI library send cannot be observed from outside. A
//! profile therefore records the calls (a `Record`: operation, group, number of calls, amount), and
//! [`expand()`] derives the traffic by a [`Model`]: with the algorithm that the `Family` usually
//! chooses, with one that the caller names, or with the collective's logical messages. The result
//! is modelled and belongs to [`Layer::Collectives`](treepie_traffic::Layer::Collectives). The
//! messages of Treepie's own plans are known exactly: [`expand_as_run`].
//!
//! Both read the descriptions of [`algorithms`](treepie_collective::algorithms): the counts are
//! those of the steps that are run, checked and simulated. The traces that Open MPI's monitoring
//! component wrote are test vectors.

mod expand;
mod model;
mod neighbours;
mod sent;
#[cfg(test)]
mod tests;

pub use expand::{expand, expand_as_run};
pub use model::Model;
