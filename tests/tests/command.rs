//! The main job through the command: profile, map, replay, compare.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use treepie_placement::file::PlacementFile;
use treepie_profile::Profile;
use treepie_tests::{
    Job, Mpi, Outcome, artifacts, assert_same_output, run_watched, under_each_mpi,
};

const RANKS: usize = 16;
const MACHINE: &str = "4:2:2";

/// Runs `treepie` with these words.
fn treepie(words: &[&str]) -> Outcome {
    let mut command = Command::new(artifacts::command());
    command.args(words);
    run_watched(
        command,
        Duration::from_secs(60),
        &format!("treepie {}", words.join(" ")),
    )
}

fn halo(mpi: Mpi) -> Job {
    Job::new(mpi, RANKS, "halo2d").argument("16").argument("10")
}

/// Puts `treepie WORDS --` in front of a job.
fn under(job: Job, words: &[&str]) -> Outcome {
    let command = artifacts::command();
    let mut all = vec![command.display().to_string()];
    all.extend(words.iter().map(|&word| word.to_owned()));
    all.push("--".to_owned());
    job.under(all).run()
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[track_caller]
fn json(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("no JSON: {error}: {}", outcome.told()))
}

/// Profile, map and replay give a job that prints the same, sends the same, and sends less over the
/// network; the prediction equals the measurement.
fn the_main_job_keeps_its_output_and_crosses_the_network_less(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let file = |name: &str| -> PathBuf { directory.path().join(name) };
    let (before, placement, after) = (
        file("before.profile.yaml"),
        file("halo.placement.yaml"),
        file("after.profile.yaml"),
    );
    let plain = halo(mpi).run().succeeded();

    let profiled = under(halo(mpi), &["profile", "-o", &text(&before)]);
    assert_same_output(&plain, &profiled);

    let mapped = treepie(&[
        "map",
        &text(&before),
        "--topology",
        MACHINE,
        "-o",
        &text(&placement),
        "--json",
    ])
    .succeeded();
    let mapped = json(&mapped);
    let file_of_placement =
        PlacementFile::read(&placement).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(file_of_placement.ranks, RANKS);
    assert!(
        mapped["cost"]["placement"].as_f64() < mapped["cost"]["identity"].as_f64(),
        "{mapped}"
    );

    let replayed = under(
        halo(mpi),
        &["replay", &text(&placement), "-o", &text(&after)],
    );
    assert_same_output(&plain, &replayed);

    let (one, other) = (read(&before), read(&after));
    assert_eq!(
        one.point_to_point, other.point_to_point,
        "the replayed job sends the same"
    );
    for (process, rank) in file_of_placement.permutation.iter_enumerated() {
        assert_eq!(other.process_of_rank[*rank], process);
    }

    let picture = file("halo.svg");
    let compared = treepie(&[
        "compare",
        &text(&before),
        &text(&after),
        "--topology",
        MACHINE,
        "-o",
        &text(&picture),
        "--json",
    ])
    .succeeded();
    let compared = json(&compared);
    assert_eq!(
        compared["levels"], mapped["levels"],
        "measured and predicted"
    );
    assert_eq!(compared["cost"]["after"], mapped["cost"]["placement"]);
    let drawn = std::fs::read_to_string(&picture).expect("a picture was asked for");
    assert!(drawn.contains("<svg"), "{}", &drawn[..drawn.len().min(200)]);
}

#[track_caller]
fn read(path: &Path) -> Profile {
    Profile::read(path).unwrap_or_else(|error| panic!("{error}"))
}

/// The command returns the status of the job that it runs.
fn the_exit_status_is_the_jobs(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let profile = directory.path().join("job.profile.yaml");
    let job = Job::new(mpi, 3, "abort").argument("1").argument("9");
    let outcome = under(job, &["profile", "-o", &text(&profile)]);
    assert_eq!(outcome.status.code(), Some(9), "{}", outcome.told());
    let outcome = under(
        Job::of(mpi, 2, "sh").argument("-c").argument("exit 5"),
        &["profile", "-o", &text(&profile)],
    );
    assert_eq!(outcome.status.code(), Some(5), "{}", outcome.told());
}

/// Invalid files are refused before a job is started.
fn a_wrong_placement_is_refused_before_the_job_starts(mpi: Mpi) {
    let outcome = under(
        Job::new(mpi, 2, "ring"),
        &["replay", "/no/such/placement.yaml"],
    );
    assert!(!outcome.status.success(), "{}", outcome.told());
    assert_eq!(outcome.stdout, "");
    assert!(
        outcome.stderr.contains("/no/such/placement.yaml"),
        "{}",
        outcome.told()
    );
    assert_eq!(
        outcome.stderr.trim_end().lines().count(),
        1,
        "{}",
        outcome.told()
    );
}

#[test]
fn a_machine_with_too_few_cores_is_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let matrix = directory.path().join("four.txt");
    std::fs::write(&matrix, "0 1 2 3\n1 0 4 5\n2 4 0 6\n3 5 6 0\n")
        .expect("the directory is writable");
    let outcome = treepie(&["map", &text(&matrix), "--topology", "3"]);
    assert!(!outcome.status.success(), "{}", outcome.told());
    assert_eq!(
        outcome.stderr.trim_end().lines().count(),
        1,
        "{}",
        outcome.told()
    );
    assert!(
        outcome.stderr.contains('3') && outcome.stderr.contains('4'),
        "{}",
        outcome.told()
    );
}

#[test]
fn matrices_that_are_wrong_are_refused_with_their_line() {
    for (name, contents, words) in [
        ("wide.txt", "0 1 2\n1 0 2\n", &["wide.txt"][..]),
        ("negative.txt", "0 -1\n1 0\n", &["negative.txt", "-1"]),
        ("letters.txt", "0 x\n1 0\n", &["letters.txt", "x"]),
        ("empty.mtx", "", &["empty.mtx"]),
    ] {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let matrix = directory.path().join(name);
        std::fs::write(&matrix, contents).expect("the directory is writable");
        let outcome = treepie(&["map", &text(&matrix), "--topology", "2:2"]);
        assert_eq!(outcome.status.code(), Some(1), "{}", outcome.told());
        assert_eq!(
            outcome.stderr.trim_end().lines().count(),
            1,
            "{}",
            outcome.told()
        );
        for word in words {
            assert!(
                outcome.stderr.contains(word),
                "'{word}' is not in: {}",
                outcome.stderr
            );
        }
        let left = std::fs::read_dir(directory.path())
            .expect("it is there")
            .count();
        assert_eq!(left, 1, "something was written for {name}");
    }
}

under_each_mpi!(
    the_main_job_keeps_its_output_and_crosses_the_network_less,
    the_exit_status_is_the_jobs,
    a_wrong_placement_is_refused_before_the_job_starts,
);
