//! Latencies as comma-separated values: a square table in microseconds, row to column, with 0 for
//! no link. Lines that begin with `#` are comments. The first row may have the names of the nodes,
//! none of which is a number.

use std::path::Path;

use crate::numbers::{MICROSECONDS, with_digits};
use crate::{LatencyError, LatencyMatrix};
use treepie_base::{FileError, text};

/// A table of latencies.
#[derive(Debug, Clone, PartialEq)]
pub struct Latencies {
    /// Latencies between nodes.
    pub matrix: LatencyMatrix,
    /// Names of the nodes; empty if the table has none.
    pub names: Vec<String>,
}

/// Reads latencies.
///
/// # Errors
/// The file cannot be read, the table is not square, or a number is not a latency; the error has
/// the line.
pub fn read(path: &Path) -> Result<Latencies, FileError> {
    from_text(path, &text::read(path)?)
}

/// Parses latencies from the text of a file; `path` is for messages.
///
/// # Errors
/// See [`read`]; the text cannot fail to be read.
pub fn from_text(path: &Path, text: &str) -> Result<Latencies, FileError> {
    let wrong = |line: usize, problem: String| FileError::at(path, line, problem);
    let filled = |line: &&(usize, &str)| !line.1.is_empty() && !line.1.starts_with('#');
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .map(|(number, line)| (number + 1, line.trim()))
        .collect();
    let mut rows: Vec<&(usize, &str)> = lines.iter().filter(filled).collect();
    let names = match rows.first() {
        Some((_, line)) if is_of_names(line) => rows
            .remove(0)
            .1
            .split(',')
            .map(|name| name.trim().to_owned())
            .collect(),
        _ => Vec::new(),
    };
    let order = rows.first().map_or(0, |row| row.1.split(',').count());
    if rows.is_empty() {
        return Err(wrong(
            1,
            "has no rows; one row of latencies for each node was expected".into(),
        ));
    }
    if !names.is_empty() && names.len() != order {
        let problem = format!(
            "names {} node{}, and the rows have {order} numbers; name all nodes, or none",
            names.len(),
            if names.len() == 1 { "" } else { "s" },
        );
        return Err(wrong(rows[0].0 - 1, problem));
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
    let matrix = LatencyMatrix::from_table(order, &table).map_err(|error| match error {
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
    })?;
    Ok(Latencies { matrix, names })
}

/// True if a line has names of nodes: none of its words is a number or empty.
fn is_of_names(line: &str) -> bool {
    let mut words = line.split(',').map(str::trim);
    words.all(|word| !word.is_empty() && word.parse::<f64>().is_err())
}
