//! Tables separated by commas, as in RFC 4180.

use std::io::{self, Write};

use super::columns::{Columns, Values};

/// Writes a table: names first, then a line for each row.
pub(super) fn write(table: &Columns, out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<&str> = table.0.iter().map(|column| column.name).collect();
    writeln!(out, "{}", names.join(","))?;
    for row in 0..table.rows() {
        for (place, column) in table.0.iter().enumerate() {
            if place > 0 {
                out.write_all(b",")?;
            }
            match &column.values {
                Values::Whole(values) => write!(out, "{}", values[row])?,
                Values::Real(values) => write!(out, "{}", values[row])?,
                Values::Text(values) => out.write_all(quoted(&values[row]).as_bytes())?,
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Quotes a text if necessary.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_commas_and_quotes_are_quoted() {
        assert_eq!(quoted("plain 1"), "plain 1");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
