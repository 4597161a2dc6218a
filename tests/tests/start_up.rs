//! Additional work of `MPI_Init` and `MPI_Finalize` with the library: its own calls are counted
//! after it (`own_calls.c`).

use std::collections::BTreeMap;
use treepie_tests::{Job, Library, Mpi, artifacts, under_each_mpi};

const RANKS: usize = 4;

/// Number of calls, over all ranks, of procedures that create communicators or communicate, by
/// name.
type Calls = BTreeMap<String, usize>;

/// The library's own calls, in `MPI_Init` and after it.
struct OwnCalls {
    in_init: Calls,
    later: Calls,
}

#[track_caller]
fn own_calls(mpi: Mpi, variables: &[(&str, &str)]) -> OwnCalls {
    let counter = artifacts::job(mpi, "own_calls.so");
    let both = format!("{}:{}", artifacts::library().display(), counter.display());
    let mut job = Job::new(mpi, RANKS, "ring").with(Library::Absent);
    job = job.variable("LD_PRELOAD", both);
    for (name, value) in variables {
        job = job.variable(name, value);
    }
    let outcome = job.run().succeeded();
    let (mut in_init, mut later) = (Calls::new(), Calls::new());
    for line in outcome.stderr.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["own", "call:", name, count, ref when @ ..] = words[..] else {
            panic!("{line:?} is no count: {}", outcome.told());
        };
        let calls = match when {
            ["in", "MPI_Init"] => &mut in_init,
            ["later"] => &mut later,
            _ => panic!("{line:?} does not say when: {}", outcome.told()),
        };
        *calls.entry(name.to_owned()).or_insert(0) += count.parse::<usize>().expect("a number");
    }
    OwnCalls { in_init, later }
}

fn of_all_ranks<const N: usize>(calls: [(&str, usize); N]) -> Calls {
    let each = |(name, count): (&str, usize)| (format!("PMPI_{name}"), count * RANKS);
    calls.into_iter().map(each).collect()
}

fn off_adds_no_call(mpi: Mpi) {
    let calls = own_calls(mpi, &[("TREEPIE_MODE", "off")]);
    assert_eq!(calls.in_init, Calls::new());
    assert_eq!(calls.later, Calls::new());
}

/// Calls by which all ranks agree: a broadcast of the decision, and an allgather of whether all
/// could read it.
const AGREEMENT: [(&str, usize); 2] = [("Bcast", 1), ("Allgather", 1)];

/// Hosts and cores of the processes and the standard input of each, gathered along a tree: a length
/// and a text from each process except one, and whether that succeeded; the required hardware; and
/// the agreement on the result.
fn a_replay_looks_at_its_processes_and_adds_one_split_and_no_other_communicator(mpi: Mpi) {
    let replay = [
        ("TREEPIE_MODE", "replay"),
        ("TREEPIE_PERMUTATION", "2,0,3,1"),
    ];
    let calls = own_calls(mpi, &replay);
    let mut expected = of_all_ranks([("Comm_split", 1), ("Bcast", 3), ("Allgather", 4)]);
    let to_process_0 = 2 * (RANKS - 1);
    expected.insert("PMPI_Send".to_owned(), to_process_0);
    expected.insert("PMPI_Recv".to_owned(), to_process_0);
    assert_eq!(calls.in_init, expected);
    assert_eq!(calls.later, Calls::new());
}

/// `MPI_Init` additionally has the agreement on the mode, and a communicator of the library, over
/// which the profile is gathered along a tree in `MPI_Finalize`.
fn a_profile_adds_one_agreement_and_one_split_at_the_start_and_none_at_the_end(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let output = directory.path().join("job.profile.yaml");
    let output = output.display().to_string();
    let profile = [("TREEPIE_MODE", "profile"), ("TREEPIE_OUTPUT", &output)];
    let calls = own_calls(mpi, &profile);
    let expected = of_all_ranks([("Comm_split", 1), AGREEMENT[0], AGREEMENT[1]]);
    assert_eq!(calls.in_init, expected);
    let later = &calls.later;
    assert!(
        later.keys().all(|name| !name.starts_with("PMPI_Comm_")),
        "{later:?}"
    );
}

under_each_mpi!(
    off_adds_no_call,
    a_replay_looks_at_its_processes_and_adds_one_split_and_no_other_communicator,
    a_profile_adds_one_agreement_and_one_split_at_the_start_and_none_at_the_end,
);
