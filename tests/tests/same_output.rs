//! A program prints the same with and without the library, in each mode and under several
//! permutations.

use tempfile::TempDir;
use treepie_tests::permutations::{as_list, reversed, rotated, seed, shuffled};
use treepie_tests::results::Attempt;
use treepie_tests::strategies::replaced;
use treepie_tests::{
    Job, Library, Mpi, Outcome, assert_same_output, under_all_mpis, under_each_mpi,
};

fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory can be made")
}

/// Every configuration of the library that must not be noticed, for a job of `ranks`.
fn every_use(ranks: usize, directory: &TempDir) -> Vec<Library> {
    let profile = directory.path().join("job.profile.yaml");
    let mut uses = vec![
        Library::Off,
        Library::Profile(profile.clone()),
        Library::Permuted(shuffled(ranks, seed())),
        Library::Permuted(reversed(ranks)),
        // Profiled during a replay.
        Library::Set(vec![
            ("TREEPIE_MODE", "replay".into()),
            ("TREEPIE_PERMUTATION", as_list(&rotated(ranks))),
            ("TREEPIE_OUTPUT", profile.display().to_string()),
        ]),
    ];
    // One rank has only one order.
    if ranks < 2 {
        uses.retain(|library| *library != Library::Permuted(reversed(ranks)));
    }
    uses
}

/// Runs a job plainly and in every configuration of the library.
#[track_caller]
fn prints_the_same(job: &Job, ranks: usize) {
    let directory = directory();
    let plain = job.run().succeeded();
    assert!(!plain.stdout.is_empty(), "{}", plain.told());
    for library in every_use(ranks, &directory) {
        let attempt = Attempt::new(job.mpi(), job.language(), &library.mode(), &job.title());
        let outcome = job.clone().with(library).run().silent();
        assert_same_output(&plain, &outcome);
        attempt.passed();
    }
}

fn the_halo_exchange(mpi: Mpi) {
    let job = Job::new(mpi, 6, "halo2d").argument("16").argument("20");
    prints_the_same(&job, 6);
}

fn all_forms_of_point_to_point(mpi: Mpi) {
    prints_the_same(&Job::new(mpi, 3, "p2p_forms"), 3);
}

/// In place, with user-defined operations, on inter-communicators, without elements, blocking and
/// not.
///
/// PITFALLS: 23 25
fn all_collectives(mpi: Mpi) {
    prints_the_same(&Job::new(mpi, 5, "collectives"), 5);
}

fn a_ring_in_c(mpi: Mpi) {
    prints_the_same(&Job::new(mpi, 4, "ring"), 4);
}

/// Open MPI 6's `mpi_f08` itself determines whether its process is a root.
#[cfg(feature = "all-mpis")]
#[test]
fn ranks_under_open_mpi_6_are_permuted_but_for_those_of_mpi_f08() {
    for name in ["ring.f", "ring.f90"] {
        prints_the_same(&Job::new(Mpi::OpenMpi6, 4, name), 4);
    }
    let job = Job::new(Mpi::OpenMpi6, 4, "ring_f08.f90");
    let plain = job.run().succeeded();
    let outcome = job.with(Library::Permuted(rotated(4))).run().succeeded();
    assert!(
        outcome.stderr.contains("can't be permuted"),
        "{}",
        outcome.told()
    );
    assert_eq!(plain.stdout, outcome.stdout);
}

/// Open MPI's library of the standard ABI, which needs no part of the one that programs in Fortran
/// and Python have.
#[cfg(feature = "all-mpis")]
#[test]
fn jobs_of_open_mpis_standard_abi() {
    let mpi = Mpi::OpenMpi6Abi;
    the_halo_exchange(mpi);
    all_forms_of_point_to_point(mpi);
    all_collectives(mpi);
    a_ring_in_c(mpi);
}

fn a_ring_in_fortran_77(mpi: Mpi) {
    prints_the_same(&Job::new(mpi, 4, "ring.f"), 4);
}

