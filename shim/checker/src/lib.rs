//! Proves that the plans of all ranks together do what MPI defines.
//!
//! The plans are run on symbols instead of data: every unit holds the expression
//! that it was computed by. Sends are synchronous, the case in which a deadlock
//! shows. That steps which may overlap in time do not touch the same units is
//! checked apart, so that one order of steps stands for all.
//!
//! Tests alone depend on this crate. Its own check every algorithm of `treepie-collective`, on all
//! small and on random large arrangements of ranks.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

mod contract;
mod expressions;
mod flaw;
mod machine;
#[cfg(test)]
mod mutants;
mod proof;
mod results;
#[cfg(test)]
mod tests;

pub use flaw::Flaw;
pub use proof::check;
