//! Algorithms of the native MPIs.
//!
//! ```text
//! (root)    decision tables: the algorithm of a collective by its size and its communicator's
//! knobs     variables that select another algorithm while the job runs
//! han       Open MPI's two levels
//! traffic   the messages that collectives cause, with native MPIs and with plans
//! tuning    measurements of these algorithms, rules made from them, and their files
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

mod disjoint;
mod family;
mod han;
pub mod knobs;
mod mpich;
mod open_mpi;
mod selector;
mod started;
pub mod traffic;
pub mod tuning;

pub use family::{Family, NativeAlgorithm};
pub use han::BetweenHosts;
pub use selector::{Criteria, Selector};
