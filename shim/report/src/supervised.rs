//! Summary of a supervised job.

use std::path::PathBuf;

use serde::Serialize;
use treepie_resilience::supervision::{End, Host, Progress, Reason};

/// An attempt to run a supervised job.
#[derive(Debug, Serialize)]
pub struct Attempt {
    /// From 1 on.
    pub number: usize,
    /// The command as the user wrote it, with the checkpoint in it.
    pub command: String,
    /// The hosts, where they are known, with the ranks that each takes.
    pub hosts: Vec<Host>,
    /// The checkpoint that it began from.
    pub from: Option<PathBuf>,
    /// The placement or profile that it was run with.
    pub placement: Option<PathBuf>,
    /// Its profile: whole, or what its ranks left.
    pub profile: Option<PathBuf>,
    /// Its length.
    pub seconds: f64,
    /// The launcher's exit status.
    pub status: u8,
    /// Its end.
    pub end: End,
    /// The same in words.
    pub words: String,
    /// Whether it left a new checkpoint.
    pub progress: Progress,
    /// Hosts that the next attempts are without.
    pub left_out: Vec<String>,
}

/// End of a supervised job.
#[derive(Debug, Serialize)]
pub struct Supervised {
    /// Whether all ranks reached `MPI_Finalize` in the last attempt.
    pub finished: bool,
    /// Reason for no further attempt, where it is not finished.
    pub reason: Option<Reason>,
    /// All in one sentence.
    pub words: String,
    /// Exit status of the command.
    pub status: u8,
    /// Time from the first attempt to the end.
    pub seconds: f64,
    /// The attempts in their order.
    pub attempts: Vec<Attempt>,
}
