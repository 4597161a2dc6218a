//! MPICH's own test programs of non-blocking, persistent and neighbourhood collectives: plans pass
//! them, under every MPI. `scripts/setup-mpis mpich-suite` installs them.
#![cfg(feature = "all-mpis")]

use std::time::Duration;

use treepie_tests::permutations::seed;
use treepie_tests::random_programs::in_turn;
use treepie_tests::strategies::{direct, of_round, replaced, rounds};
use treepie_tests::{Job, Library, Mpi, artifacts, under_all_mpis};

/// `nonblocking3` starts 100,000 collectives: minutes beside other work.
const LIMIT: Duration = Duration::from_secs(1800);

/// Programs, and numbers of ranks, from MPICH's list of its tests.
const STARTED: [(&str, &[usize]); 5] = [
    ("nonblocking", &[4, 5, 10]),
    ("nonblocking2", &[1, 4, 5, 10]),
    ("nonblocking3", &[4, 5]),
    ("iallred", &[2]),
    ("ibarrier", &[2]),
];

const NEIGHBOURS: [(&str, &[usize]); 6] = [
    ("neighb_allgather", &[4]),
    ("neighb_allgatherv", &[4]),
    ("neighb_alltoall", &[4]),
    ("neighb_alltoallv", &[4]),
    ("neighb_alltoallw", &[4]),
    ("ring_neighbor_alltoall", &[1, 2]),
];

const PERSISTENT: [(&str, &[usize]); 24] = [
    ("p_allgather", &[10]),
    ("p_allgatherv", &[10]),
    ("p_allred", &[4]),
    ("p_alltoall", &[8]),
    ("p_alltoallv", &[10]),
    ("p_alltoallw", &[10]),
    ("p_barrier", &[2]),
    ("p_bcast", &[4]),
    ("p_bcast2", &[8]),
    ("p_exscan", &[5]),
    ("p_gather", &[4]),
    ("p_gatherv", &[5]),
    ("p_neighb_allgather", &[4]),
    ("p_neighb_allgatherv", &[4]),
    ("p_neighb_alltoall", &[4]),
    ("p_neighb_alltoallv", &[4]),
    ("p_neighb_alltoallw", &[4]),
    ("p_order", &[2]),
    ("p_red", &[4]),
    ("p_red_scat_block", &[4]),
    ("p_redscat", &[4]),
    ("p_scan", &[4]),
    ("p_scatter", &[4]),
    ("p_scatterv", &[4]),
];

/// These two keep datatypes in `int`s, which hold them in the MPICH family alone.
fn is_left_out(mpi: Mpi, name: &str) -> bool {
    let has_wide_handles = mpi.is_open_mpi() || mpi == Mpi::StandardAbi;
    has_wide_handles && ["nonblocking2", "nonblocking3"].contains(&name)
}

/// Runners of the collectives of a program: the MPI, plans whose messages wait for none, chosen
/// plans; and if the MPI calls us, every algorithm. The longest program has those of one round, a
/// different one each time.
fn runners(mpi: Mpi, name: &str) -> Vec<Option<String>> {
    let mut all = vec![None, Some(direct()), Some("auto".to_owned())];
    if mpi.calls_us() {
        let first = seed() as usize % rounds();
        let taken = if name == "nonblocking3" { 1 } else { rounds() };
        let rounds = (0..taken).map(|next| (first + next) % rounds());
        all.extend(rounds.map(|round| Some(of_round(round))));
    }
    all
}

/// These programs find no error, whether plans or the MPI run their collectives.
fn pass(mpi: Mpi, programs: &[(&str, &[usize])]) {
    for &(name, counts) in programs.iter().filter(|(name, _)| !is_left_out(mpi, name)) {
        for &ranks in counts {
            let clusters = in_turn(ranks, 2);
            for collectives in runners(mpi, name) {
                let library = match &collectives {
                    Some(collectives) => replaced(collectives, &clusters),
                    None => Library::Absent,
                };
                let program = artifacts::job(mpi, &format!("mpich-suite/{name}"));
                let outcome = Job::of(mpi, ranks, program)
                    .with(library)
                    .limit(LIMIT)
                    .run();
                let outcome = outcome.succeeded();
                assert!(
                    outcome.stdout.contains("No Errors"),
                    "{name} on {ranks}, {collectives:?}: {}",
                    outcome.told()
                );
            }
        }
    }
}

fn mpichs_programs_of_non_blocking_collectives_pass(mpi: Mpi) {
    pass(mpi, &STARTED);
}

fn mpichs_programs_of_neighbourhood_collectives_pass(mpi: Mpi) {
    pass(mpi, &NEIGHBOURS);
}

fn mpichs_programs_of_persistent_collectives_pass(mpi: Mpi) {
    // Open MPI 4 has them under other names.
    if mpi != Mpi::OpenMpi {
        pass(mpi, &PERSISTENT);
    }
}

under_all_mpis!(
    mpichs_programs_of_non_blocking_collectives_pass,
    mpichs_programs_of_neighbourhood_collectives_pass,
    mpichs_programs_of_persistent_collectives_pass,
);
