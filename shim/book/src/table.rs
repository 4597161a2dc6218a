//! Tables of a page, with cells that wrap.

use crate::render::wrapped;

/// Least number of columns of a cell.
const LEAST: usize = 10;

/// Blanks between two columns.
const GAP: usize = 2;

/// Formats the rows, the first of which is the heading, in at most `width` columns.
pub fn aligned(rows: &[Vec<String>], width: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let natural = (0..columns).map(|column| widest(rows, column));
    let widths = narrowed(natural.collect(), width);
    let mut text = String::new();
    let mut tall = false;
    for (number, row) in rows.iter().enumerate() {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, &width)| split(cell, width));
        let cells: Vec<Vec<String>> = cells.collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or_default();
        // Rows of several lines are separated by an empty line.
        if number > 1 && (tall || height > 1) {
            text.push('\n');
        }
        tall = number > 0 && height > 1;
        for line in 0..height {
            let parts = cells
                .iter()
                .map(|cell| cell.get(line).map_or("", String::as_str));
            text += &joined(parts, &widths);
        }
        if number == 0 {
            let rules: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
            text += &joined(rules.iter().map(String::as_str), &widths);
        }
    }
    text
}

fn widest(rows: &[Vec<String>], column: usize) -> usize {
    let cells = rows.iter().filter_map(|row| row.get(column));
    cells
        .map(|cell| cell.chars().count())
        .max()
        .unwrap_or_default()
}

/// Narrows the widest columns until all fit.
fn narrowed(mut widths: Vec<usize>, width: usize) -> Vec<usize> {
    let gaps = GAP * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > width {
        match widths.iter_mut().max() {
            Some(widest) if *widest > LEAST => *widest -= 1,
            _ => break,
        }
    }
    widths
}

/// The lines of a cell; a word that is too long is split.
fn split(cell: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in wrapped(cell, width) {
        let letters: Vec<char> = line.chars().collect();
        lines.extend(letters.chunks(width.max(1)).map(String::from_iter));
    }
    lines
}

fn joined<'a>(parts: impl Iterator<Item = &'a str>, widths: &[usize]) -> String {
    let gap = " ".repeat(GAP);
    let padded = parts
        .zip(widths)
        .map(|(part, &width)| format!("{part:<width$}"));
    let line = padded.collect::<Vec<_>>().join(&gap);
    format!("{}\n", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_columns_wrap_and_rows_of_several_lines_are_parted() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let rows = [
            row(["key", "meaning"]),
            row(["a", "some words that need two lines"]),
            row(["b", "short"]),
        ];
        let expected = "key  meaning\n---  -----------------\n\
                        a    some words that\n     need two lines\n\nb    short\n";
        assert_eq!(aligned(&rows, 22), expected);
    }
}
