//! Collectives whose sizes MPI does not give to all ranks, in one call: the leaders of clusters
//! receive those of their ranks, and short blocks are combined. Right results for any sizes, and
//! counts of the actual messages.

use treepie_collective::{Algorithm, Operation};
use treepie_profile::Profile;
use treepie_tests::random_programs::{in_turn, is_right, many};
use treepie_tests::strategies::{only_blocking, replaced};
use treepie_tests::two_clusters::TwoClusters;
use treepie_tests::{Job, Library, Mpi, longer, random_programs, under_all_mpis, under_each_mpi};
use treepie_traffic::TrafficMatrix;

const TOGETHER: &str = "grid-aggregate";

/// The operations of which each rank only knows its own sizes, and their algorithms.
fn all_together() -> String {
    let served = Operation::all().filter(|&one| Algorithm::find(one, TOGETHER).is_some());
    let each: Vec<String> = served.map(|one| format!("{one}={TOGETHER}")).collect();
    assert_eq!(each.len(), 4);
    each.join(",")
}

/// Random programs on this number of ranks.
fn programs(mpi: Mpi, ranks: usize, name: &str, count: String) -> Job {
    random_programs::programs(mpi, ranks, name)
        .argument(count)
        .argument("60")
        .argument("60")
}

fn random_programs_get_right_results_where_leaders_are_told_sizes(mpi: Mpi) {
    for (ranks, clusters, few) in [(2, 2, 4), (4, 1, 2), (5, 2, 4), (7, 3, 3), (9, 4, 1)] {
        let library = replaced(&all_together(), &in_turn(ranks, clusters));
        is_right(programs(mpi, ranks, "uneven_random", many(few, 100)).with(library));
    }
}

/// Sizes of ranks, and combined blocks, through the memory of their host.
fn random_programs_get_right_results_through_shared_memory(mpi: Mpi) {
    let Library::Set(mut variables) = replaced(&all_together(), "0,0,1,1,1") else {
        unreachable!("it sets variables");
    };
    variables.push(("TREEPIE_TRANSPORT", "memory".into()));
    let library = Library::Set(variables);
    is_right(programs(mpi, 5, "uneven_random", many(3, 100)).with(library));
}

/// MPICH has the forms with large counts; Debian's Open MPI has not.
#[test]
fn forms_with_large_counts_get_right_results_where_leaders_are_told_sizes() {
    let library = only_blocking(&all_together(), "0,1,1,0,2");
    is_right(programs(Mpi::Mpich, 5, "uneven_random_large", many(3, 100)).with(library));
}

fn short_blocks_are_counted_on_the_way_over_leaders_that_they_took(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("uneven.profile.yaml");
    let Library::Set(mut variables) = replaced(&all_together(), "0,0,0,1,1") else {
        unreachable!("it sets variables");
    };
    variables.push(("TREEPIE_OUTPUT", path.display().to_string()));
    Job::new(mpi, 5, "collective_calls")
        .argument("gatherv:10:1")
        .argument("scatterv:10:1")
        .argument("alltoallv:7")
        .with(Library::Set(variables))
        .run()
        .succeeded();
    let profile = Profile::read(&path).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(profile.collectives.len(), 3, "{:?}", profile.collectives);
    let plans = profile.collectives.iter().map(|record| &record.plan);
    assert!(
        plans
            .flatten()
            .all(|plan| plan.algorithm == TOGETHER && plan.segment > 0),
        "{:?}",
        profile.collectives
    );
    assert_eq!(profile.point_to_point.total().messages, 0);
    let sent: TrafficMatrix = profile.traffic_of_collectives(profile.collectives.iter(), None);
    let far = sent
        .entries()
        .filter(|&(from, to, _)| (from < 3) != (to < 3));
    let mut far: Vec<(usize, usize, u64)> = far
        .map(|(from, to, sent)| (from, to, sent.messages))
        .collect();
    far.sort_unstable();
    // The root of two, and the leaders of the third.
    assert_eq!(far, [(0, 3, 1), (1, 3, 1), (3, 0, 1), (3, 1, 1)]);
}

/// If the MPI calls us, leaders forward the sizes while the program is elsewhere.
fn started_ones_get_right_results_and_tell_leaders_sizes_where_the_mpi_calls_us(mpi: Mpi) {
    for (ranks, clusters, few) in [(4, 2, 3), (5, 2, 3), (7, 3, 2)] {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let path = directory.path().join("started.profile.yaml");
        let Library::Set(mut variables) = replaced(&all_together(), &in_turn(ranks, clusters))
        else {
            unreachable!("it sets variables");
        };
        variables.push(("TREEPIE_OUTPUT", path.display().to_string()));
        let job = programs(mpi, ranks, "uneven_random", many(few, 100)).argument("started");
        is_right(job.with(Library::Set(variables)));
        let profile = Profile::read(&path).unwrap_or_else(|error| panic!("{error}"));
        let records = profile.collectives.iter();
        let uneven = records.filter(|record| Algorithm::find(record.operation, TOGETHER).is_some());
        let of_all = uneven.filter(|record| record.group.len() == ranks);
        let plans = of_all.map(|record| record.plan.as_ref().map(|plan| plan.algorithm.as_str()));
        let expected = mpi.calls_us().then_some(TOGETHER);
        let plans: Vec<_> = plans.collect();
        assert!(!plans.is_empty());
        assert!(plans.iter().all(|&plan| plan == expected), "{plans:?}");
    }
}

