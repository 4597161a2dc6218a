//! Errors of settings.

use thiserror::Error;
use treepie_base::FileError;

use super::variables::{known_variables, similar_variable};

/// Settings that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// The value of a variable is invalid.
    #[error("{variable}: {problem}")]
    Variable {
        /// Name of the variable.
        variable: String,
        /// Expected value, and the remedy.
        problem: String,
    },
    /// No setting has a variable of this name.
    #[error(
        "{variable}: treepie has no such variable{}; known are {}",
        similar_variable(variable),
        known_variables().join(", ")
    )]
    UnknownVariable {
        /// Name of the variable.
        variable: String,
    },
    /// The configuration file is invalid.
    #[error(transparent)]
    File(#[from] FileError),
    /// Settings that are valid one by one but contradict each other.
    #[error("{settings}: {problem}")]
    Together {
        /// Settings, as the user wrote them.
        settings: String,
        /// Reason of the contradiction, and the remedy.
        problem: String,
    },
}
