//! Tunings as YAML: what was measured of a native MPI's own algorithms.
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
//! `algorithm: default` is a row in which the MPI's own choice stays. `plan` is the plan of
//! Treepie's that was proven to be quicker than that.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::tuning::{Row, Tuning};
use treepie_base::{FileError, Kind, VERSION, header, text, yaml};

/// The name of an MPI's own choice.
const DEFAULT: &str = "default";

/// A tuning with where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct TuningFile {
    /// What wrote the file, such as `treepie 0.1.0`.
    pub producer: String,
    /// When, in UTC: `2026-11-21T04:03:48Z`.
    pub date: String,
    /// The MPI's library, where the job that measured ran.
    pub library_file: Option<PathBuf>,
    /// What is to be known of the measuring, as sentences.
    pub notes: Vec<String>,
    /// What it says.
    pub tuning: Tuning,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    treepie: String,
    version: u64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    producer: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    date: String,
    mpi: String,
    ranks: usize,
    hosts: usize,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    commutative: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    library_file: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    rows: Vec<RowText>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RowText {
    operation: String,
    ranks: usize,
    from_bytes: u64,
    algorithm: String,
    us: f64,
    native_us: f64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    undecided: bool,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    others: BTreeMap<String, f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plan: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    plans: BTreeMap<String, f64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    slower_than: BTreeMap<String, f64>,
}

impl TuningFile {
    /// Reads and checks a tuning.
    ///
    /// # Errors
    /// A file that cannot be read, is no tuning, contradicts itself, or names an MPI or an
    /// algorithm that is not known.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        TuningFile::from_text(path, &text::read(path)?)
    }

    /// The tuning in the text of a file; `path` is for messages.
    ///
    /// # Errors
    /// As [`TuningFile::read`].
    pub fn from_text(path: &Path, text: &str) -> Result<Self, FileError> {
        header::check(path, text, Some(Kind::Tuning))?;
        yaml::parse::<Document>(path, text)?.build(path)
    }

    /// Writes the tuning, whole or not at all.
    ///
    /// # Errors
    /// [`FileError::Unwritable`].
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        text::write(path, &self.to_text(path)?)
    }

    /// The text of the file; `path` is for messages.
    ///
    /// # Errors
    /// [`FileError::Unwritable`].
    pub fn to_text(&self, path: &Path) -> Result<String, FileError> {
        let tuning = &self.tuning;
        let document = Document {
            treepie: Kind::Tuning.to_string(),
            version: VERSION,
            producer: self.producer.clone(),
            date: self.date.clone(),
            mpi: tuning.library.to_string(),
            ranks: tuning.ranks,
            hosts: tuning.hosts,
            commutative: tuning.commutative,
            library_file: self.library_file.clone(),
            notes: self.notes.clone(),
            rows: tuning.rows.iter().map(RowText::new).collect(),
        };
        yaml::to_text(path, &document)
    }
}

impl Document {
    fn build(self, path: &Path) -> Result<TuningFile, FileError> {
        let field = |name: String, problem: String| FileError::field(path, name, problem);
        let library = self
            .mpi
            .parse()
            .map_err(|error| field("mpi".to_owned(), format!("{error}")))?;
        let mut seen = BTreeSet::new();
        let mut rows = Vec::with_capacity(self.rows.len());
        for (place, row) in self.rows.into_iter().enumerate() {
            let row = row
                .build()
                .map_err(|(name, problem)| field(format!("rows[{place}].{name}"), problem))?;
            if !seen.insert((row.operation, row.ranks, row.from_bytes)) {
                let problem = "has the operation, ranks and bytes of a row before; keep one";
                return Err(field(format!("rows[{place}]"), problem.to_owned()));
            }
            rows.push(row);
        }
        let mut tuning = Tuning {
            library,
            ranks: self.ranks,
            hosts: self.hosts,
            commutative: self.commutative,
            rows,
        };
        tuning.check().map_err(|(place, error)| {
            field(format!("rows[{place}].algorithm"), error.to_string())
        })?;
        tuning.sort();
        Ok(TuningFile {
            producer: self.producer,
            date: self.date,
            library_file: self.library_file,
            notes: self.notes,
            tuning,
        })
    }
}

/// A field, and what is wrong with it.
type Wrong = (String, String);

impl RowText {
    fn new(row: &Row) -> Self {
        let times = |of: &BTreeMap<String, f64>| -> BTreeMap<String, f64> {
            let times = of.iter();
            times
                .map(|(name, seconds)| (name.clone(), micros(*seconds)))
                .collect()
        };
        RowText {
            operation: row.operation.to_string(),
            ranks: row.ranks,
            from_bytes: row.from_bytes,
            algorithm: row.algorithm.clone().unwrap_or_else(|| DEFAULT.to_owned()),
            us: micros(row.seconds),
            native_us: micros(row.native_seconds),
            undecided: row.undecided,
            others: times(&row.others),
            plan: row.plan.clone(),
            plans: times(&row.plans),
            slower_than: times(&row.slower_than),
        }
    }

    fn build(self) -> Result<Row, Wrong> {
        let operation = self
            .operation
            .parse()
            .map_err(|error| ("operation".to_owned(), format!("{error}")))?;
        if self.ranks < 2 {
            let problem = format!("is {}; a collective has at least 2 ranks", self.ranks);
            return Err(("ranks".to_owned(), problem));
        }
        let times = |field: &str, of: BTreeMap<String, f64>| -> Result<_, Wrong> {
            of.into_iter()
                .map(|(name, us)| Ok((name, seconds(field, us)?)))
                .collect()
        };
        Ok(Row {
            operation,
            ranks: self.ranks,
            from_bytes: self.from_bytes,
            algorithm: (self.algorithm != DEFAULT).then_some(self.algorithm),
            seconds: seconds("us", self.us)?,
            native_seconds: seconds("native_us", self.native_us)?,
            undecided: self.undecided,
            others: times("others", self.others)?,
            plan: self.plan,
            plans: times("plans", self.plans)?,
            slower_than: times("slower_than", self.slower_than)?,
        })
    }
}

/// Microseconds, to a nanosecond.
fn micros(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e3
}

/// Seconds of a time in a file.
fn seconds(field: &str, us: f64) -> Result<f64, Wrong> {
    match us.is_finite() && us > 0.0 {
        true => Ok(us / 1e6),
        false => Err((
            field.to_owned(),
            format!("{us} is no time; microseconds above 0 were expected"),
        )),
    }
}
