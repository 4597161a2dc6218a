//! Communicators with a topology, reordered by Treepie if the program allows it: the results of the
//! program stay the same, and neighbours come closer.

use std::collections::BTreeMap;

use treepie_tests::hosts::Hosts;
use treepie_tests::{Job, Library, Mpi, Outcome, artifacts, under_all_mpis};

const RANKS: usize = 8;
const REORDER: (&str, &str) = ("TREEPIE_REORDER", "graph");

fn job(mpi: Mpi, name: &str) -> Job {
    Job::new(mpi, RANKS, name)
}

fn settings(more: &[(&'static str, &str)]) -> Library {
    let mut all = vec![("TREEPIE_MODE", "replay".to_owned())];
    all.extend(more.iter().map(|&(name, value)| (name, value.to_owned())));
    Library::Set(all)
}

/// Output that must not depend on the order. Launchers pass on lines of different ranks in the
/// order of arrival, and add their own, which begin with a capital or with no letter.
fn results(outcome: &Outcome) -> Vec<&str> {
    let lines = outcome.stdout.lines();
    let is_result = |line: &&str| {
        line.starts_with(|first: char| first.is_lowercase()) && !line.starts_with("order ")
    };
    let mut lines: Vec<&str> = lines.filter(is_result).collect();
    lines.sort_unstable();
    lines
}

/// The world's rank of each node, by the name of the communicator.
fn orders(outcome: &Outcome) -> BTreeMap<String, Vec<usize>> {
    let order = |line: &str| {
        let (name, ranks) = line.strip_prefix("order ")?.split_once(':')?;
        let ranks = ranks.split_whitespace().map(|rank| rank.parse().ok());
        Some((name.to_owned(), ranks.collect::<Option<Vec<usize>>>()?))
    };
    outcome.stdout.lines().filter_map(order).collect()
}

/// The sends of node i to others, in the graphs of the job.
fn neighbours(name: &str, node: usize) -> Vec<(usize, usize)> {
    let next = (node + 1) % RANKS;
    let far = (node + RANKS / 2) % RANKS;
    match name {
        "ring" => vec![(next, 1), ((node + RANKS - 1) % RANKS, 1)],
        "unweighted" => vec![(far, 1), (next, 1)],
        "pairs" => vec![(far, 1)],
        _ => vec![(far, 100), (next, 1)],
    }
}

/// Traffic from host to host, if `host_of` has the host of each process.
fn crossing(name: &str, order: &[usize], host_of: &[usize]) -> usize {
    let nodes = (0..RANKS).flat_map(|node| {
        neighbours(name, node)
            .into_iter()
            .map(move |(to, weight)| (node, to, weight))
    });
    nodes
        .filter(|&(from, to, _)| host_of[order[from]] != host_of[order[to]])
        .map(|(_, _, weight)| weight)
        .sum()
}

/// The jobs in C and Fortran, and the graphs that each makes.
fn jobs(mpi: Mpi) -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let all: [(_, &[_]); 2] = [
        (
            "reordered",
            &["ring", "weighted", "unweighted", "named by others"],
        ),
        ("reordered.f90", &["pairs"]),
    ];
    all.into_iter().take(1 + usize::from(mpi.has_fortran()))
}

fn with_and_without_a_replayed_world_results_stay_the_same(mpi: Mpi) {
    for (name, _) in jobs(mpi) {
        let plain = job(mpi, name).run().succeeded();
        for more in [
            &[REORDER][..],
            &[REORDER, ("TREEPIE_PERMUTATION", "3,1,2,0,7,6,5,4")],
        ] {
            let reordered = job(mpi, name)
                .with(settings(more))
                .run()
                .succeeded()
                .silent();
            assert_eq!(results(&reordered), results(&plain), "{}", reordered.told());
        }
    }
}

/// Two hosts, over which the launcher distributes the ranks in blocks: the graphs need another
/// order.
fn neighbours_come_to_the_same_host(mpi: Mpi) {
    let hosts = Hosts {
        name: "n",
        count: 2,
        ranks_each: 4,
    };
    let host_of: Vec<usize> = (0..RANKS).map(|process| process / 4).collect();
    let folder = tempfile::tempdir().expect("a temporary directory can be made");
    for (name, expected) in jobs(mpi) {
        let mut words = mpi.environment();
        words.push(artifacts::command().into_os_string());
        words.extend(["replay", "--set", "reorder=graph", "--"].map(Into::into));
        words.extend(hosts.launcher(mpi, RANKS));
        if mpi == Mpi::Intel {
            // It distributes them round-robin, for any list of hosts.
            words.extend(["-ppn", "4"].map(Into::into));
        }
        words.push(artifacts::job(mpi, name).into_os_string());
        let outcome = hosts.run(folder.path(), words).succeeded();
        let orders = orders(&outcome);
        for name in expected {
            let order = &orders[*name];
            let plain: Vec<usize> = (0..RANKS).collect();
            let (before, after) = (
                crossing(name, &plain, &host_of),
                crossing(name, order, &host_of),
            );
            match *name {
                // A ring in blocks is optimal: two edges cross, in both directions.
                "ring" => assert_eq!((before, after), (4, 4), "{}", outcome.told()),
                _ => assert!(
                    after < before,
                    "{name}: {before} {after} {}",
                    outcome.told()
                ),
            }
        }
        let plain = job(mpi, name).run().succeeded();
        assert_eq!(results(&outcome), results(&plain));
    }
}

#[test]
fn the_crossing_of_a_graph_is_counted_by_hosts() {
    let host_of = [0, 0, 0, 0, 1, 1, 1, 1];
    let order: Vec<usize> = (0..RANKS).collect();
    assert_eq!(crossing("pairs", &order, &host_of), 8);
    assert_eq!(crossing("ring", &order, &host_of), 4);
    let close = [0, 1, 4, 5, 2, 3, 6, 7];
    assert_eq!(crossing("pairs", &close, &host_of), 0);
}

under_all_mpis!(
    with_and_without_a_replayed_world_results_stay_the_same,
    neighbours_come_to_the_same_host,
);
