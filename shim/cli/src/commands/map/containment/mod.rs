//! Options of the containment report, and the report.

mod error;
pub(crate) mod machine;
pub(crate) mod options;
mod report;
mod sets;
