//! Aligned columns: the first to the left, all others to the right.

/// A table as text: headings, and rows with one cell for each column.
#[derive(Debug, Clone, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table with these headings.
    pub fn new<S: Into<String>>(headings: impl IntoIterator<Item = S>) -> Self {
        let mut table = Table::default();
        table.row(headings);
        table
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The headings, followed by the rows.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// For each column, true if one of its cells begins with a letter: the first one, and others
    /// with names.
    pub(crate) fn columns_of_words(&self) -> Vec<bool> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let is_word = |cell: &String| cell.starts_with(char::is_alphabetic);
        (0..columns)
            .map(|column| {
                let mut cells = self.rows.iter().skip(1).filter_map(|row| row.get(column));
                column == 0 || cells.any(is_word)
            })
            .collect()
    }

    /// Formats the table with two spaces before each line and between columns.
    pub fn text(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                line += "  ";
                line += &match column {
                    0 => format!("{cell:<width$}"),
                    _ => format!("{cell:>width$}"),
                };
            }
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_flush_left_and_numbers_flush_right() {
        let mut table = Table::new(["level", "before", "after"]);
        table.row(["node", "1 KiB", "9 B"]);
        assert_eq!(
            table.text(),
            "  level  before  after\n  node    1 KiB    9 B\n"
        );
    }
}
