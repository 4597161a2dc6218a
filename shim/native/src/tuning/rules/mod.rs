//! What was measured, as the MPI itself reads it.
//!
//! ```text
//! steps      from how many bytes on which algorithm
//! open_mpi   files of rules, of `tuned` and of HAN, in lines
//! json       those of `tuned` in JSON
//! mpich      variables, or files of its collective selection
//! selection  the collective selection in MPICH's library
//! intel      variables with ranges of bytes and ranks
//! ```

mod intel;
mod json;
mod mpi_tuning;
mod mpich;
mod open_mpi;
mod selection;
mod steps;
#[cfg(test)]
mod tests;
mod writing;

pub use mpi_tuning::MpiTuning;
pub use selection::Selection;
pub use writing::{RULES_FILES, mpi_tuning, rules_file};
