//! Reason why an order cannot be used.

use std::path::PathBuf;

use thiserror::Error;

use crate::order::entry::Damaged;
use treepie_base::{FileError, Rank};

/// Reason why an order cannot be used.
#[derive(Debug, Error)]
pub enum OrderError {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not an order.
    #[error(
        "{path}: is not a recorded order; give the directory that `treepie profile --order` wrote"
    )]
    Strange {
        /// The file.
        path: PathBuf,
    },
    /// It was cut off, or changed.
    #[error(
        "{path}: is damaged at byte {at} of {length}; record the run again, or copy the file anew"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Offset of the damage in bytes.
        at: usize,
        /// Length of the file in bytes.
        length: usize,
    },
    /// An invalid log.
    #[error("{path}: rank {rank}: {problem}; record the run again")]
    Log {
        /// The file.
        path: PathBuf,
        /// The rank.
        rank: Rank,
        /// Error in the log.
        problem: Damaged,
    },
    /// Logs of several runs.
    #[error("{path}: holds logs of different runs; remove those that are older")]
    OtherRun {
        /// The directory.
        path: PathBuf,
    },
    /// The job has another number of ranks.
    #[error(
        "{path}: is the order of {recorded} ranks, and the job has {ranks}; start it with {recorded}"
    )]
    OtherRanks {
        /// The file.
        path: PathBuf,
        /// Number of ranks of the order.
        recorded: usize,
        /// Number of ranks of the job.
        ranks: usize,
    },
    /// Another program.
    #[error(
        "{path}: is the order of a run of {recorded}, and this is {program}; start the same program"
    )]
    OtherProgram {
        /// The file.
        path: PathBuf,
        /// Recorded program.
        recorded: String,
        /// Program of the job.
        program: String,
    },
    /// Another build of the program, for an MPI of the same family.
    #[error(
        "{path}: is the order of another build of {program} ({recorded}, and this is {build}); where \
         the source has changed, the run may take another way"
    )]
    OtherBuild {
        /// The file.
        path: PathBuf,
        /// Name of the program.
        program: String,
        /// Recorded build.
        recorded: String,
        /// Build of the job's program.
        build: String,
    },
    /// Several threads received.
    #[error(
        "{path}: more than one thread of rank {rank} received; such a run can't be replayed: run it \
         with one thread that receives"
    )]
    Threads {
        /// The file.
        path: PathBuf,
        /// The rank.
        rank: Rank,
    },
}
