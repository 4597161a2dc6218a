//! A placement applied by binding: each process runs on the core that the placement has for its
//! rank, or nothing is changed at all.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;
use treepie_tests::placements::of_two_ranks;
use treepie_tests::{
    Job, Library, Mpi, Outcome, artifacts, run_watched, under_all_mpis, under_each_mpi,
};

fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory can be made")
}

fn applied(mpi: Mpi, placement: &Path, how: &str, strict: bool) -> Outcome {
    let job = Job::new(mpi, 2, "where").with(Library::Set(vec![
        ("TREEPIE_MODE", "replay".into()),
        ("TREEPIE_PLACEMENT", placement.display().to_string()),
        ("TREEPIE_APPLY", how.into()),
        ("TREEPIE_STRICT", strict.to_string()),
    ]));
    job.run()
}

/// The cores of each rank, as printed by the job itself.
fn cores(outcome: &Outcome) -> Vec<String> {
    let cores = |line: &str| line.split(" cores ").nth(1).map(str::to_owned);
    outcome.stdout.lines().filter_map(cores).collect()
}

fn each_rank_is_bound_to_its_core_and_keeps_its_rank(mpi: Mpi) {
    let directory = directory();
    for assignment in [[0, 1], [1, 0]] {
        let file = of_two_ranks(directory.path(), None, assignment, [0, 1]);
        let outcome = applied(mpi, &file, "bind", true).succeeded();
        let expected: Vec<String> = assignment.iter().map(usize::to_string).collect();
        assert_eq!(cores(&outcome), expected, "{}", outcome.told());
    }
}

fn with_both_processes_are_bound_where_they_are_and_ranks_change(mpi: Mpi) {
    let directory = directory();
    // Rank 0 belongs on core 1, where process 1 is.
    let file = of_two_ranks(directory.path(), None, [1, 0], [0, 1]);
    let outcome = applied(mpi, &file, "both", true).succeeded();
    assert_eq!(cores(&outcome), ["1", "0"], "{}", outcome.told());
}

fn a_core_that_the_launcher_does_not_give_is_refused_by_all(mpi: Mpi) {
    let directory = directory();
    let file = of_two_ranks(directory.path(), None, [0, 1], [0, 1]);
    let text = std::fs::read_to_string(&file).expect("it was written");
    let elsewhere = text.replace("physical: 0,1", "physical: 1000,1001");
    assert_ne!(text, elsewhere, "the file names the numbers of its cores");
    std::fs::write(&file, elsewhere).expect("it can be written");
    let plain = Job::new(mpi, 2, "where").run().succeeded();
    let outcome = applied(mpi, &file, "both", false).succeeded();
    assert_eq!(cores(&outcome), cores(&plain), "{}", outcome.told());
    let said = "process 0 belongs on core 1000";
    assert_eq!(
        outcome.stderr.matches(said).count(),
        1,
        "{}",
        outcome.told()
    );
    let strict = applied(mpi, &file, "both", true);
    assert!(!strict.status.success(), "{}", strict.told());
    assert_eq!(
        strict
            .stdout
            .lines()
            .filter(|l| l.starts_with("rank"))
            .count(),
        0
    );
}

/// `treepie replay --apply launch`: the launcher itself starts each rank on its core.
fn the_launcher_starts_each_rank_on_its_core(mpi: Mpi) {
    let directory = directory();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("Linux tells it");
    let host = host.trim().to_owned();
    for assignment in [[0, 1], [1, 0]] {
        let file = of_two_ranks(directory.path(), None, assignment, [0, 1]);
        let mut words = mpi.environment();
        words.extend([
            artifacts::command().into_os_string(),
            "replay".into(),
            "--apply".into(),
            "launch".into(),
            "--hosts".into(),
            host.clone().into(),
            file.into_os_string(),
            "--".into(),
            mpi.launcher().into_os_string(),
            "-n".into(),
            "2".into(),
            artifacts::job(mpi, "where").into_os_string(),
        ]);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        let what = format!("a launch with a placement under {mpi}");
        let outcome = run_watched(command, Duration::from_secs(60), &what).succeeded();
        let expected: Vec<String> = assignment.iter().map(usize::to_string).collect();
        assert_eq!(cores(&outcome), expected, "{}", outcome.told());
    }
}

under_each_mpi!(
    each_rank_is_bound_to_its_core_and_keeps_its_rank,
    with_both_processes_are_bound_where_they_are_and_ranks_change,
    a_core_that_the_launcher_does_not_give_is_refused_by_all,
);

under_all_mpis!(the_launcher_starts_each_rank_on_its_core);
