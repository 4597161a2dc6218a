//! Replaced collectives have the native results: every algorithm, on both MPIs.

use treepie_base::Cluster;
use treepie_collective::{Operation, Record, size_class};
use treepie_profile::Profile;
use treepie_tests::permutations::{as_list, reversed, rotated, seed};
// The reference is the result of the MPI's non-blocking collectives.
use treepie_tests::strategies::only_blocking as replaced;
use treepie_tests::{
    Job, Library, Mpi, Outcome, artifacts, assert_same_output, strategies, under_all_mpis,
    under_each_mpi,
};

fn every_strategy_leaves_what_the_host_leaves(mpi: Mpi) {
    let arrangements = ["0,1,0,1", "0,0,1,1", "0,1,1,2", "0,0,0,0"];
    for round in strategies::rounds_under(mpi) {
        let library = replaced(&strategies::of_round(round), arrangements[round / 2 % 4]);
        Job::new(mpi, 4, "collective_equality")
            .argument((seed() + round as u64).to_string())
            .with(library)
            .run()
            .succeeded();
    }
}

/// Random datatypes and counts of one signature, different on each rank, on 2 to 8 ranks.
fn every_strategy_moves_what_ranks_describe_each_in_its_way(mpi: Mpi) {
    let clusters = ["0,1,0,1,0,1,0,1", "0,0,1,1,2,2,0,1", "0,1,1,2,1,1,2,0"];
    let calls = if cfg!(feature = "all-mpis") { 600 } else { 60 };
    for round in strategies::rounds_under(mpi) {
        let ranks = strategies::ranks_of_round(round);
        let clusters = &clusters[round % 3][..2 * ranks - 1];
        Job::new(mpi, ranks, "collective_types")
            .argument((seed() + round as u64).to_string())
            .argument(calls.to_string())
            .argument("backwards")
            .with(replaced(&strategies::of_round(round), clusters))
            .run()
            .succeeded()
            .silent();
    }
}

fn what_is_chosen_moves_what_ranks_describe_each_in_its_way(mpi: Mpi) {
    let calls = if cfg!(feature = "all-mpis") {
        3000
    } else {
        300
    };
    for (ranks, clusters) in [(4, "0,1,0,1"), (7, "0,0,1,1,2,2,1")] {
        Job::new(mpi, ranks, "collective_types")
            .argument((seed() + ranks as u64).to_string())
            .argument(calls.to_string())
            .with(replaced("auto", clusters))
            .run()
            .succeeded()
            .silent();
    }
}

fn types_that_one_rank_alone_has_are_moved(mpi: Mpi, program: &str) {
    for collectives in ["auto", &strategies::of_round(0), &strategies::of_round(5)] {
        let outcome = Job::new(mpi, 3, "collective_types")
            .argument(program)
            .with(replaced(collectives, "0,0,1"))
            .run()
            .succeeded()
            .silent();
        assert!(outcome.stdout.contains(" 0 wrong"), "{}", outcome.told());
    }
}

/// This used to hang: that rank alone called the MPI's own collective.
fn one_rank_may_send_elements_backwards(mpi: Mpi) {
    types_that_one_rank_alone_has_are_moved(mpi, "negative-extent");
}

fn one_rank_may_send_one_element_many_times(mpi: Mpi) {
    types_that_one_rank_alone_has_are_moved(mpi, "zero-extent");
}

fn some_ranks_may_have_elements_without_size_and_others_none(mpi: Mpi) {
    types_that_one_rank_alone_has_are_moved(mpi, "no-size");
}

fn some_ranks_may_have_absolute_addresses(mpi: Mpi) {
    types_that_one_rank_alone_has_are_moved(mpi, "absolute");
}

/// On ranks that take 9 GiB of memory together: only with `scripts/test night`.
#[test]
#[cfg(feature = "all-mpis")]
fn one_element_may_have_more_bytes_than_an_int_counts() {
    for mpi in [Mpi::OpenMpi, Mpi::Mpich] {
        Job::new(mpi, 2, "collective_types")
            .argument("large-element")
            .with(replaced("bcast=grid-exchange", "0,1"))
            .run()
            .succeeded()
            .silent();
    }
}

