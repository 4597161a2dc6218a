//! The library's ABI descriptors compared with each MPI's own headers.

use treepie_tests::{Job, Library, Mpi, under_each_mpi};

fn every_constant_is_the_one_of_mpi_h(mpi: Mpi) {
    // Two ranks: Open MPI does not create a window for one.
    let outcome = Job::program(mpi, 2, "abi_check").run().succeeded();
    let lines = |start: &str| {
        outcome
            .stdout
            .lines()
            .filter(|line| line.starts_with(start))
            .count()
    };
    assert_eq!(lines("DIFFERENT"), 0, "{}", outcome.told());
    assert!(lines("same") >= 2 * 23, "{}", outcome.told());
}

/// A program linked to the MPI through mpi-sys also runs with the library.
fn a_program_of_mpi_sys_runs_with_the_library(mpi: Mpi) {
    let outcome = Job::program(mpi, 2, "overhead")
        .argument("isend-self")
        .argument("1")
        .argument("100")
        .with(Library::Permuted(vec![1, 0]))
        .run()
        .succeeded()
        .silent();
    assert_eq!(outcome.stdout.lines().count(), 1, "{}", outcome.told());
}

under_each_mpi!(
    every_constant_is_the_one_of_mpi_h,
    a_program_of_mpi_sys_runs_with_the_library
);
