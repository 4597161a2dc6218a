//! Failures of jobs, for the command only: checkpoints in simulation, placements that contain
//! failures, and restarted runs.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

pub mod checkpoint;
pub mod containment;
pub mod supervision;
