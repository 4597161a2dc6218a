//! Replaced collectives leave what the host's leave: every strategy, on both MPIs.

use std::fmt::Write as _;

use treepie_core::affinity::collective::Operation;
use treepie_core::schedule::Strategy;
use treepie_tests::permutations::{as_list, reversed, seed};
use treepie_tests::{Job, Library, Mpi, assert_same_output, under_all_mpis};

/// Replays nothing but these collectives, with ranks in these clusters.
fn replaced(collectives: &str, clusters: &str) -> Library {
    Library::Set(vec![
        ("TREEPIE_MODE", "replay".into()),
        ("TREEPIE_COLLECTIVES", collectives.into()),
        ("TREEPIE_CLUSTERS", clusters.into()),
    ])
}

/// For each operation its `round`-th strategy, round and round.
fn strategies_of_round(round: usize) -> String {
    let mut list = String::new();
    for operation in Operation::all() {
        let names: Vec<&str> = Strategy::of(operation).map(|s| s.name).collect();
        let comma = if list.is_empty() { "" } else { "," };
        let _ = write!(list, "{comma}{operation}={}", names[round % names.len()]);
    }
    list
}

fn every_strategy_leaves_what_the_host_leaves(mpi: Mpi) {
    let most = Operation::all().map(|operation| Strategy::of(operation).count());
    let arrangements = ["0,1,0,1", "0,0,1,1", "0,1,1,2", "0,0,0,0"];
    for round in 0..most.max().unwrap_or(0) {
        let library = replaced(&strategies_of_round(round), arrangements[round % 4]);
        Job::new(mpi, 4, "collective_equality")
            .argument((seed() + round as u64).to_string())
            .with(library)
            .run()
            .succeeded();
    }
}

fn what_is_chosen_leaves_what_the_host_leaves(mpi: Mpi) {
    let plain = Job::new(mpi, 5, "collectives").run().succeeded();
    for library in [
        replaced("auto", "3,1,3,1,2"),
        Library::Set(vec![
            ("TREEPIE_MODE", "replay".into()),
            ("TREEPIE_PERMUTATION", as_list(&reversed(5))),
            ("TREEPIE_COLLECTIVES", "auto".into()),
            ("TREEPIE_CLUSTERS", "0,0,1,1,1".into()),
            ("TREEPIE_REPRODUCIBLE", "true".into()),
        ]),
    ] {
        let outcome = Job::new(mpi, 5, "collectives").with(library).run().silent();
        assert_same_output(&plain, &outcome);
    }
}

fn settings_that_do_not_fit_give_one_line_and_the_hosts_collectives(mpi: Mpi) {
    for (collectives, clusters, line) in [
        (
            "bcast=fastest",
            "0,0,1",
            "collectives: bcast has no strategy `fastest`; known are host, auto, flat, ",
        ),
        (
            "auto",
            "0,1",
            "clusters: 2 ranks have a cluster, and the job has 3 ranks; give one number for each rank",
        ),
    ] {
        let job = Job::new(mpi, 3, "collectives").with(replaced(collectives, clusters));
        let outcome = job.run().succeeded();
        let told: Vec<&str> = outcome
            .stderr
            .lines()
            .filter(|line| line.starts_with("treepie: "))
            .collect();
        assert_eq!(told.len(), 1, "{}", outcome.told());
        assert!(told[0].contains(line), "{}", outcome.told());
    }
}

under_all_mpis!(
    every_strategy_leaves_what_the_host_leaves,
    what_is_chosen_leaves_what_the_host_leaves,
    settings_that_do_not_fit_give_one_line_and_the_hosts_collectives,
);
