//! What a collective sends: the messages between pairs of ranks that a recorded
//! collective causes, by a model of the algorithm that did it.
//!
//! An MPI library does not tell from outside which messages its collectives
//! send. A profile therefore records what was asked for (a [`Record`]: which
//! operation, in which group, how often, how much), and [`expand()`] derives the
//! traffic by a [`Model`]: with the algorithm that the [`Host`] usually chooses, with
//! one that the caller names, or as the collective is meant. The result is a model
//! and belongs to [`Layer::Collectives`](crate::affinity::Layer::Collectives).
//!
//! One file holds one family of patterns. All patterns work on the bytes of all
//! calls together, so that no byte is lost to rounding:
//!
//! | file | pattern | serves |
//! |---|---|---|
//! | `tree` | star, chain, binomial and binary trees, from and to a root | broadcast, reduce, gather, scatter |
//! | `doubling` | exchange at distances 1, 2, 4, ... | barrier, allreduce, allgather, scan |
//! | `halving` | halves at each exchange | reduce-scatter, long reductions |
//! | `ring` | everything to the right neighbour | long allgather, allreduce, reduce-scatter |
//! | `bruck` | shifts by 1, 2, 4, ... | barrier, short allgather and alltoall |
//! | `neighbours` | both neighbours in turn | allgather |
//! | `pairwise` | each rank to each other | alltoall, long reduce-scatter |
//!
//! Sources: Thakur, Rabenseifner, Gropp, "Optimization of Collective
//! Communication Operations in MPICH" (2005), for all patterns but the ring of
//! reductions (Patarasuk, Yuan 2009); the traces that Open MPI's monitoring
//! component wrote are test vectors in `expand`.

pub(in crate::collective) mod algorithm;
mod blocks;
mod bruck;
mod doubling;
mod expand;
mod halving;
mod logical;
mod messages;
pub(in crate::collective) mod model;
mod neighbours;
mod pairwise;
mod ring;
mod tree;

pub use algorithm::Algorithm;
pub use expand::expand;
pub use model::Model;
