//! Several hosts of several ranks: plans use a host's memory between its own ranks, and messages to
//! all others.

use std::process::Output;

use treepie_tests::permutations::seed;
use treepie_tests::two_clusters::TwoClusters;
use treepie_tests::{Mpi, artifacts, strategies, under_each_mpi};

/// One host, and two others near it, each of two ranks.
const HOSTS: &str = "treepie: grid\nversion: 1\nwan_latency_us: 200\nclusters:\n\
    - {name: a, hosts: 1, latency_us: 50, mbit: 1000, uplink_mbit: 1000}\n\
    - {name: b, hosts: 2, latency_us: 50, mbit: 1000, uplink_mbit: 1000}\n";

/// Runs a job on them, with collectives by `settings` through the memory of hosts.
#[track_caller]
fn run(mpi: Mpi, settings: &str, job: &[&str]) -> Output {
    let grid = TwoClusters::new();
    std::fs::write(grid.file("two.grid.yaml"), HOSTS).expect("a file");
    let settings = format!(
        "TREEPIE_MODE=replay TREEPIE_LOG=info TREEPIE_TRANSPORT=memory \
         TREEPIE_CLUSTERS=0,0,1,1,1,1 {settings}"
    );
    let done = grid.job(&["--ranks", "2"], (mpi, 6), &settings, job);
    assert!(done.status.success(), "{}", told(&done));
    done
}

fn told(done: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}", text(&done.stdout), text(&done.stderr))
}

/// Number of hosts on which memory is shared, from the messages of each.
fn sharing(done: &Output) -> usize {
    told(done)
        .matches("transport: 2 of 6 ranks share the memory of their host")
        .count()
}

fn every_strategy_moves_what_ranks_describe_each_in_its_way(mpi: Mpi) {
    for round in strategies::rounds_under(mpi) {
        // Open MPI's own collectives refuse some of these types.
        let strategies = strategies::of_round_among(round, 6);
        let settings = format!("TREEPIE_COLLECTIVES={strategies}");
        let seed = (seed() + round as u64).to_string();
        let done = run(
            mpi,
            &settings,
            &["collective_types", &seed, "20", "backwards"],
        );
        // Also those of a communicator that the job creates.
        assert!(sharing(&done) >= 3, "{}", told(&done));
    }
}

fn results_stay_right_while_plans_are_tried(mpi: Mpi) {
    let settings = "TREEPIE_COLLECTIVES=auto TREEPIE_GUARD=on";
    let done = run(mpi, settings, &["guarded", "operations", "60"]);
    assert_eq!(String::from_utf8_lossy(&done.stdout), "0 wrong\n");
    assert_eq!(sharing(&done), 3, "{}", told(&done));
}

/// Like a container without shared memory: its ranks send messages, those of others use memory.
fn a_host_without_shared_memory_sends_messages_and_the_others_do_not(mpi: Mpi) {
    let refusals = artifacts::job(mpi, "refusals.so");
    for settings in [
        "TREEPIE_COLLECTIVES=bcast=binomial,allreduce=ring,barrier=dissemination",
        "TREEPIE_COLLECTIVES=auto TREEPIE_GUARD=on",
    ] {
        let settings = format!(
            "LD_PRELOAD={}:{}:$LD_PRELOAD REFUSED=memfd_create REFUSED_ON=2 {settings}",
            artifacts::library().display(),
            refusals.display()
        );
        let done = run(mpi, &settings, &["guarded", "operations", "60"]);
        assert_eq!(String::from_utf8_lossy(&done.stdout), "0 wrong\n");
        assert_eq!(sharing(&done), 2, "{}", told(&done));
        let reason = "the ranks of a host share no memory, messages go through the MPI: ";
        assert!(told(&done).contains(reason), "{}", told(&done));
    }
}

under_each_mpi!(
    every_strategy_moves_what_ranks_describe_each_in_its_way,
    results_stay_right_while_plans_are_tried,
    a_host_without_shared_memory_sends_messages_and_the_others_do_not,
);
