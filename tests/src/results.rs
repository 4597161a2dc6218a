//! Jobs that were run, and those that passed, for the table in docs/reference/mpis.md.
//!
//! `scripts/test night` names a file in `TREEPIE_RESULTS`; each attempt adds
//! a line when it begins and one when it has passed. Without the variable nothing
//! is written.

use crate::Mpi;
use crate::artifacts::repository;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// A job or program run in one mode of the library.
#[derive(Debug)]
pub struct Attempt {
    line: String,
}

impl Attempt {
    /// Begins an attempt: `language` and `mode` are a column of the table, `what` is the item
    /// counted in it.
    pub fn new(mpi: Mpi, language: &str, mode: &str, what: &str) -> Self {
        let attempt = Attempt {
            line: format!("{mpi}\t{language}\t{mode}\t{what}"),
        };
        attempt.note("began");
        attempt
    }

    /// Records that it has passed.
    pub fn passed(self) {
        self.note("passed");
    }

    fn note(&self, word: &str) {
        let Some(path) = std::env::var_os("TREEPIE_RESULTS") else {
            return;
        };
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .unwrap_or_else(|error| panic!("TREEPIE_RESULTS={}: {error}", path.display()));
        // One write for one line: tests run simultaneously.
        file.write_all(format!("{word}\t{}\n", self.line).as_bytes())
            .unwrap_or_else(|error| panic!("TREEPIE_RESULTS={}: {error}", path.display()));
    }
}

/// Lines around the table in docs/reference/mpis.md.
const BEGIN: &str = "<!-- results: written by scripts/test night -->";
const END: &str = "<!-- end of results -->";

const MODES: [&str; 3] = ["off", "profile", "replay"];

/// Writes the table in docs/reference/mpis.md from the notes in `file`.
///
/// # Errors
/// The file cannot be read or written, or the page lacks the marks.
pub fn write_table(file: &Path) -> io::Result<()> {
    let page = repository().join("docs/reference/mpis.md");
    let text = fs::read_to_string(&page)?;
    let table = table(&fs::read_to_string(file)?);
    let Some((before, rest)) = text.split_once(BEGIN) else {
        return Err(io::Error::other(format!(
            "{}: no line {BEGIN}",
            page.display()
        )));
    };
    let Some((_, after)) = rest.split_once(END) else {
        return Err(io::Error::other(format!(
            "{}: no line {END}",
            page.display()
        )));
    };
    fs::write(&page, format!("{before}{BEGIN}\n\n{table}\n{END}{after}"))
}

/// A row for each MPI and language, a column for each mode: the numbers of passed and run items.
fn table(notes: &str) -> String {
    let mut cells: BTreeMap<(usize, &str, &str), (usize, usize)> = BTreeMap::new();
    let order: Vec<String> = Mpi::ALL
        .iter()
        .chain(&Mpi::FURTHER)
        .map(Mpi::to_string)
        .collect();
    for line in notes.lines() {
        let [word, mpi, language, mode, _] = line.split('\t').collect::<Vec<_>>()[..] else {
            continue;
        };
        let place = order
            .iter()
            .position(|name| name == mpi)
            .unwrap_or(order.len());
        let (passed, run) = cells.entry((place, language, mode)).or_default();
        match word {
            "passed" => *passed += 1,
            _ => *run += 1,
        }
    }
    let mut rows: Vec<(usize, &str)> = cells
        .keys()
        .map(|(mpi, language, _)| (*mpi, *language))
        .collect();
    rows.dedup();
    let mut table =
        String::from("| MPI | language | off | profile | replay |\n|---|---|---|---|---|\n");
    for (mpi, language) in rows {
        let name = order.get(mpi).map_or("?", String::as_str);
        table.push_str(&format!("| {name} | {language} |"));
        for mode in MODES {
            match cells.get(&(mpi, language, mode)) {
                Some((passed, run)) => table.push_str(&format!(" {passed} of {run} |")),
                None => table.push_str(" |"),
            }
        }
        table.push('\n');
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_counts_what_passed_of_what_was_run() {
        let notes = "began\tMPICH\tC\toff\tring\npassed\tMPICH\tC\toff\tring\nbegan\tMPICH\tC\treplay\tring\nbegan\tOpen MPI\tC\toff\tring\npassed\tOpen MPI\tC\toff\tring\n";
        let table = table(notes);
        let rows: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| Open MPI | C | 1 of 1 | | |",
                "| MPICH | C | 1 of 1 | | 0 of 1 |"
            ]
        );
    }
}
