//! The end of a job that some rank never reaches: the library does not wait for it for ever.

use std::time::Duration;

use treepie_profile::partial_profiles;
use treepie_tests::{Job, Library, Mpi};

const RANKS: usize = 3;

/// Open MPI's launcher has an option to let the others continue if a rank has ended. Its own
/// `MPI_Finalize` then waits for that rank for ever in some runs, MPICH's in all.
#[test]
fn ranks_that_one_never_joins_in_finalize_leave_partial_profiles() {
    let desk = tempfile::tempdir().expect("a temporary directory can be made");
    let output = desk.path().join("a.profile.yaml");
    let tolerant = [
        "env",
        "OMPI_MCA_orte_enable_recovery=1",
        "OMPI_MCA_orte_abort_on_non_zero_status=0",
    ];
    let job = || {
        Job::new(Mpi::OpenMpi, RANKS, "endings")
            .argument("missing")
            .under(tolerant)
            .limit(Duration::from_secs(60))
    };
    job().run().succeeded();
    let outcome = job()
        .with(Library::Profile(output.clone()))
        .run()
        .succeeded();
    let says = "process 2 did not answer process 0 for 20 s; what each rank counted is in ";
    let lines = outcome
        .stderr
        .lines()
        .filter(|line| line.contains("treepie:"));
    let lines: Vec<&str> = lines.collect();
    assert!(
        matches!(lines[..], [line] if line.contains(says)),
        "{}",
        outcome.told()
    );
    let left = partial_profiles::read_directory(&partial_profiles::directory_of(&output));
    let left = left.unwrap_or_else(|error| panic!("{error}: {}", outcome.told()));
    // The rank that ended has reported its counts, too.
    assert_eq!(left.profile.missing_ranks, []);
}
