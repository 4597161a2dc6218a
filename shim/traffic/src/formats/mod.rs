//! File formats of matrices: one file each, with `read` and `write`.
//!
//! Readers are strict: a file that is not square, contains anything except numbers, has a negative
//! value, or ends too early is refused with its name, the line, the expected content and a remedy.
//! Writers write whole numbers without a decimal point.
//!
//! | format | endings | contents |
//! |---|---|---|
//! | [`matrix_market`] | `.mtx` | non-zero entries, for SciPy and Julia |
//! | [`dense_text`] | `.mat` `.txt` | all numbers, for TreeMatch |
//! | [`csv`] | `.csv` | all numbers, for spreadsheets |
//! | [`metis`] | `.graph` | an undirected graph, for METIS and KaHIP |
//! | [`scotch`] | `.grf` | an undirected graph, for Scotch |
//! | [`monitoring`] | `.prof` | counts of Open MPI's monitoring component; read only |

mod format;
mod graph;
mod lines;
mod number;
mod table;

pub mod csv;
pub mod dense_text;
pub mod matrix_market;
pub mod metis;
pub mod monitoring;
pub mod scotch;

#[cfg(test)]
mod tests;

pub use format::Format;
