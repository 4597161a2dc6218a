//! `treepie prove`: a test of whether a placement, or other collectives, make a job faster; by runs
//! in pairs inside one allocation.
//!
//! ```text
//! arm      one configuration of the job: the plain one, or a replay
//! series   warm-up, pairs in random order, failures, output
//! answer   terminal, JSON, picture, page
//! ```

mod answer;
mod arm;
mod run;
mod series;

pub use run::{Arguments, run};
