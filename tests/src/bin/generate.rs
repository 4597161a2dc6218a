//! Writes the generated part of the documentation.
//!
//! ```text
//! cargo run -p treepie-tests --bin generate -- results FILE
//! ```
//!
//! `results` is the table in docs/reference/mpis.md, from the notes of `scripts/test night` in
//! FILE.

use std::path::Path;
use std::process::ExitCode;
use treepie_tests::results;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let written = match words[..] {
        ["results", file] => results::write_table(Path::new(file)),
        _ => {
            eprintln!("usage: generate results FILE");
            return ExitCode::from(2);
        }
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generate: {error}");
            ExitCode::FAILURE
        }
    }
}
