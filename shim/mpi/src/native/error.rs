//! Errors of the native MPI.

use thiserror::Error;

use crate::c_int;

/// Reason why the native MPI cannot be used.
#[derive(Debug, Error)]
pub enum NativeError {
    /// The process has no symbols of a known family.
    #[error(
        "this MPI is neither Open MPI, nor of the MPICH family, nor of the MPI-5.0 standard ABI; \
         the job runs as it would without treepie"
    )]
    UnknownFamily,
    /// A function that every MPI has is missing.
    #[error("the MPI library has no {0}; the job runs as it would without treepie")]
    Missing(&'static str),
    /// An internal call failed.
    #[error(transparent)]
    Failed(#[from] Failed),
    /// An internal message did not arrive in time.
    #[error("process {partner} did not answer process {rank} for {seconds} s")]
    Late {
        /// Rank of this process.
        rank: usize,
        /// Rank of the partner.
        partner: usize,
        /// Time limit in seconds.
        seconds: u64,
    },
}

impl NativeError {
    /// True if this rank is to report it. Ranks that wait for a process wait for each other, too:
    /// process 0 reports it, or the first that waits for process 0.
    pub fn is_reported_here(&self) -> bool {
        match self {
            NativeError::Late { rank, partner, .. } => *rank == 0 || (*rank, *partner) == (1, 0),
            _ => true,
        }
    }
}

/// Failed call of a native procedure.
#[derive(Debug, Error)]
#[error("{call} returned error {code}")]
pub struct Failed {
    /// Name of the procedure.
    pub call: &'static str,
    /// Error code that it returned.
    pub code: c_int,
}

impl From<Failed> for c_int {
    fn from(failed: Failed) -> c_int {
        failed.code
    }
}
