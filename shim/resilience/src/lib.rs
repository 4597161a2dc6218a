//! Failures of jobs, for the command alone: checkpoints in simulation, placements that contain
//! failures, and runs that are started again.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

pub mod checkpoint;
pub mod containment;
pub mod supervision;
