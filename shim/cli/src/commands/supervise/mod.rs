//! `treepie supervise`: runs a job again that died, on the hosts that are left, from its newest
//! checkpoint.
//!
//! ```text
//! supervisor  the loop: an attempt, its facts, what follows
//! found       checkpoints on disk; whether an attempt stands still
//! words       the restart command as words
//! log         what happened, in plain words
//! ```
//!
//! `treepie_resilience::supervision` decides what an end means and what follows.

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
