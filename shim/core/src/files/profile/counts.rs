//! The counts of one layer beside its profile: two matrices, messages and bytes,
//! in MatrixMarket's integer coordinate form.
//!
//! Counts are whole numbers up to 2^64 - 1 and never pass through a floating
//! point number, which would round those above 2^53.

use std::io::{self, Write};
use std::path::Path;

use crate::affinity::TrafficMatrix;
use crate::files::FileError;
use crate::files::error::one_line;

const BANNER: &str = "%%MatrixMarket matrix coordinate integer general";

/// Writes one number of every pair that has traffic. Both files of a layer list
/// the same pairs, so a message without bytes is an entry of 0.
pub(super) fn write(
    traffic: &TrafficMatrix,
    count: impl Fn(crate::affinity::Traffic) -> u64,
    comment: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (order, pairs) = (traffic.order(), traffic.non_zeros());
    writeln!(out, "{BANNER}\n% {comment}\n{order} {order} {pairs}")?;
    for (from, to, traffic) in traffic.entries() {
        // MatrixMarket counts rows and columns from 1.
        writeln!(out, "{} {} {}", from + 1, to + 1, count(traffic))?;
    }
    Ok(())
}

/// The entries (from, to, count) of a matrix of `order` ranks.
pub(super) fn read(
    path: &Path,
    text: &str,
    order: usize,
) -> Result<Vec<(usize, usize, u64)>, FileError> {
    let wrong = |line: usize, problem: String| FileError::Text {
        path: path.to_owned(),
        line,
        column: 0,
        problem: one_line(&problem),
    };
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim()));
    let banner = lines.next().map_or("", |(_, line)| line);
    let words = |line: &str| {
        line.split_whitespace()
            .map(str::to_lowercase)
            .collect::<Vec<_>>()
    };
    if words(banner) != words(BANNER) {
        return Err(wrong(
            1,
            format!("`{BANNER}` was expected as the first line; counts are whole numbers"),
        ));
    }
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('%'));
    let (number, size) = lines.next().ok_or_else(|| {
        wrong(
            text.lines().count(),
            "the file ends before `rows columns entries`; write it again if it was cut off".into(),
        )
    })?;
    let entries = read_size(size, order).map_err(|problem| wrong(number, problem))?;
    let mut found = Vec::new();
    for (number, line) in lines {
        let entry = read_entry(line, order).map_err(|problem| wrong(number, problem))?;
        found.push(entry);
    }
    match found.len() == entries {
        true => Ok(found),
        false => Err(wrong(
            number,
            format!(
                "{entries} entries are announced and {} follow; write the file again if it was \
                 cut off",
                found.len()
            ),
        )),
    }
}

/// The number of entries in `rows columns entries`.
fn read_size(line: &str, order: usize) -> Result<usize, String> {
    let [rows, columns, entries] = numbers(line, "rows columns entries")?;
    if rows != columns {
        return Err(format!(
            "the matrix has {rows} rows and {columns} columns; a square one, a row and a column \
             for each rank, was expected"
        ));
    }
    if rows != order as u64 {
        return Err(format!(
            "the matrix is for {rows} ranks and its profile for {order}; take the profile again"
        ));
    }
    usize::try_from(entries).map_err(|error| error.to_string())
}

fn read_entry(line: &str, order: usize) -> Result<(usize, usize, u64), String> {
    let [row, column, count] = numbers(line, "row column count")?;
    let rank = |number: u64, what: &str| match usize::try_from(number) {
        Ok(number) if (1..=order).contains(&number) => Ok(number - 1),
        _ => Err(format!(
            "{what} {number} is outside a matrix of {order} ranks, which MatrixMarket counts from \
             1; correct it"
        )),
    };
    Ok((rank(row, "row")?, rank(column, "column")?, count))
}

/// Three whole numbers.
fn numbers(line: &str, what: &str) -> Result<[u64; 3], String> {
    let mut numbers = [0; 3];
    let mut words = line.split_whitespace();
    for number in &mut numbers {
        let word = words
            .next()
            .ok_or_else(|| format!("`{line}` has less than three numbers; write {what}"))?;
        *number = word
            .parse()
            .ok()
            .filter(|_| word.bytes().all(|byte| byte.is_ascii_digit()))
            .ok_or_else(|| {
                let kind = match word.strip_prefix('-') {
                    Some(digits) if digits.parse::<f64>().is_ok() => "is negative",
                    _ => "is not a whole number",
                };
                format!("`{word}` {kind}; whole numbers from 0 were expected: {what}")
            })?;
    }
    match words.next() {
        None => Ok(numbers),
        Some(_) => Err(format!(
            "`{line}` has more than three numbers; write {what}"
        )),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::affinity::Traffic;

    fn message(lines: &str) -> String {
        let text = format!("{BANNER}\n{lines}");
        read(Path::new("a.mtx"), &text, 3).unwrap_err().to_string()
    }

    #[test]
    fn the_largest_count_is_kept_to_the_last_digit() {
        let mut traffic = TrafficMatrix::new(3);
        traffic.add(2, 0, Traffic::new(u64::MAX, (1 << 53) + 1));
        traffic.add(0, 1, Traffic::new(1, 0));
        let mut bytes = Vec::new();
        write(&traffic, |traffic| traffic.bytes, "bytes", &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(
            text,
            format!("{BANNER}\n% bytes\n3 3 2\n1 2 0\n3 1 9007199254740993\n")
        );
        assert_eq!(
            read(Path::new("a.mtx"), &text, 3).unwrap(),
            [(0, 1, 0), (2, 0, (1 << 53) + 1)]
        );
    }

    #[test]
    fn wrong_matrices_name_the_line() {
        for (lines, expected) in [
            (
                "",
                "a.mtx:1: the file ends before `rows columns entries`; write it again if it was \
                 cut off",
            ),
            (
                "3 4 1\n1 1 1\n",
                "a.mtx:2: the matrix has 3 rows and 4 columns; a square one, a row and a column \
                 for each rank, was expected",
            ),
            (
                "4 4 0\n",
                "a.mtx:2: the matrix is for 4 ranks and its profile for 3; take the profile again",
            ),
            (
                "3 3 1\n1 2 -5\n",
                "a.mtx:3: `-5` is negative; whole numbers from 0 were expected: row column count",
            ),
            (
                "3 3 1\n1 2 much\n",
                "a.mtx:3: `much` is not a whole number; whole numbers from 0 were expected: row \
                 column count",
            ),
            (
                "3 3 1\n1 2\n",
                "a.mtx:3: `1 2` has less than three numbers; write row column count",
            ),
            (
                "3 3 1\n1 2 3 4\n",
                "a.mtx:3: `1 2 3 4` has more than three numbers; write row column count",
            ),
            (
                "3 3 1\n1 4 1\n",
                "a.mtx:3: column 4 is outside a matrix of 3 ranks, which MatrixMarket counts from \
                 1; correct it",
            ),
            (
                "% comment\n3 3 2\n1 2 1\n",
                "a.mtx:3: 2 entries are announced and 1 follow; write the file again if it was \
                 cut off",
            ),
        ] {
            assert_eq!(message(lines), expected);
        }
        let real = "%%MatrixMarket matrix coordinate real general\n3 3 0\n";
        assert_eq!(
            read(Path::new("a.mtx"), real, 3).unwrap_err().to_string(),
            "a.mtx:1: `%%MatrixMarket matrix coordinate integer general` was expected as the first \
             line; counts are whole numbers"
        );
    }
}
