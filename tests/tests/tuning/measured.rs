//! Measurements of `treepie tune` on two ranks.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use treepie_collective::{Algorithm, Operation};
use treepie_native::knobs::{Knob, Library as Version};
use treepie_native::tuning::file::TuningFile;
use treepie_tests::{Job, Library, Mpi, Outcome, artifacts, run_watched};

use super::{LIMIT, version_of};

/// `treepie tune` with these words and two ranks; its files are in `output`.
#[track_caller]
fn tune(mpi: Mpi, words: &[&str], output: &Path) -> Outcome {
    let mut command = Command::new(artifacts::command());
    command
        .env("TREEPIE_LIBRARY", artifacts::library())
        .env("TREEPIE_LOG", "info")
        .arg("tune")
        .args(words)
        .arg("-o")
        .arg(output)
        .arg("--")
        .args(mpi.launch(2, &[]));
    run_watched(command, LIMIT, "treepie tune").succeeded()
}

pub fn tune_measures_each_algorithm_and_writes_what_the_mpi_reads(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let output = directory.path().join("tuned");
    let options = [
        "--json",
        "--collectives",
        "bcast,scan",
        "--sizes",
        "8",
        "--time-limit",
        "10",
    ];
    let outcome = tune(mpi, &options, &output);
    let file = TuningFile::read(&output.join("tuning.yaml")).expect("a tuning");
    let expected: Version = version_of(mpi).parse().expect("a known version");
    assert!(file.library.is_like(expected), "{}", file.library);
    let answer: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(answer["rows"].as_array().map(Vec::len), Some(2));
    for row in &file.rows {
        // Each plan that supports two ranks of a host was run by the library.
        let plans = Algorithm::of(row.operation);
        let plans = plans.filter(|plan| plan.is_by_rank() && plan.allows(2));
        let names: Vec<&str> = plans.map(|plan| plan.name).collect();
        for name in &names {
            let of = format!("treepie: {} of 8 bytes on 2 ranks in ", row.operation);
            let lines = outcome.stderr.lines().filter(|line| line.starts_with(&of));
            let ran = lines.filter(|line| line.contains(&format!(": {name}, in messages")));
            assert!(ran.count() > 0, "{of}{name}: {}", outcome.told());
        }
        assert!(row.plans.keys().eq(names.iter().collect::<BTreeSet<_>>()));
        let knobs = file.library.knobs(row.operation);
        // Open MPI only reads invalid algorithms when it starts.
        let is_measured = |knob: &&Knob| knob.allows(2) && file.library.controls(knob).is_some();
        let allowed = knobs.iter().filter(is_measured).count();
        let measured = row.others.len() + usize::from(row.algorithm.is_some());
        assert_eq!(measured, allowed, "{row:?}");
        assert!(
            row.algorithm.is_none() || row.seconds < row.native_seconds,
            "{row:?}"
        );
    }
    let picture = std::fs::read_to_string(output.join("tuning.svg")).expect("the picture");
    assert!(picture.contains("<svg"));
    let is_told = output.join("tuned.sh").exists();
    assert!(!is_told || file.gains().count() > 0);
}

/// Sizes and operations of the job, and no others.
pub fn what_a_profile_has_is_measured(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let profile = directory.path().join("calls.profile.yaml");
    Job::new(mpi, 2, "collective_calls")
        .argument("allreduce:2")
        .argument("bcast:256")
        .with(Library::Set(vec![
            ("TREEPIE_MODE", "profile".into()),
            ("TREEPIE_OUTPUT", profile.display().to_string()),
        ]))
        .run()
        .succeeded();
    let output = directory.path().join("tuned");
    let profile = profile.display().to_string();
    tune(mpi, &[&profile, "--time-limit", "4", "-q"], &output);
    let file = TuningFile::read(&output.join("tuning.yaml")).expect("a tuning");
    let rows = file.rows.iter();
    let measured: BTreeSet<(Operation, usize, u64)> = rows
        .map(|row| (row.operation, row.ranks, row.from_bytes))
        .collect();
    let expected = [(Operation::Allreduce, 2, 8), (Operation::Bcast, 2, 1024)];
    assert_eq!(measured, BTreeSet::from(expected));
}
