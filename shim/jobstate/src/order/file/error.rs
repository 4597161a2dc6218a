//! Why an order can't be used.

use std::path::PathBuf;

use thiserror::Error;

use crate::order::entry::Damaged;
use treepie_base::{FileError, Rank};

/// An order that can't be used.
#[derive(Debug, Error)]
pub enum OrderError {
    /// The file can't be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Something else.
    #[error("{path}: is no order of receives; give what `treepie profile --order` has written")]
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
        /// Where.
        at: usize,
        /// Its length.
        length: usize,
    },
    /// A log that is no log.
    #[error("{path}: rank {rank}: {problem}; record the run again")]
    Log {
        /// The file.
        path: PathBuf,
        /// The rank.
        rank: Rank,
        /// What is wrong.
        problem: Damaged,
    },
    /// Logs of several runs.
    #[error("{path}: holds logs of different runs; remove those that are older")]
    OtherRun {
        /// The directory.
        path: PathBuf,
    },
    /// A job of other size.
    #[error(
        "{path}: is the order of {recorded} ranks, and the job has {ranks}; start it with {recorded}"
    )]
    OtherRanks {
        /// The file.
        path: PathBuf,
        /// Its ranks.
        recorded: usize,
        /// Those of the job.
        ranks: usize,
    },
    /// Another program.
    #[error(
        "{path}: is the order of a run of {recorded}, and this is {program}; start the same program"
    )]
    OtherProgram {
        /// The file.
        path: PathBuf,
        /// What was recorded.
        recorded: String,
        /// What runs.
        program: String,
    },
    /// Another build of the program, under an MPI of the same family.
    #[error(
        "{path}: is the order of another build of {program} ({recorded}, and this is {build}); where \
         the source has changed, the run may take another way"
    )]
    OtherBuild {
        /// The file.
        path: PathBuf,
        /// The program.
        program: String,
        /// The build that was recorded.
        recorded: String,
        /// The one that runs.
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
