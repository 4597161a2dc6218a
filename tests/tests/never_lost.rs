//! Jobs that do not reach `MPI_Finalize` leave their counts.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use treepie_base::{Cluster, Rank};
use treepie_collective::Record;
use treepie_profile::{Profile, partial_profiles};
use treepie_tests::{Job, Library, Mpi, Outcome, artifacts, under_each_mpi};
use treepie_traffic::Traffic;

const RANKS: usize = 3;

fn directory() -> TempDir {
    tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary directory: {error}"))
}

/// The job `endings`, which ends in this way.
fn ending(mpi: Mpi, how: &str, output: &Path) -> Job {
    Job::new(mpi, RANKS, "endings")
        .argument(how)
        .with(Library::Profile(output.to_owned()))
}

/// The counts of all ranks before they ended.
#[track_caller]
fn assert_counted(profile: &Profile, told: &str) {
    let right = (0..RANKS).map(|rank| (rank, (rank + 1) % RANKS, Traffic::new(5, 500)));
    let found: Vec<_> = profile
        .point_to_point
        .entries()
        .filter(|(from, ..)| !profile.missing_ranks.contains(&Rank(*from)))
        .collect();
    let expected: Vec<_> = right
        .filter(|(from, ..)| !profile.missing_ranks.contains(&Rank(*from)))
        .collect();
    assert_eq!(found, expected, "{told}");
    assert!(!profile.mpi.standard.is_empty(), "{told}");
}

#[track_caller]
fn merged(output: &Path, outcome: &Outcome) -> Profile {
    let directory = partial_profiles::directory_of(output);
    match partial_profiles::read_directory(&directory) {
        Ok(merged) => merged.profile,
        Err(error) => panic!("{error}\n{}", outcome.told()),
    }
}

fn every_rank_leaves_its_part_however_the_job_ends(mpi: Mpi) {
    for how in ["abort", "fatal", "exit", "quick-exit", "term", "interrupt"] {
        let directory = directory();
        let output = directory.path().join("lost.profile.yaml");
        let outcome = ending(mpi, how, &output).run();
        assert!(!outcome.status.success(), "{}", outcome.told());
        assert!(!output.exists(), "{}", outcome.told());
        let profile = merged(&output, &outcome);
        // Ranks that are interrupted together may be killed before they can write.
        if how != "interrupt" {
            assert_eq!(profile.missing_ranks, [], "{how}: {}", outcome.told());
            assert_eq!(profile.collectives.len(), 2, "{how}: {}", outcome.told());
        }
        assert_counted(&profile, how);
    }
}

/// If plans ran collectives, partial profiles have the plans and the clusters.
fn partial_profiles_of_a_replaced_run_have_its_plans(mpi: Mpi) {
    let directory = directory();
    let output = directory.path().join("lost.profile.yaml");
    let settings = [
        ("TREEPIE_MODE", "replay"),
        (
            "TREEPIE_COLLECTIVES",
            "barrier=grid-exchange,allreduce=grid-flat,bcast=grid-flat",
        ),
        ("TREEPIE_CLUSTERS", "0,1,1"),
        ("TREEPIE_OUTPUT", &output.display().to_string()),
    ];
    let settings = settings.map(|(name, value)| (name, value.to_owned()));
    let outcome = Job::new(mpi, RANKS, "endings")
        .argument("abort")
        .with(Library::Set(settings.to_vec()))
        .run();
    let profile = merged(&output, &outcome);
    assert_eq!(profile.missing_ranks, [], "{}", outcome.told());
    let planned = |record: &Record| record.plan.is_some();
    assert!(
        profile.collectives.iter().all(planned),
        "{:?}",
        profile.collectives
    );
    assert_eq!(profile.collectives.len(), 2, "{}", outcome.told());
    let clusters = profile
        .locality
        .as_ref()
        .map(|known| known.cluster_of_rank());
    assert_eq!(clusters, Some(Cluster::list([0, 1, 1])));
    profile
        .check(&output)
        .unwrap_or_else(|error| panic!("{error}"));
}

/// A handler that the application set before `MPI_Init` runs after the partial profile is
/// written.
fn the_handler_of_the_application_runs_too(mpi: Mpi) {
    let directory = directory();
    let output = directory.path().join("lost.profile.yaml");
    let outcome = ending(mpi, "handler", &output).run();
    assert!(outcome.stdout.contains("handled"), "{}", outcome.told());
    let profile = merged(&output, &outcome);
    assert_eq!(profile.missing_ranks, [], "{}", outcome.told());
    assert_counted(&profile, "handler");
}

/// SIGKILL leaves no time to write: only earlier checkpoints exist.
fn a_checkpoint_survives_sigkill(mpi: Mpi) {
    let directory = directory();
    let output = directory.path().join("lost.profile.yaml");
    let outcome = ending(mpi, "kill", &output)
        .variable("TREEPIE_SAVE_EVERY", "0.2")
        .run();
    assert!(!outcome.status.success(), "{}", outcome.told());
    let profile = merged(&output, &outcome);
    assert_eq!(profile.missing_ranks, [], "{}", outcome.told());
    assert_counted(&profile, "kill");
}

/// Partial profiles of an earlier run and checkpoints of this one are removed when a complete
/// profile exists.
fn a_job_that_ends_well_leaves_its_profile_and_no_partial_ones(mpi: Mpi) {
    let directory = directory();
    let output = directory.path().join("whole.profile.yaml");
    ending(mpi, "abort", &output).run();
    let partial = partial_profiles::directory_of(&output);
    assert!(partial.exists());
    ending(mpi, "well", &output)
        .variable("TREEPIE_SAVE_EVERY", "0.01")
        .run()
        .succeeded()
        .silent();
    let profile = Profile::read(&output).unwrap_or_else(|error| panic!("{error}"));
    assert_counted(&profile, "well");
    assert!(!partial.exists());
}

/// The command merges the ranks' partial profiles, and reports it.
fn the_command_makes_a_profile_of_the_parts(mpi: Mpi) {
    let directory = directory();
    let output = directory.path().join("lost.profile.yaml");
    let words: Vec<PathBuf> = vec![
        artifacts::command(),
        "profile".into(),
        "-o".into(),
        output.clone(),
        "--".into(),
    ];
    let outcome = Job::new(mpi, RANKS, "endings")
        .argument("abort")
        .under(words)
        .run();
    assert!(!outcome.status.success(), "{}", outcome.told());
    let said = outcome.messages().join("\n");
    assert!(
        said.contains("did not reach MPI_Finalize"),
        "{}",
        outcome.told()
    );
    let profile = Profile::read(&output).unwrap_or_else(|error| panic!("{error}"));
    assert_counted(&profile, "abort");
    assert!(!partial_profiles::directory_of(&output).exists());
}

under_each_mpi!(
    every_rank_leaves_its_part_however_the_job_ends,
    partial_profiles_of_a_replaced_run_have_its_plans,
    the_handler_of_the_application_runs_too,
    a_checkpoint_survives_sigkill,
    a_job_that_ends_well_leaves_its_profile_and_no_partial_ones,
    the_command_makes_a_profile_of_the_parts,
);
