//! Jobs of random programs, which are legal by construction and say whether all was right.

use crate::permutations::{as_list, seed};
use crate::{Job, Mpi};

/// More of a number where all MPIs are tested.
pub fn many(few: usize, all: usize) -> String {
    let number = if cfg!(feature = "all-mpis") { all } else { few };
    number.to_string()
}

/// The job `name` on so many ranks, with a seed that is told.
pub fn programs(mpi: Mpi, ranks: usize, name: &str) -> Job {
    Job::new(mpi, ranks, name).argument((seed() + 1000 * ranks as u64).to_string())
}

/// Runs a job of which all must be right.
#[track_caller]
pub fn is_right(job: Job) {
    let outcome = job.run().succeeded();
    assert_eq!(outcome.stdout, "0 wrong\n", "{}", outcome.told());
}

/// Clusters of ranks that are dealt out in turn.
pub fn in_turn(ranks: usize, clusters: usize) -> String {
    as_list(&(0..ranks).map(|rank| rank % clusters).collect::<Vec<_>>())
}
