//! Writes the parts of the documentation that are generated.
//!
//! ```text
//! cargo run -p treepie-tests --bin generate -- coverage
//! cargo run -p treepie-tests --bin generate -- results FILE
//! ```
//!
//! `coverage` writes shim/preload/COVERAGE.md; `results` the table in
//! LD_PRELOAD.md, from what `scripts/test --all-mpis` noted in FILE.

use std::path::Path;
use std::process::ExitCode;
use treepie_tests::{coverage, results};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let written = match words[..] {
        ["coverage"] => coverage::write(),
        ["results", file] => results::write_table(Path::new(file)),
        _ => {
            eprintln!("usage: generate coverage | generate results FILE");
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
