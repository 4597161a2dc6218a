//! What `scripts/install` installs works where it is put, and after it is moved.

use std::path::Path;
use std::process::Command;
use std::time::Duration;
use treepie_tests::{Mpi, Outcome, artifacts, run_watched, under_each_mpi};

fn run(words: &[&str], directory: &Path) -> Outcome {
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .current_dir(directory)
        .env_remove("TREEPIE_LIBRARY");
    run_watched(command, Duration::from_secs(60), &words.join(" "))
}

fn a_job_is_profiled_from_an_installed_tree_that_was_moved(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let at = |name: &str| directory.path().join(name).display().to_string();
    let script = artifacts::repository().join("scripts/install");
    let script = script.display().to_string();
    run(&[&script, "--prefix", &at("first")], directory.path()).succeeded();
    std::fs::rename(at("first"), at("second")).expect("it is a directory of ours");
    for file in [
        "lib/treepie/libtreepie_hwloc.so",
        "share/man/man1/treepie-replay.1",
        "share/bash-completion/completions/treepie",
        "share/doc/treepie/LD_PRELOAD.md",
        "share/treepie/profiles/4x2x2.topology.yaml",
    ] {
        let path = directory.path().join("second").join(file);
        assert!(path.is_file(), "{} is missing", path.display());
    }
    let outcome = run(
        &[
            &at("second/bin/treepie"),
            "profile",
            "-o",
            "app.profile.yaml",
            "--",
            &mpi.launcher().display().to_string(),
            "-n",
            "2",
            &artifacts::job(mpi, "where").display().to_string(),
        ],
        directory.path(),
    )
    .succeeded();
    assert!(
        directory.path().join("app.profile.yaml").is_file(),
        "{}",
        outcome.told()
    );
}

#[test]
fn a_directory_that_cannot_be_preloaded_from_is_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let script = artifacts::repository().join("scripts/install");
    let script = script.display().to_string();
    let outcome = run(&[&script, "--prefix", "/tmp/a place"], directory.path());
    assert!(!outcome.status.success());
    let said = "LD_PRELOAD cannot hold a path with a space or a colon";
    assert!(outcome.stderr.contains(said), "{}", outcome.told());
}

under_each_mpi!(a_job_is_profiled_from_an_installed_tree_that_was_moved);
