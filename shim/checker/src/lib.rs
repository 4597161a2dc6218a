//! Proves that the plans of all ranks together implement the collectives that MPI defines.
//!
//! Plans run on symbols instead of data: every unit holds the expression that computed it. Sends
//! are synchronous, so that deadlocks show. A separate check ensures that steps which may overlap
//! in time do not access the same units, so that one order of steps represents all.
//!
//! Only tests depend on this crate. Its own tests check every algorithm of `treepie-collective`, on
//! all small and on random large arrangements of ranks.
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
