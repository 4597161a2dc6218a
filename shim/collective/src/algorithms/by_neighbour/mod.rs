//! Algorithms over the neighbours of a communicator's topology: blocks are sent to neighbours or
//! received from them.
//!
//! | block | where |
//! |---|---|
//! | sent | the input: one for all neighbours, or one for each, in their order |
//! | received | the output: one from each neighbour, in their order |
//!
//! The block of a missing neighbour (`MPI_PROC_NULL`) is empty. A rank knows the sizes of its own
//! blocks only, and no algorithm here needs more.

pub(crate) mod direct;
pub(crate) mod own;
pub(crate) mod relay;
