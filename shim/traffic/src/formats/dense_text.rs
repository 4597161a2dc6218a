//! Dense text: `n` lines of `n` numbers separated by blanks or tabs, row sends to column: the
//! format in which TreeMatch reads communication matrices (`.mat`). Lines that begin with `#` are
//! comments.

use std::io::{self, BufRead, Write};

use treepie_base::FileError;

use super::table;
use crate::matrix::Matrix;

/// Reads a matrix; `file` is its name for messages.
///
/// # Errors
/// The input is malformed; the error has the position in the file.
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
