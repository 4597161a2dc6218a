//! Errors of the command, and its exit status after them.

use std::process::ExitCode;

use thiserror::Error;
use treepie_base::FileError;
use treepie_placement::PlacementError;
use treepie_profile::experience::StoreError;
use treepie_topology::TopologyError;
use treepie_topology::networks::NetworkError;
use treepie_traffic::MatrixError;

/// Reason why the command stops. The text is one line: the error and a remedy.
#[derive(Debug, Error)]
pub enum CommandError {
    /// Wrong usage: exit status 2.
    #[error("{0}")]
    Usage(String),
    /// The query or the job failed: exit status 1.
    #[error("{0}")]
    Failed(String),
    /// A file of Treepie cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A tree cannot be built.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A network cannot be built, or lacks a host.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The ranks do not fit on a tree.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// The store of measurements cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The numbers do not form a matrix.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    /// Failure of a command that runs a job and returns its status: exit status 125.
    #[error(transparent)]
    BesideJob(Box<CommandError>),
}

/// Exit status of a failure that is not the job's, as in `env` and `timeout`.
const BESIDE_JOB: u8 = 125;

impl CommandError {
    /// Creates the error of a wrong command line.
    pub fn usage(message: impl Into<String>) -> Self {
        CommandError::Usage(message.into())
    }

    /// Creates the error of a failed job or query.
    pub fn failed(message: impl Into<String>) -> Self {
        CommandError::Failed(message.into())
    }

    /// Marks a failure of a command that runs a job; its status must differ from the job's.
    #[must_use]
    pub fn beside_job(self) -> Self {
        match self {
            CommandError::Usage(_) | CommandError::BesideJob(_) => self,
            error => CommandError::BesideJob(Box::new(error)),
        }
    }

    /// 2 for usage, 125 for failures besides the job, 1 for all others.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            CommandError::Usage(_) => ExitCode::from(2),
            CommandError::BesideJob(_) => ExitCode::from(BESIDE_JOB),
            _ => ExitCode::from(1),
        }
    }
}
