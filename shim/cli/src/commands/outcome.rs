//! Result of a subcommand.

use std::process::ExitCode;

use treepie_launch::error::CommandError;

/// Result of a subcommand: its exit status, or an error.
pub type Outcome = Result<ExitCode, CommandError>;
