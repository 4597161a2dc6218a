//! The native MPIs' own algorithms.
//!
//! ```text
//! (root)    decision tables: the algorithm of a collective by its size and its communicator's
//! knobs     variables that choose another algorithm while the job runs
//! han       Open MPI's two levels
//! traffic   the messages that collectives cause, by what native MPIs and plans do
//! tuning    measurements of these algorithms, rules made of them, and their files
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
