//! Reasons why a request is not carried out.

use std::path::Path;

use thiserror::Error;
use treepie_base::FileError;
use treepie_base::permutation::PermutationError;
use treepie_jobstate::order::file::OrderError;
use treepie_placement::allocation::AllocationError;
use treepie_profile::settings::SettingsError;
use treepie_traffic::MatrixError;

/// Reason why a request of the user is not carried out.
#[derive(Debug, Error)]
pub enum RequestError {
    /// Wrong settings.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A file that cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A permutation that does not fit this job.
    #[error("TREEPIE_PERMUTATION: {0}")]
    Permutation(#[from] PermutationError),
    /// A profile with invalid numbers.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    /// A placement that is not valid for the job's hosts.
    #[error(
        "{path}: {error}; replay its profile instead, which is placed where the job runs, or map it \
         again for these hosts"
    )]
    Allocation {
        /// The file.
        path: String,
        /// Reason.
        error: AllocationError,
    },
    /// Clusters that do not match the job's hosts.
    #[error("{name}: {error}")]
    Clusters {
        /// Platform file or setting.
        name: String,
        /// Reason.
        error: AllocationError,
    },
    /// A program whose ranks cannot be permuted.
    #[error(
        "the program uses Open MPI 6's mpi_f08, which looks up ranks behind this library, so that \
         they can't be permuted; bind them instead (--apply launch)"
    )]
    LooksUpRanks,
    /// A program with a library that numbers processes itself.
    #[error(
        "the program uses {0}, whose numbers of processes would part from the ranks of MPI, so \
         that these can't be permuted; let processes change places instead (--apply bind, --apply \
         launch)"
    )]
    NumbersProcesses(&'static str),
    /// An order that does not fit.
    #[error(transparent)]
    Order(#[from] OrderError),
}

impl RequestError {
    /// Returns the error for the file at `path`, which is not valid for this job.
    pub fn allocation(path: &Path, error: AllocationError) -> Self {
        RequestError::Allocation {
            path: path.display().to_string(),
            error,
        }
    }
}
