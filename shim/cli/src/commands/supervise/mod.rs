//! `treepie supervise`: runs a job that died again, on the remaining hosts, from its newest
//! checkpoint.
//!
//! ```text
//! job         the job, checked as far as possible before it starts
//! supervisor  the loop: an attempt, its facts, the decision
//! pages       pages of the ranks of an attempt
//! facts       facts of an attempt that has ended
//! found       checkpoints on disk; detection of a stalled attempt
//! words       the restart command as words
//! described   commands, hosts and ends, in words
//! log         the log, in plain words
//! ```
//!
//! `treepie_resilience::supervision` classifies the end of an attempt and decides on the next step.

mod arguments;
mod described;
mod facts;
mod found;
mod job;
mod log;
mod pages;
mod run;
mod supervisor;
mod words;

pub use arguments::Arguments;
pub use run::run;