/// Wrong on one rank, or on all in a way that each can only detect itself: an immediate error or
/// the right result, and never a hang.
fn what_one_rank_alone_can_see_to_be_wrong_never_makes_it_communicate_alone(mpi: Mpi) {
    let flat = "bcast=grid-flat,gather=flat,gatherv=flat,scatter=flat,reduce=grid-flat";
    for (which, collectives) in [("alike", "auto"), ("alone", flat)] {
        let outcome = Job::new(mpi, 4, "collective_refused")
            .argument(which)
            .with(replaced(collectives, "0,0,1,1"))
            .run();
        all_are_done(&outcome.succeeded().silent());
    }
}

/// Also if calls of other threads are interleaved with the operations of a thread in one call of
/// the MPI.
fn threads_do_not_receive_each_others_messages_to_themselves(mpi: Mpi) {
    let slow = artifacts::job(mpi, "slow_sendrecv.so");
    let both = format!("{}:{}", artifacts::library().display(), slow.display());
    let outcome = Job::new(mpi, 2, "collective_threads")
        .argument("4")
        .argument("50")
        .variable("LD_PRELOAD", both)
        .variable("TREEPIE_MODE", "replay")
        .variable("TREEPIE_COLLECTIVES", "auto")
        .variable("TREEPIE_CLUSTERS", "0,1")
        .run()
        .succeeded()
        .silent();
    assert_eq!(outcome.stdout, "0 wrong\n", "{}", outcome.told());
}

/// Runs collectives on buffers in a runtime's memory, with a library that replaces the runtime.
fn on_a_device(mpi: Mpi, library: &str, answers: &str, words: [&str; 2]) -> Outcome {
    through("messages", mpi, library, answers, words)
}

/// Runs them through messages or a host's memory.
fn through(
    transport: &str,
    mpi: Mpi,
    library: &str,
    answers: &str,
    [when, which]: [&str; 2],
) -> Outcome {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let runtime = directory.path().join(library);
    std::fs::copy(artifacts::job(mpi, "device_runtime.so"), &runtime).expect("it can be copied");
    let outcome = Job::new(mpi, 4, "device_memory")
        .argument(when)
        .argument(which)
        .with(replaced("auto", "0,0,1,1"))
        .variable("TREEPIE_LOG", "info")
        .variable("DEVICE_RUNTIME", runtime.display())
        .variable("DEVICE_ANSWERS", answers)
        .variable("TREEPIE_TRANSPORT", transport)
        .run()
        .succeeded();
    assert_eq!(outcome.stdout, "0 wrong\n", "{}", outcome.told());
    outcome
}

const LEFT: &str = "data are in the memory of an accelerator: left to the MPI";
const COPIED: &str = "the MPI copies them";

fn data_that_the_processor_cannot_read_are_left_to_the_mpi_by_all_ranks(mpi: Mpi) {
    for library in ["libcuda.so.1", "libamdhip64.so.6", "libze_loader.so.1"] {
        for which in ["all", "one"] {
            let outcome = on_a_device(mpi, library, "honest", ["before", which]);
            let told = outcome.stderr.matches(LEFT).count();
            assert_eq!(told, 4, "{library}, {which}: {}", outcome.told());
        }
    }
}

fn what_a_processor_cannot_read_goes_through_no_hosts_memory(mpi: Mpi) {
    let run = |when, which| through("memory", mpi, "libcuda.so.1", "honest", [when, which]);
    let left = run("before", "one");
    assert_eq!(left.stderr.matches(LEFT).count(), 4, "{}", left.told());
    let copied = run("after", "one");
    assert_eq!(
        copied.stderr.matches(COPIED).count(),
        1,
        "{}",
        copied.told()
    );
}

