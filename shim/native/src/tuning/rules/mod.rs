//! Measurements in the formats that the MPI itself reads.
//!
//! ```text
//! steps      the algorithm from each number of bytes on
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
