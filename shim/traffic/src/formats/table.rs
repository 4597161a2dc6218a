//! Square tables of numbers with any separator: shared by the dense formats.

use std::io::{self, BufRead, Write};

use treepie_base::FileError;

use super::lines::{Line, Lines, shown};
use super::number::Number;
use crate::matrix::Matrix;

/// Reads a table whose rows `split` cuts into words. Blank lines and lines that begin with `#` are
/// skipped.
pub(super) fn read(
    reader: impl BufRead,
    file: &str,
    split: impl Fn(&str) -> Vec<&str>,
) -> Result<Matrix, FileError> {
    let mut lines = Lines::new(reader, file);
    let mut order = None;
    let mut entries = Vec::new();
    let mut rows = 0;
    while let Some(line) = lines.next_filled('#')? {
        let words = split(&line.text);
        let order = *order.get_or_insert(words.len());
        check_row(&line, rows, words.len(), order)?;
        for (column, word) in words.into_iter().enumerate() {
            let value = line.affinity(word)?;
            if value > 0.0 {
                entries.push((rows, column, value));
            }
        }
        rows += 1;
    }
    let end = lines.end();
    match order {
        None => Err(lines.ended("rows of numbers")),
        Some(order) if rows < order => Err(lines.ended(format!(
            "{order} rows, as there are {order} numbers in the first, after {rows}"
        ))),
        Some(order) => Matrix::from_entries(order, entries)
            .map_err(|error| end.error("a matrix", error.to_string(), "write it again")),
    }
}

fn check_row(line: &Line<'_>, row: usize, words: usize, order: usize) -> Result<(), FileError> {
    let remedy = "the matrix must be square: one row and one column for each rank";
    if row >= order {
        let expected = format!("the end after {order} rows of {order} numbers");
        return Err(line.error(expected, shown(&line.text), remedy));
    }
    if words != order {
        let expected = format!("{order} numbers, as in the first row");
        return Err(line.error(expected, words.to_string(), remedy));
    }
    Ok(())
}

/// Writes a table with `separator` between the numbers of a row.
pub(super) fn write(matrix: &Matrix, separator: char, mut out: impl Write) -> io::Result<()> {
    for row in 0..matrix.order() {
        let mut filled = matrix.row(row).peekable();
        for column in 0..matrix.order() {
            if column > 0 {
                write!(out, "{separator}")?;
            }
            match filled.next_if(|&(at, _)| at == column) {
                Some((_, value)) => write!(out, "{}", Number(value))?,
                None => write!(out, "0")?,
            }
        }
        writeln!(out)?;
    }
    out.flush()
}
