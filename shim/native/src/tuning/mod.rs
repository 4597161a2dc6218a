//! Tuning of a native MPI: the measured fastest of its own algorithms for each call, and the
//! settings by which the MPI selects it.
//!
//! ```text
//! cells       the calls that are measured: from a list, or the important ones of a profile
//! file        the tuning, which is a file
//! row         the calls of one operation and size
//! measure     interleaved rounds of all algorithms of one cell, and the verdict
//! guidelines  operations that others can emulate
//! rules       the MPI's own tuning: Open MPI's rules, MPICH's selection, variables
//! ```

mod cells;
mod clocks;
pub mod file;
mod guidelines;
mod measure;
mod row;
mod rules;

pub use cells::{Cell, cell_bytes, cells_of_records, is_measured, usual_cells};
pub use clocks::{Question, ahead};
pub use file::Tuning;
pub use guidelines::{Emulation, emulations};
pub use measure::{AlgorithmResult, Budget, Clock, Verdict, measure};
pub use row::{Row, RowError};
pub use rules::{MpiTuning, RULES_FILES, Selection, mpi_tuning, rules_file};
