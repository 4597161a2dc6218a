//! Latencies as comma-separated values: a square table in microseconds, row to
//! column, where 0 means no link. Lines that begin with `#` are comments.

use std::path::Path;

use crate::numbers::{MICROSECONDS, with_digits};
use crate::{LatencyError, LatencyMatrix};
use treepie_base::{FileError, text};

/// Reads latencies.
///
/// # Errors
/// A file that cannot be read, a table that is not square, and numbers that are
/// no latencies, with the line.
pub fn read(path: &Path) -> Result<LatencyMatrix, FileError> {
    from_text(path, &text::read(path)?)
}

/// The latencies in the text of a file; `path` is for messages.
///
/// # Errors
/// As [`read`], but for reading.
pub fn from_text(path: &Path, text: &str) -> Result<LatencyMatrix, FileError> {
    let wrong = |line: usize, problem: String| FileError::at(path, line, problem);
    let filled = |line: &&(usize, &str)| !line.1.is_empty() && !line.1.starts_with('#');
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .map(|(number, line)| (number + 1, line.trim()))
        .collect();
    let rows: Vec<&(usize, &str)> = lines.iter().filter(filled).collect();
    let order = rows.first().map_or(0, |row| row.1.split(',').count());
    if rows.is_empty() {
        return Err(wrong(
            1,
            "has no rows; one row of latencies for each node was expected".into(),
        ));
    }
    let mut table = Vec::with_capacity(order * order);
    for (row, &&(number, line)) in rows.iter().enumerate() {
        let before = table.len();
        for word in line.split(',') {
            let value: f64 = word.trim().parse().map_err(|_| {
                wrong(
                    number,
                    format!("`{}` is no number; write microseconds", word.trim()),
                )
            })?;
            table.push(value / MICROSECONDS);
        }
        let found = table.len() - before;
        if found != order || row >= order {
            return Err(wrong(
                number,
                format!(
                    "row {row} has {found} numbers and the first has {order}; the matrix must be \
                     square, with one row and one column for each node"
                ),
            ));
        }
    }
    if rows.len() < order {
        return Err(wrong(
            rows.last().map_or(1, |row| row.0),
            format!(
                "there are {} rows of {order} numbers; the matrix must be square",
                rows.len()
            ),
        ));
    }
    LatencyMatrix::from_table(order, &table).map_err(|error| match error {
        LatencyError::NotALatency { a, b, value } => wrong(
            rows[a].0,
            format!(
                "the latency from node {a} to node {b} is {}; write microseconds above 0, or 0 for \
                 no link",
                with_digits(value * MICROSECONDS, 12)
            ),
        ),
        LatencyError::OneWay { from, .. } => wrong(rows[from].0, error.to_string()),
        LatencyError::NoSuchNode { .. } => wrong(1, error.to_string()),
    })
}
