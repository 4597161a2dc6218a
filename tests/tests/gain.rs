//! From a slow job on a grid to a placed one, as shown in docs/figures/placement.md: `scripts/bench
//! gain`.

use std::process::Command;
use std::time::Duration;

use treepie_tests::{Mpi, artifacts, run_watched, under_each_mpi};

/// Change of the traffic between clusters by a replay, in a line of `treepie compare` or `treepie
/// map`: the last word but one.
fn change(line: &str) -> Option<f64> {
    line.split_whitespace().rev().nth(1)?.parse().ok()
}

fn on_four_clusters_a_replay_keeps_most_messages_inside_and_seconds_are_compared(mpi: Mpi) {
    let folder = tempfile::tempdir().expect("a temporary directory can be made");
    let mut command = Command::new("bash");
    command
        .arg(artifacts::repository().join("scripts/bench"))
        .args(["gain", mpi.name(), "1000"])
        .env("TREEPIE_GRID_STATE", folder.path().join("grid"));
    let outcome = run_watched(command, Duration::from_secs(120), "scripts/bench gain").succeeded();
    let between = outcome.stdout.lines();
    let between = between.filter(|line| line.starts_with("  between clusters"));
    let changes: Vec<Option<f64>> = between.map(change).collect();
    // The prediction of `map` is the result of `compare` for the two profiles. If other work delays
    // the probe it may find a fifth cluster, and the gain is smaller.
    let most = |change: &Option<f64>| change.is_some_and(|change| change < -50.0);
    assert!(
        changes.len() == 2 && changes.iter().all(most),
        "{}",
        outcome.told()
    );
    assert_eq!(changes[0], changes[1], "{}", outcome.told());
    let timed = outcome.stdout.contains("  from MPI_Init to MPI_Finalize  ");
    assert!(timed, "{}", outcome.told());
    let report = artifacts::repository().join("build/gain").join(mpi.name());
    let report =
        std::fs::read_to_string(report.join("gain.html")).expect("the last step writes it");
    assert!(report.contains("Time, of the rank that took longest"));
}

under_each_mpi!(on_four_clusters_a_replay_keeps_most_messages_inside_and_seconds_are_compared);
