//! Algorithms over the neighbours of a communicator's topology: of blocks that go to neighbours, or
//! come from them.
//!
//! | block | where |
//! |---|---|
//! | sent | the input: one for all neighbours, or one for each, in their order |
//! | received | the output: one from each neighbour, in their order |
//!
//! Where a neighbour is missing (`MPI_PROC_NULL`) its block is empty. A rank knows the sizes of its
//! own blocks alone, and no algorithm here needs more.

pub(crate) mod direct;
pub(crate) mod own;
pub(crate) mod relay;