/// Other ranks do not know of it, and run the plan: so does the one, on a copy.
fn where_a_runtime_comes_late_the_mpi_copies_what_the_processor_cannot_read(mpi: Mpi) {
    for which in ["all", "one"] {
        let outcome = on_a_device(mpi, "libcuda.so.1", "honest", ["after", which]);
        let ranks = if which == "one" { 1 } else { 4 };
        let told = outcome.stderr.matches(COPIED).count();
        assert_eq!(told, ranks, "{which}: {}", outcome.told());
    }
}

fn managed_memory_is_used_where_it_is(mpi: Mpi) {
    for library in ["libcuda.so.1", "libamdhip64.so.6", "libze_loader.so.1"] {
        let outcome = on_a_device(mpi, library, "managed", ["before", "all"]);
        for line in [LEFT, COPIED] {
            assert!(
                !outcome.stderr.contains(line),
                "{library}: {}",
                outcome.told()
            );
        }
        assert!(outcome.stderr.contains("bcast of"), "{}", outcome.told());
    }
}

fn a_runtime_that_returns_errors_is_not_believed_and_one_that_lies_harms_nobody(mpi: Mpi) {
    let outcome = on_a_device(mpi, "libcuda.so.1", "error", ["before", "all"]);
    assert!(!outcome.stderr.contains(LEFT), "{}", outcome.told());
    let outcome = on_a_device(mpi, "libcuda.so.1", "lies", ["before", "all"]);
    assert!(outcome.stderr.contains(LEFT), "{}", outcome.told());
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
            "bcast has no algorithm `fastest`; known are native, auto, flat, ",
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

/// From each of Fortran's interfaces; every operation of the job is replaced.
fn fortran_sees_no_difference_and_its_collectives_are_replaced(mpi: Mpi) {
    for interface in ["mpif", "mpi", "f08"] {
        let job = || Job::new(mpi, 4, &format!("sentinels.{interface}"));
        let plain = job().run().succeeded();
        let outcome = job()
            .with(replaced("auto", "0,1,0,1"))
            .variable("TREEPIE_LOG", "info")
            .run()
            .succeeded();
        assert_eq!(plain.stdout, outcome.stdout, "{}", outcome.told());
        for operation in Operation::all() {
            use Operation::{Alltoallw, Exscan, Scan};
            // Without a platform, prefixes are left to the MPI; mpif.h has no array of handles
            // common to all interfaces.
            if !matches!(operation, Alltoallw | Exscan | Scan) {
                let told = format!("treepie: {operation} of ");
                assert!(outcome.stderr.contains(&told), "{told}\n{}", outcome.told());
            }
        }
    }
}

fn wrong_calls_end_as_with_the_host_and_right_ones_after_them_are_right(mpi: Mpi) {
    let plain = Job::new(mpi, 4, "collective_errors").run().succeeded();
    let job = Job::new(mpi, 4, "collective_errors").with(replaced("auto", "0,1,0,1"));
    assert_same_output(&plain, &job.run().succeeded().silent());
}

fn no_rank_gets_so_far_ahead_of_others_that_memory_fills(mpi: Mpi) {
    let collectives = "bcast=binomial,reduce=binomial,gather=flat";
    let library = strategies::replaced(collectives, "0,0,1,1");
    let outcome = Job::new(mpi, 4, "run_ahead")
        .argument("40000")
        .argument("2048")
        .with(strategies::with(library, "TREEPIE_TRANSPORT", "messages"))
        .run()
        .succeeded()
        .silent();
    let names = ["bcast", "reduce", "gather"];
    let expected = names.map(|name| format!("{name}: ranks took little\n"));
    assert_eq!(outcome.stdout, expected.concat());
}

fn communicators_are_freed_with_what_was_kept_for_them_and_may_run_out(mpi: Mpi) {
    let job = Job::new(mpi, 2, "collective_communicators")
        .argument("200")
        .argument("2500")
        .with(strategies::replaced("auto", "0,1"));
    for job in [job.clone(), job.argument("started")] {
        let outcome = job.run().succeeded().silent();
        assert_eq!(outcome.stdout, "all right\n");
    }
}

fn sums_have_the_same_bits_on_all_ranks_and_from_run_to_run(mpi: Mpi) {
    let run = |library: Library| {
        let outcome = Job::new(mpi, 6, "collective_bits").with(library).run();
        let outcome = outcome.succeeded().silent();
        assert!(
            !outcome.stdout.contains("not the same"),
            "{}",
            outcome.told()
        );
        outcome.stdout
    };
    for clusters in ["0,0,0,1,1,1", "2,0,1,0,1,2"] {
        let first = run(replaced("auto", clusters));
        assert_eq!(first, run(replaced("auto", clusters)), "{clusters}");
    }
    // Reproducible: for any location and proximity of ranks.
    let reproducible = |clusters: &str, permutation: &[usize]| {
        Library::Set(vec![
            ("TREEPIE_MODE", "replay".into()),
            ("TREEPIE_COLLECTIVES", "auto".into()),
            ("TREEPIE_CLUSTERS", clusters.into()),
            ("TREEPIE_PERMUTATION", as_list(permutation)),
            ("TREEPIE_REPRODUCIBLE", "true".into()),
        ])
    };
    let first = run(reproducible("0,0,0,1,1,1", &rotated(6)));
    assert_eq!(first, run(reproducible("2,0,1,0,1,2", &reversed(6))));
    assert_eq!(first, run(reproducible("0,0,0,0,0,0", &[0, 2, 4, 1, 3, 5])));
}

fn ranks_that_were_told_otherwise_are_found_and_the_host_does_all(mpi: Mpi) {
    let script = r#"if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 2 ]; then
        export TREEPIE_COLLECTIVES=native; fi; exec "$0" bcast:10 allreduce:1000"#;
    let outcome = Job::of(mpi, 3, "sh")
        .argument("-c")
        .argument(script)
        .argument(artifacts::job(mpi, "collective_calls"))
        .with(replaced("auto", "0,0,1"))
        .run()
        .succeeded();
    let told: Vec<&str> = outcome.messages();
    assert_eq!(told.len(), 1, "{}", outcome.told());
    assert!(
        told[0].contains("TREEPIE_COLLECTIVES of rank 2 is not that of rank 0"),
        "{}",
        outcome.told()
    );
}

/// Each predefined operation on each kind of type, by `auto` and by some algorithms.
fn every_predefined_operation_leaves_what_the_host_leaves(mpi: Mpi) {
    let forced = "allreduce=grid-direct,reduce=grid-lanes,scan=grid-gather,reduce-scatter-block=grid-exchange";
    for (collectives, clusters) in [("auto", "0,0,1,2"), (forced, "0,1,0,1")] {
        Job::new(mpi, 4, "collective_operations")
            .with(replaced(collectives, clusters))
            .run()
            .succeeded()
            .silent();
    }
}

/// Ranks whose arguments do not fit each other: the MPI reports it, or they wait for ever.
fn mismatched_calls_end_in_an_error_or_never_and_not_in_a_panic(mpi: Mpi) {
    for which in ["short", "roots", "counts", "types"] {
        let outcome = Job::new(mpi, 4, "collective_mismatches")
            .argument(which)
            .with(replaced("auto", "0,0,1,1"))
            .under(["timeout", "-k", "1", "5"])
            .run();
        let of_ranks = outcome.stderr_of_ranks();
        for word in ["panicked", "egmentation", "signal 11", "SIGSEGV"] {
            assert!(!of_ranks.contains(word), "{}", outcome.told());
        }
    }
}

/// Messages in flight of a call that was wrong on one rank are not received by later calls.
fn a_call_that_failed_on_one_rank_leaves_nothing_for_those_after_it(mpi: Mpi) {
    all_are_done_with(mpi, "wrong-on-one");
}

/// A message inside a plan is too long for a rank: the error handler of its communicator is called,
/// and not that of the world.
fn an_error_inside_a_plan_goes_to_the_handler_of_the_calls_communicator(mpi: Mpi) {
    all_are_done_with(mpi, "returned");
}

fn all_are_done_with(mpi: Mpi, mismatch: &str) {
    let outcome = Job::new(mpi, 4, "collective_mismatches")
        .argument(mismatch)
        .with(replaced("bcast=grid-flat", "0,0,1,1"))
        .run();
    all_are_done(&outcome.succeeded().silent());
}

fn all_are_done(outcome: &Outcome) {
    // UCX reports the message that is not received.
    let lines = outcome.stdout.lines().filter(|line| line.contains("rank"));
    let mut lines: Vec<&str> = lines.collect();
    lines.sort_unstable();
    let done: Vec<String> = (0..4).map(|rank| format!("rank {rank} is done")).collect();
    assert_eq!(lines, done, "{}", outcome.told());
}

/// The messages of plans are not counted as point-to-point, and each call is one call.
fn a_replaced_collective_is_counted_once_and_its_messages_are_not(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let profiled = |name: &str, settings: Vec<(&'static str, String)>| {
        let path = directory.path().join(name);
        let mut settings = settings;
        settings.push(("TREEPIE_OUTPUT", path.display().to_string()));
        let job = Job::new(mpi, 4, "collective_calls");
        let calls = [
            "bcast:100:1",
            "bcast:100000",
            "allreduce:2000",
            "alltoallv:7",
            "barrier:0",
        ];
        let job = calls.into_iter().fold(job, Job::argument);
        job.with(Library::Set(settings)).run().succeeded().silent();
        Profile::read(&path).unwrap_or_else(|error| panic!("{error}"))
    };
    let plain = profiled(
        "plain.profile.yaml",
        vec![("TREEPIE_MODE", "profile".into())],
    );
    let replayed = profiled(
        "replayed.profile.yaml",
        vec![
            ("TREEPIE_MODE", "replay".into()),
            ("TREEPIE_COLLECTIVES", "auto".into()),
            ("TREEPIE_CLUSTERS", "0,1,0,1".into()),
        ],
    );
    // The plan that ran a call is recorded with it.
    let plans = replayed
        .collectives
        .iter()
        .map(|record| record.plan.as_ref());
    let plans: Vec<_> = plans.flatten().map(|plan| &*plan.algorithm).collect();
    assert_eq!(
        plans,
        [
            "grid-exchange",
            "grid-exchange",
            "grid-exchange",
            "flat",
            "grid-exchange"
        ]
    );
    let mut without_plans = replayed.collectives.clone();
    without_plans
        .iter_mut()
        .for_each(|record| record.plan = None);
    assert_eq!(plain.collectives, without_plans);
    let clusters = replayed
        .locality
        .as_ref()
        .map(|known| known.cluster_of_rank());
    assert_eq!(clusters, Some(Cluster::list([0, 1, 0, 1])));
    assert_eq!(replayed.point_to_point.total().messages, 0);
    assert_eq!(plain.point_to_point, replayed.point_to_point);
}

/// The size of a call determines its plan, with the given trees and segments.
fn plans_are_those_that_are_named_for_each_size(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("named.profile.yaml");
    let named = "bcast:0-1K=grid-chain@binomial,bcast:1K-64K=native,\
                 bcast:64K-=grid-flat/4K@chain/flat,allreduce:0-8=grid-exchange";
    let job = Job::new(mpi, 4, "collective_calls");
    let calls = [
        "bcast:100:1",
        "bcast:3000",
        "bcast:100000",
        "allreduce:2000",
    ];
    calls
        .into_iter()
        .fold(job, Job::argument)
        .with(Library::Set(vec![
            ("TREEPIE_MODE", "replay".into()),
            ("TREEPIE_COLLECTIVES", named.into()),
            ("TREEPIE_CLUSTERS", "0,0,1,1".into()),
            ("TREEPIE_OUTPUT", path.display().to_string()),
        ]))
        .run()
        .succeeded()
        .silent();
    let profile = Profile::read(&path).unwrap_or_else(|error| panic!("{error}"));
    let plan = |operation: Operation, elements: u64| {
        let class = size_class(4 * elements);
        let is_of = |record: &&Record| record.operation == operation && record.size_class == class;
        let plan = profile.collectives.iter().find(is_of)?.plan.as_ref()?;
        Some((plan.algorithm.as_str(), plan.segment * plan.unit_bytes))
    };
    let short = plan(Operation::Bcast, 100).map(|(name, _)| name);
    assert_eq!(short, Some("grid-chain@binomial"));
    assert_eq!(plan(Operation::Bcast, 3000), None);
    let long = plan(Operation::Bcast, 100_000);
    assert_eq!(long, Some(("grid-flat@chain/flat", 4096)));
    assert_eq!(plan(Operation::Allreduce, 2000), None);
}

/// MPICH has the forms with large counts; Debian's Open MPI has not.
#[test]
fn forms_with_large_counts_leave_what_the_host_leaves() {
    for round in [0, 2] {
        Job::new(Mpi::Mpich, 4, "collective_equality_large")
            .argument((seed() + round).to_string())
            .with(replaced(&strategies::of_round(round as usize), "0,1,1,2"))
            .run()
            .succeeded();
    }
}

#[cfg(feature = "all-mpis")]
#[test]
fn collectives_of_open_mpis_standard_abi_are_replaced() {
    every_strategy_leaves_what_the_host_leaves(Mpi::OpenMpi6Abi);
    what_is_chosen_leaves_what_the_host_leaves(Mpi::OpenMpi6Abi);
    settings_that_do_not_fit_give_one_line_and_the_hosts_collectives(Mpi::OpenMpi6Abi);
}

under_each_mpi!(
    data_that_the_processor_cannot_read_are_left_to_the_mpi_by_all_ranks,
    what_a_processor_cannot_read_goes_through_no_hosts_memory,
    where_a_runtime_comes_late_the_mpi_copies_what_the_processor_cannot_read,
    managed_memory_is_used_where_it_is,
    a_runtime_that_returns_errors_is_not_believed_and_one_that_lies_harms_nobody,
    one_rank_may_send_elements_backwards,
    one_rank_may_send_one_element_many_times,
    some_ranks_may_have_elements_without_size_and_others_none,
    some_ranks_may_have_absolute_addresses,
    what_one_rank_alone_can_see_to_be_wrong_never_makes_it_communicate_alone,
    threads_do_not_receive_each_others_messages_to_themselves,
    every_predefined_operation_leaves_what_the_host_leaves,
    mismatched_calls_end_in_an_error_or_never_and_not_in_a_panic,
    a_call_that_failed_on_one_rank_leaves_nothing_for_those_after_it,
    an_error_inside_a_plan_goes_to_the_handler_of_the_calls_communicator,
    fortran_sees_no_difference_and_its_collectives_are_replaced,
    wrong_calls_end_as_with_the_host_and_right_ones_after_them_are_right,
    communicators_are_freed_with_what_was_kept_for_them_and_may_run_out,
    no_rank_gets_so_far_ahead_of_others_that_memory_fills,
    sums_have_the_same_bits_on_all_ranks_and_from_run_to_run,
    ranks_that_were_told_otherwise_are_found_and_the_host_does_all,
    a_replaced_collective_is_counted_once_and_its_messages_are_not,
    plans_are_those_that_are_named_for_each_size,
);

under_all_mpis!(
    every_strategy_moves_what_ranks_describe_each_in_its_way,
    what_is_chosen_moves_what_ranks_describe_each_in_its_way,
    every_strategy_leaves_what_the_host_leaves,
    what_is_chosen_leaves_what_the_host_leaves,
    settings_that_do_not_fit_give_one_line_and_the_hosts_collectives,
);
