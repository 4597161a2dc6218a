//! Reasons why a request is not carried out.

use std::path::Path;

use thiserror::Error;
use treepie_base::FileError;
use treepie_base::permutation::PermutationError;
use treepie_jobstate::order::file::OrderError;
use treepie_placement::allocation::AllocationError;
use treepie_profile::settings::SettingsError;
use treepie_traffic::MatrixError;

/// Why what the user asked for is not done.
#[derive(Debug, Error)]
pub enum RequestError {
    /// Wrong settings.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A file that cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A permutation that is none for this job.
    #[error("TREEPIE_PERMUTATION: {0}")]
    Permutation(#[from] PermutationError),
    /// A profile with numbers that cannot be.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    /// A placement that does not hold where the job runs.
    #[error(
        "{path}: {error}; replay its profile instead, which is placed where the job runs, or map it \
         again for these hosts"
    )]
    Allocation {
        /// The file.
        path: String,
        /// Why.
        error: AllocationError,
    },
    /// Clusters that are not those of the job.
    #[error("{name}: {error}")]
    Clusters {
        /// The platform file or the setting.
        name: String,
        /// Why.
        error: AllocationError,
    },
    /// A program whose ranks can't be permuted.
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
    /// The file at `path` does not hold for this job.
    pub fn allocation(path: &Path, error: AllocationError) -> Self {
        RequestError::Allocation {
            path: path.display().to_string(),
            error,
        }
    }
}
