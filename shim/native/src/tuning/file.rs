//! Tunings as YAML: measurements of a native MPI's own algorithms.
//!
//! ```yaml
//! treepie: tuning
//! version: 1
//! mpi: open-mpi 4.1.4
//! ranks: 4
//! hosts: 1
//! rows:
//! - operation: bcast
//!   ranks: 4
//!   from_bytes: 1024
//!   algorithm: binomial
//!   us: 3.1
//!   native_us: 5.2
//! ```
//!
//! `algorithm: default` is a row in which the MPI's own choice stays. `plan` is a plan of Treepie
//! that was proven to be faster than that.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::knobs::Library;
use crate::tuning::row::Row;
use treepie_base::{File, FileContents, FileError, Kind, convert};

/// A tuning with its origin.
pub type TuningFile = File<Tuning>;

/// Measurements of an MPI's own algorithms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// MPI library.
    #[serde(rename = "mpi", with = "convert")]
    pub library: Library,
    /// Number of ranks of the job that measured.
    pub ranks: usize,
    /// Number of hosts of that job.
    pub hosts: usize,
    /// True if algorithms were allowed that are wrong for operations that do not commute.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub commutative: bool,
    /// File of the MPI's library, in the job that measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library_file: Option<PathBuf>,
    /// Remarks on the measurement, as sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Results, by operation, ranks and bytes, each once.
    pub rows: Vec<Row>,
}

impl FileContents for Tuning {
    const KIND: Kind = Kind::Tuning;

    /// Rejects duplicate rows, and algorithms that the MPI does not have, that the communicator's
    /// size does not allow, or that need commutative operations if those were not promised. Sorts
    /// the rows.
    fn on_read(&mut self, path: &Path) -> Result<(), FileError> {
        let mut seen = BTreeSet::new();
        for (place, row) in self.rows.iter().enumerate() {
            if row.ranks < 2 {
                let problem = format!("is {}; a collective has at least 2 ranks", row.ranks);
                return Err(FileError::field(
                    path,
                    format!("rows[{place}].ranks"),
                    problem,
                ));
            }
            if !seen.insert((row.operation, row.ranks, row.from_bytes)) {
                let problem = "has the operation, ranks and bytes of a row before; keep one";
                return Err(FileError::field(path, format!("rows[{place}]"), problem));
            }
            row.check(self.library, self.commutative).map_err(|error| {
                FileError::field(path, format!("rows[{place}].algorithm"), error)
            })?;
        }
        self.sort();
        Ok(())
    }
}

impl Tuning {
    /// Returns the rows in which an algorithm is faster than the default.
    pub fn gains(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.algorithm.is_some())
    }

    /// Returns the rows of each operation and size of communicator, which are consecutive.
    pub(super) fn groups(&self) -> impl Iterator<Item = &[Row]> {
        let key = |row: &Row| (row.operation, row.ranks);
        self.rows.chunk_by(move |one, other| key(one) == key(other))
    }

    /// Sorts the rows.
    pub fn sort(&mut self) {
        self.rows
            .sort_by_key(|row| (row.operation, row.ranks, row.from_bytes));
    }
}
