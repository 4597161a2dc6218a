//! Errors of the command, and its exit status after them.

use std::process::ExitCode;

use thiserror::Error;
use treepie_base::{FileError, FileErrorKind};
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
    /// An error, and its subject.
    #[error("{error}")]
    About {
        /// Its subject.
        subject: Subject,
        /// The error.
        error: Box<CommandError>,
    },
    /// Failure of a command that runs a job and returns its status: exit status 125.
    #[error(transparent)]
    BesideJob(Box<CommandError>),
}

/// Subject of an error, by which a page that helps is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A file of treepie's whose contents cannot be used.
    File,
    /// A file for another number of ranks, or a placement that a launcher cannot apply.
    Apply,
    /// A setting of the library.
    Setting,
    /// A launcher.
    Launcher,
    /// The library, which is not found or cannot be named to a launcher.
    Library,
    /// A program that the library does not reach.
    Program,
    /// A machine.
    Topology,
    /// A network between hosts.
    Network,
    /// Ranks and the cores for them.
    Placement,
    /// Experience from earlier runs.
    Store,
    /// A matrix of traffic.
    Matrix,
    /// An order of receives.
    Order,
    /// Pages of running jobs.
    Pages,
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

    /// An error about a subject, where none was known.
    #[must_use]
    pub fn about(self, subject: Subject) -> Self {
        match self.subject() {
            Some(_) => self,
            None => CommandError::About {
                subject,
                error: Box::new(self),
            },
        }
    }

    /// Its subject.
    pub fn subject(&self) -> Option<Subject> {
        match self {
            CommandError::About { subject, .. } => Some(*subject),
            CommandError::BesideJob(error) => error.subject(),
            CommandError::File(error) => subject_of_file(&error.kind),
            CommandError::Topology(_) => Some(Subject::Topology),
            CommandError::Network(_) => Some(Subject::Network),
            CommandError::Placement(_) => Some(Subject::Placement),
            CommandError::Store(_) => Some(Subject::Store),
            CommandError::Matrix(_) => Some(Subject::Matrix),
            CommandError::Usage(_) | CommandError::Failed(_) => None,
        }
    }

    /// Whether the command line is wrong.
    fn is_usage(&self) -> bool {
        match self {
            CommandError::Usage(_) => true,
            CommandError::About { error, .. } => error.is_usage(),
            _ => false,
        }
    }

    /// Marks a failure of a command that runs a job; its status must differ from the job's.
    #[must_use]
    pub fn beside_job(self) -> Self {
        match self {
            CommandError::BesideJob(_) => self,
            error if error.is_usage() => error,
            error => CommandError::BesideJob(Box::new(error)),
        }
    }

    /// 2 for usage, 125 for failures besides the job, 1 for all others.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            CommandError::BesideJob(_) => ExitCode::from(BESIDE_JOB),
            error if error.is_usage() => ExitCode::from(2),
            _ => ExitCode::from(1),
        }
    }
}

/// Subject of a file that cannot be used; none where its name or permissions are the problem.
fn subject_of_file(kind: &FileErrorKind) -> Option<Subject> {
    match kind {
        FileErrorKind::Missing
        | FileErrorKind::Unreadable(_)
        | FileErrorKind::Unfit(_)
        | FileErrorKind::Unwritable(_) => None,
        FileErrorKind::OtherRanks(_) => Some(Subject::Apply),
        FileErrorKind::NotText(_)
        | FileErrorKind::Syntax(_)
        | FileErrorKind::NoHeader { .. }
        | FileErrorKind::WrongKind { .. }
        | FileErrorKind::NewerVersion { .. }
        | FileErrorKind::Problem(_) => Some(Subject::File),
    }
}
