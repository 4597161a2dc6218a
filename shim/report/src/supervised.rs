//! Summary of a supervised job.

use std::path::PathBuf;

use serde::Serialize;
use treepie_resilience::supervision::{End, Host, Progress, Reason};

/// An attempt to run a supervised job.
#[derive(Debug, Serialize)]
pub struct Attempt {
    /// Its number, from 1.
    pub number: usize,
    /// The command as the user wrote it, with the checkpoint inserted.
    pub command: String,
    /// The hosts, if known, with the number of ranks of each.
    pub hosts: Vec<Host>,
    /// The checkpoint from which it started.
    pub from: Option<PathBuf>,
    /// The placement or profile used for it.
    pub placement: Option<PathBuf>,
    /// Its profile: complete, or from the partial profiles of its ranks.
    pub profile: Option<PathBuf>,
    /// Its length.
    pub seconds: f64,
    /// The launcher's exit status.
    pub status: u8,
    /// Its end.
    pub end: End,
    /// Its end in words.
    pub words: String,
    /// Its progress: whether it left a new checkpoint.
    pub progress: Progress,
    /// Hosts that further attempts leave out.
    pub left_out: Vec<String>,
}

/// End of a supervised job.
#[derive(Debug, Serialize)]
pub struct Supervised {
    /// True if all ranks reached `MPI_Finalize` in the last attempt.
    pub finished: bool,
    /// Reason for no further attempt, if it is not finished.
    pub reason: Option<Reason>,
    /// Summary in one sentence.
    pub words: String,
    /// Exit status of the command.
    pub status: u8,
    /// Time from the first attempt to the end.
    pub seconds: f64,
    /// The attempts in order.
    pub attempts: Vec<Attempt>,
}
