//! Proves that the plans of all ranks together do what MPI defines.
//!
//! The plans are run on symbols instead of data: every unit holds the expression
//! that it was computed by. Sends are synchronous, the case in which a deadlock
//! shows. That steps which may overlap in time do not touch the same units is
//! checked apart, so that one order of steps stands for all.

mod contract;
mod expressions;
pub(crate) mod flaw;
mod machine;
#[cfg(test)]
mod mutants;
pub(crate) mod proof;
mod results;

pub use flaw::Flaw;
pub use proof::check;
