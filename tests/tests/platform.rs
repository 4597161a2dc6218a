//! `treepie probe`, `treepie predict` and `treepie show` of a platform, as a user
//! calls them; measured on this machine and on an emulated grid.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use treepie_tests::{Mpi, artifacts, under_each_mpi};

/// What the command prints as JSON.
#[track_caller]
fn answer(command: &mut Command) -> Value {
    let output = command.output().expect("the command starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    serde_json::from_slice(&output.stdout).expect("the answer is JSON")
}

fn treepie() -> Command {
    Command::new(artifacts::command())
}

fn profile(name: &str) -> PathBuf {
    artifacts::repository().join("profiles").join(name)
}

#[test]
fn clusters_of_a_table_of_latencies_are_printed_as_json() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let table = directory.path().join("latencies.csv");
    std::fs::write(&table, "0,50,9000,0\n50,0,9000,0\n9000,9000,0,0\n0,0,0,0\n").expect("a file");
    let found = answer(
        treepie()
            .args(["probe", "--json", "--latencies"])
            .arg(&table),
    );
    assert_eq!(found, serde_json::json!({ "clusters": [[0, 1], [2], [3]] }));
    let found = answer(
        treepie()
            .args(["probe", "--json", "--tolerance", "1000", "--latencies"])
            .arg(&table),
    );
    assert_eq!(found, serde_json::json!({ "clusters": [[0, 1, 2], [3]] }));
}

#[test]
fn a_table_that_is_not_square_ends_with_one_line() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let table = directory.path().join("latencies.csv");
    std::fs::write(&table, "0,50\n").expect("a file");
    let output = treepie()
        .args(["probe", "--latencies"])
        .arg(&table)
        .output()
        .expect("the command starts");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the matrix must be square"), "{said}");
    assert_eq!(said.lines().count(), 1);
}

#[test]
fn every_collective_is_predicted_on_a_platform_and_the_best_is_named() {
    let platform = profile("two-clusters.platform.yaml");
    for collective in [
        "bcast",
        "scatter",
        "gather",
        "reduce",
        "allreduce",
        "allgather",
        "alltoall",
        "barrier",
    ] {
        let found = answer(treepie().arg("predict").arg(&platform).args([
            "--collective",
            collective,
            "--bytes",
            "1M",
            "--json",
        ]));
        let strategies = found["strategies"].as_array().expect("a list");
        assert!(strategies.len() > 1, "{collective}");
        assert_eq!(found["best"], strategies[0]["strategy"]);
    }
}

#[test]
fn a_platform_is_shown_and_drawn() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let picture = directory.path().join("platform.svg");
    let found = answer(
        treepie()
            .arg("show")
            .arg(profile("two-clusters.platform.yaml"))
            .arg("--json")
            .arg("--svg")
            .arg(&picture),
    );
    assert_eq!(found["clusters"].as_array().map(Vec::len), Some(2));
    let drawn = std::fs::read_to_string(picture).expect("the picture");
    assert!(drawn.contains("<svg") && drawn.contains("10 ms"));
}

/// The ranks of this machine are one cluster on one host.
fn this_machine_is_one_host(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let output = directory.path().join("here.platform.yaml");
    let found = answer(
        treepie()
            .env("TREEPIE_PROBE_PROGRAM", artifacts::program(mpi, "probe"))
            .args([
                "probe",
                "--json",
                "--budget",
                "10",
                "--largest",
                "64K",
                "-o",
            ])
            .arg(&output)
            .arg("--")
            .args(mpi.launch(3, &[])),
    );
    assert_eq!(found["ranks"], 3);
    assert_eq!(found["clusters"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        found["clusters"][0]["hosts"].as_array().map(Vec::len),
        Some(1)
    );
    assert!(
        !found["clusters"][0]["levels"]
            .as_array()
            .expect("a list")
            .is_empty()
    );
    assert!(Path::new(&output).exists());
}

under_each_mpi!(this_machine_is_one_host);
