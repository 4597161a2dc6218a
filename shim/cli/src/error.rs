//! Errors of the command, and the status that it then exits with.

use std::process::ExitCode;

use clap::error::ErrorKind;
use thiserror::Error;
use treepie_base::FileError;
use treepie_placement::PlacementError;
use treepie_topology::TopologyError;
use treepie_topology::networks::NetworkError;
use treepie_traffic::MatrixError;

use crate::launch::library;
use crate::output;

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
    /// Numbers that make no matrix.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
}

impl CommandError {
    /// A wrong command line.
    pub fn usage(message: impl Into<String>) -> Self {
        CommandError::Usage(message.into())
    }

    /// A job or a question that failed.
    pub fn failed(message: impl Into<String>) -> Self {
        CommandError::Failed(message.into())
    }

    /// 2 for usage, 1 for all else.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            CommandError::Usage(_) => ExitCode::from(2),
            _ => ExitCode::from(1),
        }
    }
}

/// Output of clap: help and version as they are, anything else as one line. Clap's own text has a
/// paragraph for each of message, tip and usage.
pub fn usage(error: &clap::Error) -> Result<ExitCode, CommandError> {
    if !error.use_stderr() {
        // The reader of the help may have closed the pipe: then there is nothing to do.
        let _ = error.print();
        if error.kind() == ErrorKind::DisplayVersion {
            output::print(&library::describe())?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let text = error.to_string();
    let message = text.split("\n\nUsage:").next().unwrap_or(&text);
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let message = message.split("\n\nFor more").next().unwrap_or(message);
    let words: Vec<&str> = message.split_whitespace().collect();
    Err(CommandError::usage(format!(
        "{}; `treepie --help` shows the usage",
        words.join(" ")
    )))
}
