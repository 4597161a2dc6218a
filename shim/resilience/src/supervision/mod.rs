//! Restarts of a failed job: the end of an attempt, and the decision after it.
//!
//! ```text
//! launchers    messages of launchers about lost ranks and hosts
//! end          end of an attempt, by facts and not by its exit status alone
//! decide       done, restart, or give up: limits against loops
//! hosts        the hosts of an allocation, without those left out
//! checkpoints  the file from which a restart begins, and the progress
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
pub use end::{End, Facts, PartialProfileCount, Statuses};
pub use hosts::{Host, Out, Roster, TooFew};
