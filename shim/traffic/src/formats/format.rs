//! Choice of a format, by its name or by the ending of a file's name.

use std::io::{self, BufRead, Write};
use std::path::Path;

use strum::{Display, IntoStaticStr, VariantArray};
use treepie_base::{FileError, from_name};

use crate::formats::{csv, dense_text, matrix_market, metis, monitoring, scotch};
use crate::layer::Layer;
use crate::matrix::Matrix;
use crate::traffic::Metric;

/// A format of matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Format {
    /// See [`matrix_market`].
    MatrixMarket,
    /// See [`dense_text`].
    DenseText,
    /// See [`csv`].
    Csv,
    /// See [`metis`].
    Metis,
    /// See [`scotch`].
    Scotch,
    /// See [`monitoring`].
    #[strum(serialize = "open-mpi-monitoring")]
    Monitoring,
}

impl Format {
    /// The file endings of formats that can be written.
    pub const ENDINGS: [&'static str; 6] = [".mtx", ".mat", ".txt", ".csv", ".graph", ".grf"];

    /// The format indicated by the ending of a file's name, regardless of case.
    pub fn from_path(path: &Path) -> Option<Format> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "mtx" => Some(Format::MatrixMarket),
            "mat" | "txt" => Some(Format::DenseText),
            "csv" => Some(Format::Csv),
            "graph" => Some(Format::Metis),
            "grf" => Some(Format::Scotch),
            "prof" => Some(Format::Monitoring),
            _ => None,
        }
    }

    /// Reads a matrix; `file` is its name for messages. From Open MPI's monitoring, the bytes of
    /// all layers are added.
    ///
    /// # Errors
    /// The input is malformed; the error has the position in the file.
    pub fn read(self, reader: impl BufRead, file: &str) -> Result<Matrix, FileError> {
        match self {
            Format::MatrixMarket => matrix_market::read(reader, file),
            Format::DenseText => dense_text::read(reader, file),
            Format::Csv => csv::read(reader, file),
            Format::Metis => metis::read(reader, file),
            Format::Scotch => scotch::read(reader, file),
            Format::Monitoring => {
                let counted = monitoring::read(reader, file)?;
                Ok(counted.traffic(Layer::ALL).affinity(Metric::Size))
            }
        }
    }

    /// Writes a matrix. Graphs hold the sum of both directions of each pair.
    ///
    /// # Errors
    /// Errors of `out`; `Unsupported` for the format of Open MPI's monitoring.
    pub fn write(self, matrix: &Matrix, out: impl Write) -> io::Result<()> {
        match self {
            Format::MatrixMarket => matrix_market::write(matrix, out),
            Format::DenseText => dense_text::write(matrix, out),
            Format::Csv => csv::write(matrix, out),
            Format::Metis => metis::write(matrix, out),
            Format::Scotch => scotch::write(matrix, out),
            Format::Monitoring => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "the format of Open MPI's monitoring is read and not written: \
                 choose another, such as .mtx",
            )),
        }
    }
}

from_name!(Format, "format");
