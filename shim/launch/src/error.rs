//! Errors of the command, and the status that it then exits with.

use std::process::ExitCode;

use thiserror::Error;
use treepie_base::FileError;
use treepie_placement::PlacementError;
use treepie_profile::experience::StoreError;
use treepie_topology::TopologyError;
use treepie_topology::networks::NetworkError;
use treepie_traffic::MatrixError;

/// Reason why the command stops. The text is one line: what is wrong and what to do.
#[derive(Debug, Error)]
pub enum CommandError {
    /// Wrong usage: exit status 2.
    #[error("{0}")]
    Usage(String),
    /// The question or the job failed: exit status 1.
    #[error("{0}")]
    Failed(String),
    /// A file of treepie that cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A tree that cannot be made.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A network that cannot be made, or has no place for a host.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// Ranks that do not fit on a tree.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// A store of what was learnt that cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Numbers that make no matrix.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    /// Failure of a command that runs a job and returns its status: exit status 125.
    #[error(transparent)]
    BesideJob(Box<CommandError>),
}

/// Exit status of a failure that is not the job's, as `env` and `timeout` have it.
const BESIDE_JOB: u8 = 125;

impl CommandError {
    /// A wrong command line.
    pub fn usage(message: impl Into<String>) -> Self {
        CommandError::Usage(message.into())
    }

    /// A job or a question that failed.
    pub fn failed(message: impl Into<String>) -> Self {
        CommandError::Failed(message.into())
    }

    /// A failure of a command that runs a job; its status is not to be taken for the job's.
    #[must_use]
    pub fn beside_job(self) -> Self {
        match self {
            CommandError::Usage(_) | CommandError::BesideJob(_) => self,
            error => CommandError::BesideJob(Box::new(error)),
        }
    }

    /// 2 for usage, 125 beside a job, 1 for everything else.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            CommandError::Usage(_) => ExitCode::from(2),
            CommandError::BesideJob(_) => ExitCode::from(BESIDE_JOB),
            _ => ExitCode::from(1),
        }
    }
}
