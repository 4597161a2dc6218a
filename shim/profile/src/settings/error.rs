//! Errors of settings.

use thiserror::Error;
use treepie_base::FileError;

use super::variables::{known_variables, similar_variable};

/// Settings that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// The value of a variable is wrong.
    #[error("{variable}: {problem}")]
    Variable {
        /// The variable.
        variable: String,
        /// The value that was expected, and what to write.
        problem: String,
    },
    /// No setting has a variable of this name.
    #[error(
        "{variable}: treepie has no such variable{}; known are {}",
        similar_variable(variable),
        known_variables().join(", ")
    )]
    UnknownVariable {
        /// The variable.
        variable: String,
    },
    /// The configuration file is wrong.
    #[error(transparent)]
    File(#[from] FileError),
    /// Settings that are right one by one and do not go together.
    #[error("{settings}: {problem}")]
    Together {
        /// The settings, as the user wrote them.
        settings: String,
        /// Reason why they do not go together and what to change.
        problem: String,
    },
}
