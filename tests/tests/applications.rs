//! Applications by others: the first tier of `scripts/apps`, which compares their results in modes
//! with those of plain runs. `scripts/test night` runs all, in every mode.

use std::process::Command;
use std::time::Duration;

use treepie_tests::permutations::seed;
use treepie_tests::{Mpi, artifacts, run_watched, under_each_mpi};

/// Modes that a change may break: counting with times and pages, permuted ranks, and replaced
/// collectives.
const MODES: &str = "pages,permute,plans";

fn applications_of_the_first_tier_give_the_same_results_in_every_mode(mpi: Mpi) {
    let mut command = Command::new(artifacts::repository().join("scripts/apps"));
    command
        .args(["--tier", "1", "--plain-once", "--modes", MODES])
        .args(["--mpi", mpi.name(), "--seed", &seed().to_string()]);
    let outcome = run_watched(command, Duration::from_secs(1200), "scripts/apps");
    let outcome = outcome.succeeded();
    println!("{}", outcome.stdout);
    assert!(outcome.stdout.contains("coarrays"), "{}", outcome.told());
}

under_each_mpi!(applications_of_the_first_tier_give_the_same_results_in_every_mode);
