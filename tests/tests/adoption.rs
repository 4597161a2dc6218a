//! Plans that the guard adopts, and takes back, while a job calls every blocking collective
//! thousands of times, with data of 8 bytes to 64 KiB: all results stay right. Times pass by a
//! clock of the job's own (`slow_native.c`), so that adoption does not depend on the machine.

use std::time::Duration;

use treepie_collective::Operation;
use treepie_guard::State;
use treepie_profile::{GuardedCell, Profile};
use treepie_tests::{Job, Library, Mpi, artifacts, longer, under_all_mpis};

/// Bytes of a call, and rounds with each: half as many again follow when the MPI's own are faster.
const SHORT: (&[&str], [&str; 2]) = (&["8", "1024", "65536"], ["1200", "3000"]);
const NIGHT: (&[&str], [&str; 2]) = (
    &["8", "64", "512", "4096", "16384", "65536"],
    ["4000", "8000"],
);

/// A job of 2,700 to 8,100 calls of each collective; at night, of 36,000 or more.
fn run(mpi: Mpi, sizes: &[&str], rounds: &str) -> Vec<GuardedCell> {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("repeated.profile.yaml");
    let slow = artifacts::job(mpi, "slow_native.so");
    let job = Job::new(mpi, 4, "repeated").argument(rounds);
    let job = sizes.iter().fold(job, |job, &bytes| job.argument(bytes));
    let outcome = job
        .with(Library::Set(vec![
            ("TREEPIE_MODE", "replay".into()),
            ("TREEPIE_COLLECTIVES", "auto".into()),
            ("TREEPIE_CLUSTERS", "0,0,1,1".into()),
            ("TREEPIE_GUARD", "on".into()),
            ("TREEPIE_OUTPUT", path.display().to_string()),
        ]))
        .variable(
            "LD_PRELOAD",
            format!("{}:{}", artifacts::library().display(), slow.display()),
        )
        .limit(Duration::from_secs(900))
        .run();
    let outcome = outcome.succeeded().silent();
    assert_eq!(outcome.stdout, "0 wrong\n", "{}", outcome.told());
    let profile = Profile::read(&path).unwrap_or_else(|error| panic!("{error}"));
    profile.guard
}

/// The blocking collectives without a plan that was adopted, and withdrawn after the change.
fn never_switched(cells: &[GuardedCell]) -> Vec<Operation> {
    let is_switched = |operation: &Operation| {
        let mut cells = cells.iter().filter(|cell| cell.operation == *operation);
        cells.any(|cell| cell.state == State::TakenBack)
    };
    Operation::all().filter(|one| !is_switched(one)).collect()
}

fn results_stay_right_while_plans_are_adopted_and_taken_back(mpi: Mpi) {
    let (sizes, rounds) = match cfg!(feature = "all-mpis") {
        true => NIGHT,
        false => SHORT,
    };
    let run = |rounds: &str| run(mpi, sizes, rounds);
    let cells = longer(&rounds, run, |cells| never_switched(cells).is_empty());
    assert_eq!(never_switched(&cells), [], "{cells:#?}");
}

under_all_mpis!(results_stay_right_while_plans_are_adopted_and_taken_back);
