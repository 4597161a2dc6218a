//! Restarts of a failed job: the end of an attempt, and the decision after it.
//!
//! ```text
//! launchers    what launchers print of ranks and hosts that were lost
//! end          how an attempt ended, by facts and not by its exit status alone
//! decide       done, restart, or give up: limits against loops
//! hosts        the hosts of an allocation, without those that are left out
//! checkpoints  the file that a restart begins from, and whether there was progress
//! ```
//!
//! This module does not start, wait or read; the command does that. A rank that dies ends its job
//! under every launcher (`MPI_Abort`, clean-up); so an attempt is a whole job, and a restart is a
//! new one on the remaining hosts.

pub mod checkpoints;
mod decide;
mod end;
mod hosts;
pub mod launchers;
#[cfg(test)]
mod tests;

pub use decide::{Decision, Ended, History, Limits, Progress, Reason};
pub use end::{End, Facts, Left, Statuses};
pub use hosts::{Host, Out, Roster, TooFew};
