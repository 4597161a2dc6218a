//! The pure half of Treepie: matrices, trees, placements and files.
//!
//! Nothing in this crate knows MPI, reads the environment, keeps global state
//! or contains unsafe code. Folders import downwards only: `files` and
//! `placement` use `topology` and `affinity`, never the other way round.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

pub mod affinity;
pub mod files;
pub mod placement;
pub mod platform;
pub mod schedule;
pub mod topology;