/// Half a millisecond apart.
const NEAR: &str = "treepie: grid\nversion: 1\nwan_latency_us: 500\nclusters:\n\
    - {name: a, hosts: 2, latency_us: 50, mbit: 200, uplink_mbit: 100}\n\
    - {name: b, hosts: 2, latency_us: 50, mbit: 200, uplink_mbit: 100}\n";

/// The grid with links between clusters that each message occupies for long.
const SLOW_TO_SEND: &str = "treepie: platform\nversion: 1\nhosts:\n\
    - {name: a0, ranks: 0-1}\n- {name: a1, ranks: 2-3}\n\
    - {name: b0, ranks: 4-5}\n- {name: b1, ranks: 6-7}\nclusters:\n\
    - {name: a, hosts: [a0, a1], leader: 0, within: &lan {latency_us: 50, samples: [0 3, 1048576 9100]}}\n\
    - {name: b, hosts: [b0, b1], leader: 4, within: *lan}\nlinks:\n\
    - {from: a, to: b, latency_us: 500, samples: [0 200, 1024 290, 1048576 91000]}\n";

/// Runs a job on eight ranks of that grid; all its results must be right.
#[track_caller]
fn on_slow_links(mpi: Mpi, settings: &str, job: &[&str]) -> Profile {
    let grid = TwoClusters::new();
    std::fs::write(grid.file("two.grid.yaml"), NEAR).expect("a file");
    let (platform, profile) = (
        grid.file("slow.platform.yaml"),
        grid.file("slow.profile.yaml"),
    );
    std::fs::write(&platform, SLOW_TO_SEND).expect("a file");
    let settings = format!(
        "TREEPIE_MODE=replay TREEPIE_COLLECTIVES=auto TREEPIE_PLATFORM={} TREEPIE_OUTPUT={} \
         TREEPIE_STARTED=native {settings}",
        platform.display(),
        profile.display()
    );
    let done = grid.job(&["--ranks", "2"], (mpi, 8), &settings, job);
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(String::from_utf8_lossy(&done.stdout), "0 wrong\n", "{said}");
    Profile::read(&profile).unwrap_or_else(|error| panic!("{error}\n{said}"))
}

fn where_messages_between_clusters_are_dear_short_blocks_are_chosen_to_go_together(mpi: Mpi) {
    let profile = on_slow_links(mpi, "", &["uneven_random", "1", "2", "60", "60"]);
    for operation in Operation::all().filter(|&one| Algorithm::find(one, TOGETHER).is_some()) {
        let records = profile.collectives.iter();
        let of_it = records.filter(|one| one.operation == operation && one.group.len() == 8);
        let plans: Vec<_> = of_it.map(|one| one.plan.as_ref()).collect();
        assert!(!plans.is_empty(), "{operation}");
        let is_it = |plan: &Option<_>| {
            plan.is_some_and(|plan: &treepie_collective::PlanRun| plan.algorithm == TOGETHER)
        };
        assert!(plans.iter().all(is_it), "{operation}: {plans:?}");
    }
}

fn the_guard_has_short_blocks_together_to_try_and_results_stay_right(mpi: Mpi) {
    let has_it = |profile: &Profile| {
        let mut cells = profile.guard.iter();
        cells.any(|cell| {
            let plan = cell.plan.as_ref();
            cell.operation == Operation::Alltoallv
                && plan.is_some_and(|plan| plan.algorithm == TOGETHER)
        })
    };
    let run = |rounds: &str| {
        let job = ["guarded", "operations", rounds];
        on_slow_links(mpi, "TREEPIE_GUARD=on", &job)
    };
    let profile = longer(&["400", "3000"], run, has_it);
    assert!(has_it(&profile), "{:#?}", profile.guard);
}

under_all_mpis!(
    random_programs_get_right_results_where_leaders_are_told_sizes,
    started_ones_get_right_results_and_tell_leaders_sizes_where_the_mpi_calls_us,
);

under_each_mpi!(
    random_programs_get_right_results_through_shared_memory,
    short_blocks_are_counted_on_the_way_over_leaders_that_they_took,
    where_messages_between_clusters_are_dear_short_blocks_are_chosen_to_go_together,
    the_guard_has_short_blocks_together_to_try_and_results_stay_right,
);
