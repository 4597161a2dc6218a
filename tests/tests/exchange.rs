//! Files that `treepie convert` writes for other tools, and the Python package, tested with those
//! tools: packaging/python/check.py opens all of it with pandas, pyarrow, networkx and a notebook.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use treepie_tests::{Mpi, Outcome, artifacts, run_watched, under_each_mpi};

const ENDINGS: [&str; 8] = [
    "table.csv",
    "parquet",
    "calls.csv",
    "calls.parquet",
    "graphml",
    "gexf",
    "trace.json",
    "prom",
];

fn treepie(directory: &Path, words: &[&str]) -> Outcome {
    let mut command = Command::new(artifacts::command());
    command.args(words).current_dir(directory);
    run_watched(command, Duration::from_secs(60), &words.join(" "))
}

/// A profile with times of the job on four ranks in this directory, and a placement.
fn taken(mpi: Mpi, directory: &Path) {
    let mut words = ["profile", "-q", "--times", "-o", "app.profile.yaml", "--"]
        .map(str::to_owned)
        .to_vec();
    let launched = mpi.launch(4, &[]).into_iter();
    words.extend(launched.map(|word| word.to_string_lossy().into_owned()));
    words.extend([artifacts::job(mpi, "halo2d").display().to_string()]);
    words.extend(["64", "10"].map(str::to_owned));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    treepie(directory, &words).succeeded();
    let map = ["map", "app.profile.yaml", "--topology", "2:2", "-q", "-o"];
    treepie(directory, &[&map[..], &["app.placement.yaml"]].concat()).succeeded();
}

fn other_tools_open_what_a_profile_becomes(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let directory = directory.path();
    taken(mpi, directory);
    for ending in ENDINGS {
        let output = format!("app.{ending}");
        let mut words = vec!["convert", "app.profile.yaml", "-o", &output, "-q"];
        if ending.starts_with('g') {
            words.extend(["--placement", "app.placement.yaml", "--hosts", "n1,n2"]);
        }
        treepie(directory, &words).succeeded();
    }
    let python = artifacts::reader();
    let mut check = Command::new(python);
    check
        .arg(artifacts::repository().join("packaging/python/check.py"))
        .args(["app.profile.yaml", "app.placement.yaml", "app"].map(|name| directory.join(name)));
    let outcome = run_watched(check, Duration::from_secs(180), "check.py").succeeded();
    assert!(outcome.stdout.contains("all of it was read"));
}

#[test]
fn what_a_file_cannot_become_is_said() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let directory = directory.path();
    let file = |name: &str| artifacts::repository().join("profiles").join(name);
    let pairs = file("pairs.profile.yaml").display().to_string();
    let placement = file("pairs.placement.yaml").display().to_string();
    std::fs::write(directory.join("bare.csv"), "0,1\n1,0\n").expect("a matrix");
    for (words, said) in [
        (&["convert", &pairs, "-o", "a.calls.csv"][..], "--times"),
        (
            &["convert", &pairs, "-o", "a.trace.json"],
            "--phase-interval",
        ),
        (
            &["convert", "bare.csv", "-o", "a.parquet"],
            "is a bare matrix",
        ),
        (
            &["convert", &pairs, "-o", "a.prom", "--placement", &placement],
            ".graphml and .gexf",
        ),
        (
            &["convert", &pairs, "-o", "a.mtx", "--placement", &placement],
            "is no graph of ranks",
        ),
    ] {
        let outcome = treepie(directory, words);
        let told = outcome.told();
        assert!(told.contains(said), "{told}");
        assert!(!directory.join(words[2]).exists(), "{told}");
    }
}

under_each_mpi!(other_tools_open_what_a_profile_becomes);
