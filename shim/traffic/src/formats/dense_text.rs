//! Dense text: `n` lines of `n` numbers with blanks or tabs between them, row
//! sends to column. TreeMatch reads its communication matrices so (`.mat`).
//! Lines that begin with `#` are comments.

use std::io::{self, BufRead, Write};

use treepie_base::FileError;

use super::table;
use crate::matrix::Matrix;

/// Reads a matrix; `file` is its name for messages.
///
/// # Errors
/// Error with its place in the file.
pub fn read(reader: impl BufRead, file: &str) -> Result<Matrix, FileError> {
    table::read(reader, file, |line| line.split_whitespace().collect())
}

/// Writes a matrix, with tabs between the numbers.
///
/// # Errors
/// Errors of `out`.
pub fn write(matrix: &Matrix, out: impl Write) -> io::Result<()> {
    table::write(matrix, '\t', out)
}
