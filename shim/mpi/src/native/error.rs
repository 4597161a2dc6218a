//! Failures of the native MPI.

use thiserror::Error;

use crate::c_int;

/// Why the native MPI can't be used.
#[derive(Debug, Error)]
pub enum NativeError {
    /// No known family's symbols are in the process.
    #[error(
        "this MPI is neither Open MPI, nor of the MPICH family, nor of the MPI-5.0 standard ABI; \
         the job runs as it would without treepie"
    )]
    UnknownFamily,
    /// A function that every MPI has is missing.
    #[error("the MPI library has no {0}; the job runs as it would without treepie")]
    Missing(&'static str),
    /// A call of ours failed.
    #[error(transparent)]
    Failed(#[from] Failed),
    /// A message of ours did not get through in time.
    #[error("process {partner} did not answer process {rank} for {seconds} s")]
    Late {
        /// This process.
        rank: usize,
        /// The other one.
        partner: usize,
        /// The time that it was given.
        seconds: u64,
    },
}

impl NativeError {
    /// Whether this rank is to say it. Those that wait for a process wait for each other, too:
    /// process 0 says it, or the first that waits for process 0.
    pub fn is_told_here(&self) -> bool {
        match self {
            NativeError::Late { rank, partner, .. } => *rank == 0 || (*rank, *partner) == (1, 0),
            _ => true,
        }
    }
}

/// A call of a native procedure that failed.
#[derive(Debug, Error)]
#[error("{call} returned error {code}")]
pub struct Failed {
    /// The procedure.
    pub call: &'static str,
    /// Error code that it returned.
    pub code: c_int,
}

impl From<Failed> for c_int {
    fn from(failed: Failed) -> c_int {
        failed.code
    }
}
