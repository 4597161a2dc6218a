//! What `MPI_Init` and `MPI_Finalize` do more with the library than without: the
//! calls that it makes itself are counted behind it (`own_calls.c`).

use std::collections::BTreeMap;
use treepie_tests::{Job, Library, Mpi, artifacts, under_each_mpi};

const RANKS: usize = 4;

/// How often the library calls what makes communicators or communicates, by all ranks.
#[track_caller]
fn own_calls(mpi: Mpi, variables: &[(&str, &str)]) -> BTreeMap<String, usize> {
    let counter = artifacts::job(mpi, "own_calls.so");
    let both = format!("{}:{}", artifacts::library().display(), counter.display());
    let mut job = Job::new(mpi, RANKS, "ring").with(Library::Absent);
    job = job.variable("LD_PRELOAD", both);
    for (name, value) in variables {
        job = job.variable(name, value);
    }
    let outcome = job.run().succeeded();
    let mut calls = BTreeMap::new();
    for line in outcome.stderr.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["own", "call:", name, count] = words[..] else {
            panic!("{line:?} is no count: {}", outcome.told());
        };
        *calls.entry(name.to_owned()).or_insert(0) += count.parse::<usize>().expect("a number");
    }
    calls
}

fn of_all_ranks<const N: usize>(calls: [(&str, usize); N]) -> BTreeMap<String, usize> {
    let each = |(name, count): (&str, usize)| (format!("PMPI_{name}"), count * RANKS);
    calls.into_iter().map(each).collect()
}

fn off_adds_no_call(mpi: Mpi) {
    assert_eq!(own_calls(mpi, &[("TREEPIE_MODE", "off")]), BTreeMap::new());
}

/// And the broadcast by which all ranks agree on it.
fn a_replay_adds_one_split_and_no_other_communicator(mpi: Mpi) {
    let replay = [
        ("TREEPIE_MODE", "replay"),
        ("TREEPIE_PERMUTATION", "2,0,3,1"),
    ];
    let expected = of_all_ranks([("Comm_split", 1), ("Bcast", 1)]);
    assert_eq!(own_calls(mpi, &replay), expected);
}

/// The profile travels along a tree over a communicator of its own.
fn a_profile_adds_one_split_at_the_end(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let output = directory.path().join("job.profile.yaml");
    let output = output.display().to_string();
    let profile = [("TREEPIE_MODE", "profile"), ("TREEPIE_OUTPUT", &output)];
    let calls = own_calls(mpi, &profile);
    assert_eq!(calls.get("PMPI_Comm_split"), Some(&RANKS), "{calls:?}");
    assert!(
        calls
            .keys()
            .all(|name| !name.contains("_dup") && !name.contains("_create")),
        "{calls:?}"
    );
}

under_each_mpi!(
    off_adds_no_call,
    a_replay_adds_one_split_and_no_other_communicator,
    a_profile_adds_one_split_at_the_end,
);
