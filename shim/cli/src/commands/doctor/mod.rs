//! `treepie doctor`: what is installed, what would be preloaded into a job,
//! what would fail, and the remedy.

mod bundle;
mod finding;
mod installed;
mod job;
mod mpis;
mod run;

pub use run::{Arguments, run};