/// Names that are bound while the process starts: always if libraries are linked with `-z now`.
fn a_ring_whose_names_are_all_bound_at_the_start(mpi: Mpi) {
    let job = Job::new(mpi, 4, "ring.f").variable("LD_BIND_NOW", 1);
    prints_the_same(&job, 4);
}

fn a_ring_in_fortran_90(mpi: Mpi) {
    prints_the_same(&Job::new(mpi, 4, "ring.f90"), 4);
}

/// PITFALLS: 24
fn a_ring_in_fortran_2008(mpi: Mpi) {
    prints_the_same(&Job::new(mpi, 4, "ring_f08.f90"), 4);
}

fn a_ring_in_python(mpi: Mpi) {
    prints_the_same(&Job::python(mpi, 4, "ring"), 4);
}

fn a_job_of_one_rank(mpi: Mpi) {
    prints_the_same(&Job::new(mpi, 1, "collectives"), 1);
}

/// An abort is passed on: its status, and the rank that aborted. There is no complete profile of
/// it, only the ranks' partial profiles.
fn an_abort(mpi: Mpi) {
    let directory = directory();
    let job = Job::new(mpi, 3, "abort").argument("1").argument("9");
    let plain = job.run();
    assert_eq!(plain.status.code(), Some(9), "{}", plain.told());
    for library in every_use(3, &directory) {
        let outcome = job.clone().with(library).run();
        assert_same_output(&plain, &outcome);
        let left: Vec<_> = std::fs::read_dir(directory.path())
            .expect("it is there")
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| !name.ends_with(".profile.yaml.parts"))
            .collect();
        assert!(left.is_empty(), "an aborted job left {left:?}");
    }
}

/// Through entry points, stand-ins of a replay, and plans that replace a collective.
fn exceptions_that_error_handlers_throw(mpi: Mpi) {
    let job = Job::new(mpi, 4, "exceptions.cpp");
    prints_the_same(&job, 4);
    let directory = directory();
    let watched = Library::Profile(directory.path().join("job.profile.yaml"));
    let plain = job.run().succeeded();
    let others = [
        job.clone()
            .with(watched)
            .variable("TREEPIE_PAGES", directory.path().join("pages").display()),
        job.clone().with(replaced("auto", "0,1,0,1")),
        job.with(replaced("auto", "0,1,0,1"))
            .variable("TREEPIE_PERMUTATION", "2,3,1,0"),
    ];
    for job in others {
        assert_same_output(&plain, &job.run().succeeded().silent());
    }
}

/// Children have another world, which the parents' permutation does not fit:
/// they run plainly, and their parents permuted. (Debian's MPICH cannot spawn.)
#[test]
fn a_job_that_spawns_another() {
    let spawn = |library: Library| -> Outcome {
        // Children inherit the variables through the launcher's daemon.
        Job::new(Mpi::OpenMpi, 2, "spawn")
            .with(library)
            .run()
            .succeeded()
    };
    let plain = spawn(Library::Absent);
    for library in [Library::Off, Library::Permuted(vec![1, 0])] {
        assert_same_output(&plain, &spawn(library));
    }
}

under_all_mpis!(
    the_halo_exchange,
    all_forms_of_point_to_point,
    all_collectives,
    a_ring_in_c,
    a_ring_in_python,
    a_job_of_one_rank,
    an_abort,
);

// Open MPI's and MPICH's wheels have no Fortran. An exception leaves the MPI's locks held, if there
// are any.
under_each_mpi!(
    exceptions_that_error_handlers_throw,
    a_ring_in_fortran_77,
    a_ring_whose_names_are_all_bound_at_the_start,
    a_ring_in_fortran_90,
    a_ring_in_fortran_2008,
);

/// Intel MPI's mpi_f08 module is not for the gfortran of Debian 12.
#[cfg(feature = "all-mpis")]
#[test]
fn rings_in_fortran_77_and_90_under_intel_mpi() {
    a_ring_in_fortran_77(Mpi::Intel);
    a_ring_in_fortran_90(Mpi::Intel);
}
