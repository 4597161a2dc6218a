//! Jobs of random programs, which are legal by construction and check their results.

use crate::permutations::{as_list, seed};
use crate::{Job, Mpi};

/// Formats a larger number if all MPIs are tested.
pub fn many(few: usize, all: usize) -> String {
    let number = if cfg!(feature = "all-mpis") { all } else { few };
    number.to_string()
}

/// The job `name` on this number of ranks, with a seed that is printed.
pub fn programs(mpi: Mpi, ranks: usize, name: &str) -> Job {
    Job::new(mpi, ranks, name).argument((seed() + 1000 * ranks as u64).to_string())
}

/// Runs a job whose results must all be right.
#[track_caller]
pub fn is_right(job: Job) {
    let outcome = job.run().succeeded();
    assert_eq!(outcome.stdout, "0 wrong\n", "{}", outcome.told());
}

/// Clusters to which ranks are assigned round-robin.
pub fn in_turn(ranks: usize, clusters: usize) -> String {
    as_list(&(0..ranks).map(|rank| rank % clusters).collect::<Vec<_>>())
}
