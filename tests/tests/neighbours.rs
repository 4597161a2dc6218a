//! Neighbourhood collectives run by plans: right results on every kind of topology, and counts of
//! the actual messages.

use std::collections::BTreeMap;

use treepie_collective::Operation;
use treepie_profile::Profile;
use treepie_tests::permutations::{as_list, moving_all, seed};
use treepie_tests::random_programs::{in_turn, is_right, many};
use treepie_tests::strategies::replaced;
use treepie_tests::{Job, Library, Mpi, random_programs, under_all_mpis, under_each_mpi};
use treepie_traffic::TrafficMatrix;

/// Random programs on this number of ranks.
fn programs(mpi: Mpi, ranks: usize, count: String) -> Job {
    random_programs::programs(mpi, ranks, "neighbours_random")
        .argument(count)
        .argument("40")
        .argument("60")
}

/// The setting in which blocks for several neighbours are sent by `gathers`, and others directly.
fn all_by(gathers: &str) -> String {
    let each = Operation::of_neighbours().map(|operation| {
        let name = match operation.gathers_from_neighbours() {
            true => gathers,
            false => "flat",
        };
        format!("{operation}={name}")
    });
    each.collect::<Vec<_>>().join(",")
}

fn random_programs_get_right_results_from_plans(mpi: Mpi) {
    for (ranks, clusters, few) in [(4, 2, 12), (5, 3, 8), (7, 2, 8), (16, 4, 2)] {
        let library = replaced(&all_by("flat"), &in_turn(ranks, clusters));
        let job = programs(mpi, ranks, many(few, 200)).argument("prf");
        is_right(job.with(library));
    }
}

/// If the MPI does not call us, started ones are its own.
fn random_programs_get_right_results_from_relayed_blocks(mpi: Mpi) {
    for (ranks, clusters, few) in [(4, 2, 12), (5, 2, 8), (7, 3, 8), (16, 4, 2)] {
        let library = replaced(&all_by("grid-relay"), &in_turn(ranks, clusters));
        let job = programs(mpi, ranks, many(few, 200));
        is_right(match mpi.is_open_mpi() {
            true => job.argument("prf").with(library),
            false => job.argument("r").with(library),
        });
    }
}

/// Repeated edges are then left to the MPI, and some MPIs handle them wrongly.
fn random_programs_get_right_results_from_what_is_chosen(mpi: Mpi) {
    for (ranks, clusters, few) in [(4, 2, 12), (7, 3, 8)] {
        is_right(
            programs(mpi, ranks, many(few, 100)).with(replaced("auto", &in_turn(ranks, clusters))),
        );
    }
}

fn random_programs_get_right_results_from_plans_in_a_permuted_world(mpi: Mpi) {
    let library = Library::Set(vec![
        ("TREEPIE_MODE", "replay".into()),
        ("TREEPIE_PERMUTATION", as_list(&moving_all(5, seed()))),
        ("TREEPIE_COLLECTIVES", all_by("flat")),
        ("TREEPIE_CLUSTERS", "0,1,0,1,1".into()),
    ]);
    is_right(programs(mpi, 5, many(8, 100)).argument("prf").with(library));
}

/// The profile of the job that calls every neighbourhood collective on every kind of topology.
fn profile(mpi: Mpi, gathers: &str) -> Profile {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("neighbours.profile.yaml");
    let library = Library::Set(vec![
        ("TREEPIE_MODE", "replay".into()),
        ("TREEPIE_COLLECTIVES", all_by(gathers)),
        ("TREEPIE_CLUSTERS", "0,0,1,1".into()),
        ("TREEPIE_OUTPUT", path.display().to_string()),
    ]);
    let job = Job::new(mpi, 4, "neighbourhood");
    job.with(library).run().succeeded();
    Profile::read(&path).unwrap_or_else(|error| panic!("{error}"))
}

/// Bytes between different ranks.
fn between_ranks(sent: &TrafficMatrix, which: impl Fn(usize, usize) -> bool) -> u64 {
    let entries = sent
        .entries()
        .filter(|&(from, to, _)| from != to && which(from, to));
    entries.map(|(_, _, traffic)| traffic.bytes).sum()
}

fn what_plans_ran_is_counted_once_with_collectives_as_it_was_run(mpi: Mpi) {
    let native = profile_of_native(mpi);
    let (flat, relayed) = (profile(mpi, "flat"), profile(mpi, "grid-relay"));
    for profile in [&flat, &relayed] {
        let mut plans: BTreeMap<Operation, &str> = BTreeMap::new();
        for record in &profile.collectives {
            if let (true, Some(plan)) = (record.operation.is_among_neighbours(), &record.plan) {
                plans.insert(record.operation, &plan.algorithm);
            }
        }
        assert_eq!(plans[&Operation::NeighborAlltoallw], "flat");
        assert_eq!(plans.len(), 5, "{plans:?}");
    }
    let native = between_ranks(&native.neighbourhood, |_, _| true);
    let [flat, relayed] = [&flat, &relayed].map(|profile| {
        let records = profile.collectives.iter();
        let of_neighbours = records.filter(|record| record.operation.is_among_neighbours());
        let mut sent = profile.traffic_of_collectives(of_neighbours, None);
        // If the MPI does not call us, started ones are its own.
        let is_merged = sent.merge(&profile.neighbourhood);
        assert!(is_merged.is_ok(), "{is_merged:?}");
        sent
    });
    let [all, all_relayed] = [&flat, &relayed].map(|sent| between_ranks(sent, |_, _| true));
    // Data that several edges to one rank share is sent once.
    assert!(all <= native && 2 * all > native, "{all} {native}");
    // Each block reaches each rank, by any path.
    assert!(
        all_relayed >= all && all_relayed <= native,
        "{all_relayed} {all}"
    );
    let is_far = |from: usize, to: usize| from / 2 != to / 2;
    let [far, far_relayed] = [&flat, &relayed].map(|sent| between_ranks(sent, is_far));
    assert!(far_relayed < far, "{far_relayed} {far}");
}

fn profile_of_native(mpi: Mpi) -> Profile {
    let (_, profile) = Job::new(mpi, 4, "neighbourhood").profiled();
    profile
}

under_all_mpis!(
    random_programs_get_right_results_from_plans,
    random_programs_get_right_results_from_relayed_blocks,
    random_programs_get_right_results_from_what_is_chosen,
    random_programs_get_right_results_from_plans_in_a_permuted_world,
);

under_each_mpi!(what_plans_ran_is_counted_once_with_collectives_as_it_was_run);
