//! `treepie doctor`: what is installed, what would be preloaded into a job, expected failures, and
//! remedies.

mod bundle;
mod finding;
mod installed;
mod job;
mod mpis;
mod run;

pub use run::{Arguments, run};
