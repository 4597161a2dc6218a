//! Forms in which a collective is called, and the waiting of ranks for each other in its calls.

use serde::{Deserialize, Serialize};
use strum::Display;

use treepie_collective::Operation;

/// Form in which a collective is called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Display, Serialize, Deserialize)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// It is complete when the call returns.
    #[default]
    Blocking,
    /// It is started in one call, and completed in another.
    Nonblocking,
    /// It is started and completed in separate calls by a request that is created once and started
    /// repeatedly.
    Persistent,
}

impl Form {
    /// Returns the name of an operation in this form.
    pub fn named(self, operation: Operation) -> String {
        match self {
            Form::Blocking => operation.to_string(),
            Form::Nonblocking => format!("started {operation}"),
            Form::Persistent => format!("persistent {operation}"),
        }
    }
}

/// Properties of the calls of a cell on which its judgement depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallSemantics {
    /// Form of the calls.
    pub form: Form,
    /// True if the operation completes nowhere before all ranks have begun it.
    pub needs_all: bool,
    /// True if they can be tried in rows, before which all ranks wait for each other.
    pub has_rows: bool,
}

impl CallSemantics {
    /// True if no rank leaves the call before all have entered it: all wait for each other. A
    /// persistent request is left before it is started again.
    pub fn synchronises(self) -> bool {
        self.form != Form::Nonblocking && self.needs_all
    }
}
