//! Tests that the known pitfalls of interposition are each named by a test, and the programs of
//! `jobs/world` each run by one. No MPI is needed.

use std::collections::BTreeSet;
use std::path::PathBuf;
use treepie_tests::artifacts;

fn folder() -> PathBuf {
    artifacts::repository().join("tests/jobs/world")
}

/// The words after `key:` in the sources of the jobs and of these tests.
fn named(key: &str) -> BTreeSet<String> {
    let files = |folder: PathBuf| {
        std::fs::read_dir(folder)
            .expect("the folder is there")
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                let ending = path.extension().unwrap_or_default().to_string_lossy();
                ["c", "F90", "rs"].contains(&&*ending)
            })
    };
    files(folder())
        .chain(files(artifacts::repository().join("tests/tests")))
        .flat_map(|path| {
            let text = std::fs::read_to_string(path).expect("sources are readable");
            let words = text
                .lines()
                .filter_map(|line| {
                    line.trim_start_matches([' ', '*', '!', '/'])
                        .strip_prefix(key)
                })
                .flat_map(|rest| rest.split_whitespace().map(str::to_owned));
            words.collect::<Vec<_>>()
        })
        .collect()
}

/// The table of PITFALLS.md has the same pitfalls as the tests.
#[test]
fn every_pitfall_is_named_by_a_test() {
    let text = std::fs::read_to_string(folder().join("PITFALLS.md")).expect("it is there");
    let (pitfalls, programs) = text
        .split_once("| program |")
        .expect("there are two tables");
    let first_cells = |table: &str| -> BTreeSet<String> {
        table
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.split(" |").next())
            .flat_map(|cell| cell.split_whitespace().map(str::to_owned))
            .filter(|word| word != "number")
            .collect()
    };
    assert_eq!(first_cells(pitfalls).len(), 28);
    assert_eq!(named("PITFALLS:"), first_cells(pitfalls));
    let causes = programs.split_once('\n').expect("the table has rows").1;
    assert_eq!(named("FAILURES:"), first_cells(causes));
}

/// A source that no test runs proves nothing.
#[test]
fn every_program_of_the_folder_is_run() {
    let this = include_str!("world.rs");
    let sources: Vec<String> = std::fs::read_dir(folder())
        .expect("the folder is there")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".c") || name.ends_with(".F90"))
        .collect();
    assert!(sources.len() > 15, "{sources:?}");
    let forgotten: Vec<_> = sources
        .iter()
        .filter(|name| !this.contains(&format!("\"{name}\"")))
        .collect();
    assert!(forgotten.is_empty(), "not run: {forgotten:?}");
}
