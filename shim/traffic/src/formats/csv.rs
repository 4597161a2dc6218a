//! Comma-separated values: `n` lines of `n` numbers, row sends to column, without a header line.
//! Lines that begin with `#` are comments.

use std::io::{self, BufRead, Write};

use treepie_base::FileError;

use super::table;
use crate::matrix::Matrix;

/// Reads a matrix; `file` is its name for messages.
///
/// # Errors
/// The input is malformed; the error has the position in the file.
pub fn read(reader: impl BufRead, file: &str) -> Result<Matrix, FileError> {
    table::read(reader, file, |line| {
        line.split(',').map(str::trim).collect()
    })
}

/// Writes a matrix.
///
/// # Errors
/// Errors of `out`.
pub fn write(matrix: &Matrix, out: impl Write) -> io::Result<()> {
    table::write(matrix, ',', out)
}
