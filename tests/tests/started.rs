//! Non-blocking and persistent collectives run by plans: right results for any activity of ranks
//! between start and completion, and no legal program hangs.

use treepie_collective::Operation;
use treepie_guard::Form;
use treepie_profile::Profile;
use treepie_tests::permutations::{as_list, moving_all, seed};
use treepie_tests::random_programs::{in_turn, is_right, many};
use treepie_tests::strategies::{direct, guarded, replaced};
use treepie_tests::{
    Job, Library, Mpi, random_programs, strategies, under_all_mpis, under_each_mpi,
};

/// Random programs on this number of ranks.
fn programs(mpi: Mpi, ranks: usize, count: String) -> Job {
    random_programs::programs(mpi, ranks, "started_random")
        .argument(count)
        .argument("80")
        .argument("60")
}

fn random_programs_get_right_results_from_plans(mpi: Mpi) {
    for (ranks, clusters) in [(2, 2), (4, 2), (5, 3), (7, 1)] {
        let library = replaced(&direct(), &in_turn(ranks, clusters));
        let job = programs(mpi, ranks, many(12, 300)).argument("persistent");
        is_right(job.with(library));
    }
}

fn random_programs_get_right_results_from_what_is_chosen(mpi: Mpi) {
    for (ranks, clusters, few) in [(4, 2, 15), (16, 4, 3)] {
        let library = replaced("auto", &in_turn(ranks, clusters));
        is_right(programs(mpi, ranks, many(few, 100)).with(library));
    }
}

/// Most steps are a few collectives on the world: often enough for trials of plans.
fn random_programs_get_right_results_while_a_guard_tries_plans(mpi: Mpi) {
    for (ranks, clusters) in [(4, 2), (5, 3)] {
        let Library::Set(mut variables) = guarded(&in_turn(ranks, clusters)) else {
            unreachable!("it sets variables");
        };
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let path = directory.path().join("guarded.profile.yaml");
        variables.push(("TREEPIE_OUTPUT", path.display().to_string()));
        let job = random_programs::programs(mpi, ranks, "started_random")
            .argument(many(60, 600))
            .argument("400")
            .argument("60")
            .argument("alike");
        let job = with_persistent_ones(mpi, job);
        is_right(job.with(Library::Set(variables)));
        let profile = Profile::read(&path).unwrap_or_else(|error| panic!("{error}"));
        let started = profile.guard.iter();
        let mut started = started.filter(|cell| cell.form == Form::Nonblocking);
        assert!(
            started.any(|cell| cell.calls > 1000),
            "{:#?}",
            profile.guard
        );
    }
}

/// MPICH 4.0's own persistent collectives crash or hang.
fn with_persistent_ones(mpi: Mpi, job: Job) -> Job {
    match mpi {
        Mpi::Mpich | Mpi::Intel => job,
        _ => job.argument("persistent"),
    }
}

/// If the MPI calls us, their messages may wait for others; otherwise those are the MPI's.
fn random_programs_get_right_results_from_every_strategy(mpi: Mpi) {
    for round in strategies::rounds_under(mpi) {
        let ranks = strategies::ranks_of_round(round);
        let library = replaced(
            &strategies::of_round(round),
            &in_turn(ranks, 2 + round / 2 % 2),
        );
        let job = programs(mpi, ranks, many(2, 30));
        is_right(with_persistent_ones(mpi, job).with(library));
    }
}

fn random_programs_get_right_results_from_plans_in_a_permuted_world(mpi: Mpi) {
    let permutation = as_list(&moving_all(4, seed()));
    let library = Library::Set(vec![
        ("TREEPIE_MODE", "replay".into()),
        ("TREEPIE_PERMUTATION", permutation),
        ("TREEPIE_COLLECTIVES", direct()),
        ("TREEPIE_CLUSTERS", "0,1,0,1".into()),
    ]);
    let job = programs(mpi, 4, many(12, 100)).argument("persistent");
    is_right(job.with(library));
}

/// Cases, each on this number of ranks.
const CASES: [(&str, usize); 22] = [
    ("barrier-and-receive", 4),
    ("long-sum-and-receive", 4),
    ("opposite-orders", 4),
    ("ring-of-communicators", 3),
    ("early-frees", 4),
    ("opposite-startalls", 4),
    ("startall-of-all-kinds", 4),
    ("init-and-free", 2),
    ("polled-and-started-again", 2),
    ("many-operations", 2),
    ("nulls-and-inactive", 4),
    ("threads", 2),
    ("threads-of-one-communicator", 2),
    ("look-before-wait", 4),
    ("look-at-several", 2),
    ("finalize-at-once", 4),
    ("cancel-and-free", 4),
    ("cancel-and-free-active", 4),
    ("wrong-argument", 3),
    ("wrong-init", 3),
    ("failing", 4),
    ("uneven-requests", 5),
];

/// True if the MPI itself, which runs most calls under a guard, crashes in a case, or violates the
/// standard: Open MPI's broadcasts crash if their communicator is freed; MPICH 4.0 waits for ever;
/// MPICH fills a status that should be empty, and MPICH 5 crashes in a test of several, and ends
/// the job if a collective is cancelled; the effect of freeing a request that is active, or has
/// failed, differs between MPIs.
fn is_for_plans_alone(mpi: Mpi, case: &str) -> bool {
    matches!(
        (mpi, case),
        (Mpi::OpenMpi | Mpi::OpenMpi5 | Mpi::OpenMpi6, "early-frees")
            | (Mpi::Mpich, "nulls-and-inactive")
            | (
                Mpi::Mpich | Mpi::Mpich5 | Mpi::StandardAbi,
                "look-before-wait"
            )
            | (
                Mpi::Mpich5 | Mpi::StandardAbi,
                "look-at-several" | "cancel-and-free"
            )
            | (_, "cancel-and-free-active" | "failing")
    )
}

/// Runs a case, in a program that may have several threads or not.
#[track_caller]
fn ends_well(mpi: Mpi, (case, ranks): (&str, usize), has_threads: bool, library: Library) {
    let job = Job::new(mpi, ranks, "started_cases");
    let job = match has_threads {
        true => job.argument("multiple"),
        false => job,
    };
    let outcome = job.argument(case).with(library).run();
    // A started operation cannot end if one rank is wrong: it aborts.
    let has_ended = case == "wrong-argument" || outcome.status.success();
    let is_right = outcome.stdout.contains(&format!("{case} ok\n"));
    assert!(has_ended && is_right, "{}", outcome.told());
}

fn ranks_may_do_anything_between_start_and_completion(mpi: Mpi) {
    for (case, ranks) in CASES {
        let clusters = in_turn(ranks, 2);
        ends_well(mpi, (case, ranks), false, replaced(&direct(), &clusters));
        if !is_for_plans_alone(mpi, case) {
            ends_well(mpi, (case, ranks), false, guarded(&clusters));
        }
    }
}

/// Algorithms whose messages wait for others.
const FORWARDING: &str = "bcast=chain,allreduce=recursive-doubling,scan=chain,barrier=dissemination,\
                          allgather=ring";

/// True if a thread of Treepie may call this MPI.
fn takes_thread(mpi: Mpi) -> bool {
    !matches!(mpi, Mpi::Mpich5 | Mpi::StandardAbi | Mpi::OpenMpi6)
}

fn ranks_may_do_anything_while_messages_wait_for_others(mpi: Mpi) {
    for (case, ranks) in CASES {
        let clusters = in_turn(ranks, 2);
        if mpi.calls_us() {
            ends_well(mpi, (case, ranks), false, replaced(FORWARDING, &clusters));
        }
        // MPICH reports an error to the world, whose handler other threads may need unchanged.
        let is_told_the_world = case == "failing" && !mpi.is_open_mpi();
        if takes_thread(mpi) && !is_told_the_world {
            ends_well(mpi, (case, ranks), true, by_a_thread(FORWARDING, &clusters));
        }
    }
}

/// Hundreds of messages wait for a root that only returns every 20 ms.
fn a_test_takes_in_all_that_has_come(mpi: Mpi) {
    let library = replaced("reduce=at-once", &in_turn(4, 2));
    let library = strategies::with(library, "TREEPIE_LOG", "info");
    let case = "tested-now-and-then";
    let outcome = Job::new(mpi, 4, "started_cases").argument(case);
    let outcome = outcome.with(library).run().succeeded();
    assert_eq!(outcome.stdout, format!("{case} ok\n"), "{}", outcome.told());
    let is_planned = outcome.stderr.contains("started reduce of 4194304 bytes");
    assert!(is_planned, "{}", outcome.told());
}

/// Intel MPI, which transfers messages of 48 KiB one by one, is not included.
#[cfg(feature = "all-mpis")]
#[test]
fn a_test_of_a_newer_mpi_takes_in_all_that_has_come() {
    for mpi in [Mpi::Mpich5, Mpi::StandardAbi, Mpi::OpenMpi5, Mpi::OpenMpi6] {
        a_test_takes_in_all_that_has_come(mpi);
    }
}

/// Ranks along a chain forward data while they are in other calls of the MPI, one of which ends
/// when the next rank has the data.
fn messages_go_on_while_a_rank_is_in_another_call(mpi: Mpi) {
    // MPICH only polls its transports while it waits for the lock of a window.
    let passes_on = match mpi {
        Mpi::Mpich5 => "passes-on-without-locks",
        _ => "passes-on",
    };
    for (case, ranks) in [(passes_on, 3), (passes_on, 5), ("passes-on-among-many", 4)] {
        let library = replaced("bcast=chain", &in_turn(ranks, 2));
        let library = strategies::with(library, "TREEPIE_LOG", "info");
        let job = Job::new(mpi, ranks, "started_cases").argument(case);
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let job = job.directory(directory.path());
        let outcome = job.with(library).run().succeeded();
        assert_eq!(outcome.stdout, format!("{case} ok\n"), "{}", outcome.told());
        assert!(
            outcome.stderr.contains("started bcast"),
            "{}",
            outcome.told()
        );
    }
}

#[test]
fn messages_go_on_while_a_rank_is_in_another_call_of_open_mpi() {
    messages_go_on_while_a_rank_is_in_another_call(Mpi::OpenMpi);
}

#[cfg(feature = "all-mpis")]
#[test]
fn messages_go_on_while_a_rank_is_in_another_call_of_a_newer_open_mpi() {
    for mpi in [Mpi::OpenMpi5, Mpi::OpenMpi6, Mpi::OpenMpi6Abi] {
        messages_go_on_while_a_rank_is_in_another_call(mpi);
    }
}

#[cfg(feature = "all-mpis")]
#[test]
fn messages_go_on_while_a_rank_is_in_another_call_of_mpich_5() {
    messages_go_on_while_a_rank_is_in_another_call(Mpi::Mpich5);
}

/// Settings with which a thread progresses plans, between ranks in these clusters.
fn by_a_thread(collectives: &str, clusters: &str) -> Library {
    strategies::with(replaced(collectives, clusters), "TREEPIE_STARTED", "thread")
}

/// By a thread: Open MPI makes no callback while it waits for a connection. Debian's MPICH opens no
/// ports.
#[test]
fn messages_go_on_while_a_rank_waits_for_a_connection() {
    let library = by_a_thread("bcast=chain", &in_turn(4, 2));
    ends_well(Mpi::OpenMpi, ("passes-on-accepting", 4), true, library);
}

/// One is active, and thousands more are started after it.
fn a_call_is_refused_where_there_are_no_more_tags(mpi: Mpi) {
    let outcome = Job::new(mpi, 2, "started_cases")
        .argument("multiple")
        .argument("more-than-tags")
        .with(by_a_thread("bcast=chain", "0,1"))
        .run()
        .succeeded();
    assert_eq!(outcome.stdout, "more-than-tags ok\n", "{}", outcome.told());
    let refusals = outcome.messages();
    let is_told = |line: &&str| line.contains("is not complete yet; complete it first");
    assert!(
        refusals.len() == 1 && is_told(&refusals[0]),
        "{}",
        outcome.told()
    );
}

/// MPICH's tags suffice for 16,384 on a communicator.
#[test]
fn persistent_requests_without_tags_of_their_own_are_the_mpi_s() {
    let library = replaced(&direct(), "0,1");
    ends_well(Mpi::Mpich, ("many-persistent", 2), false, library);
}

/// Ranks along a chain forward data while they are in calls of the MPI, and while they are in none;
/// if no thread may call the MPI, that is reported.
fn messages_go_on_by_a_thread_whatever_a_rank_does(mpi: Mpi) {
    if !takes_thread(mpi) {
        let library = by_a_thread("bcast=chain", &in_turn(3, 2));
        let library = strategies::with(library, "TREEPIE_LOG", "info");
        let job = Job::new(mpi, 3, "started_cases").argument("multiple");
        let outcome = job.argument("opposite-orders").with(library).run();
        let outcome = outcome.succeeded();
        let is_refused = outcome.stderr.contains("no thread goes on with them");
        let is_right = outcome.stdout == "opposite-orders ok\n";
        assert!(is_refused && is_right, "{}", outcome.told());
        return;
    }
    for (case, ranks) in [
        ("passes-on", 3),
        ("passes-on-outside", 3),
        ("passes-on-outside", 5),
        ("passes-on-among-many", 4),
    ] {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let job = Job::new(mpi, ranks, "started_cases")
            .argument("multiple")
            .argument(case)
            .directory(directory.path());
        let library = by_a_thread("bcast=chain", &in_turn(ranks, 2));
        let outcome = job.with(library).run().succeeded();
        assert_eq!(outcome.stdout, format!("{case} ok\n"), "{}", outcome.told());
    }
}

/// MPICH 4.0 makes no callbacks.
#[test]
fn a_thread_goes_on_only_in_a_program_that_may_have_several() {
    for (level, plan) in [("multiple", "chain"), ("single", "native")] {
        let library = by_a_thread("scan=chain,reduce=at-once", "0,0,1,1");
        let library = strategies::with(library, "TREEPIE_LOG", "info");
        let job = Job::new(Mpi::Mpich, 4, "started_cases")
            .argument(level)
            .argument("look-before-wait");
        let outcome = job.with(library).run().succeeded();
        let is_refused = outcome.stderr.contains("no thread goes on with them");
        assert_eq!(is_refused, level == "single", "{}", outcome.told());
        let mut scans = outcome
            .stderr
            .lines()
            .filter(|line| line.contains("started scan of"));
        let is_by_plan = scans.any(|line| line.contains(&format!(": {plan}")));
        assert!(is_by_plan, "{}", outcome.told());
    }
}

fn random_programs_get_right_results_from_every_strategy_by_a_thread(mpi: Mpi) {
    for round in strategies::rounds_under(mpi) {
        let ranks = strategies::ranks_of_round(round);
        let clusters = in_turn(ranks, 2 + round / 2 % 2);
        let library = by_a_thread(&strategies::of_round(round), &clusters);
        let job = programs(mpi, ranks, many(2, 30)).argument("multiple");
        is_right(job.with(library));
    }
}

/// The messages of a job with information enabled, and its profile.
fn told(mpi: Mpi, variables: &[(&'static str, &str)]) -> (Vec<String>, Profile) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("started.profile.yaml");
    let mut all = vec![
        ("TREEPIE_MODE", "replay".into()),
        ("TREEPIE_LOG", "info".into()),
        ("TREEPIE_OUTPUT", path.display().to_string()),
    ];
    all.extend(
        variables
            .iter()
            .map(|&(name, value)| (name, value.to_owned())),
    );
    let job = Job::new(mpi, 4, "started_cases").argument("look-before-wait");
    let outcome = job.with(Library::Set(all)).run().succeeded();
    let profile = Profile::read(&path).unwrap_or_else(|error| panic!("{error}"));
    let lines = outcome.stderr.lines();
    let started = lines.filter(|line| line.contains("treepie: started "));
    (started.map(str::to_owned).collect(), profile)
}

/// The plans that ran scans.
fn plans_of_scans(profile: &Profile) -> Vec<&str> {
    let scans = profile.collectives.iter();
    let scans = scans.filter(|record| record.operation == Operation::Scan);
    scans
        .filter_map(|record| record.plan.as_ref())
        .map(|plan| plan.algorithm.as_str())
        .collect()
}

/// Each communicator of the program has a private one of Treepie's, of which an MPI has some
/// thousands at most: freed ones are reused.
fn thousands_of_communicators_that_are_freed_at_once_have_plans(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("many.profile.yaml");
    let Library::Set(mut variables) = replaced("allreduce=at-once", "0,1") else {
        unreachable!("it sets variables");
    };
    variables.push(("TREEPIE_OUTPUT", path.display().to_string()));
    let job = Job::new(mpi, 2, "started_cases").argument("many-communicators");
    let outcome = job.with(Library::Set(variables)).run().succeeded();
    assert_eq!(outcome.stdout, "many-communicators ok\n");
    let profile = Profile::read(&path).unwrap_or_else(|error| panic!("{error}"));
    let sums = profile.collectives.iter();
    let sums = sums.filter(|record| record.operation == Operation::Allreduce);
    let by_plans = sums.filter(|record| record.plan.is_some());
    assert_eq!(by_plans.map(|record| record.calls).sum::<u64>(), 3000);
}

/// A non-blocking gather cannot wait for the sizes of others.
#[test]
fn persistent_collectives_alone_have_plans_that_need_the_sizes_of_all_ranks() {
    let collectives = "alltoallv=max-min,gatherv=grid-grouped";
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("sizes.profile.yaml");
    let Library::Set(mut variables) = replaced(collectives, &in_turn(5, 2)) else {
        unreachable!("it sets variables");
    };
    variables.push(("TREEPIE_OUTPUT", path.display().to_string()));
    let job = Job::new(Mpi::OpenMpi, 5, "started_cases").argument("uneven-requests");
    let outcome = job.with(Library::Set(variables)).run().succeeded();
    assert_eq!(outcome.stdout, "uneven-requests ok\n", "{}", outcome.told());
    let profile = Profile::read(&path).unwrap_or_else(|error| panic!("{error}"));
    let plans = |operation: Operation| -> Vec<&str> {
        let records = profile.collectives.iter();
        let records = records.filter(|record| record.operation == operation);
        let plans = records.filter_map(|record| record.plan.as_ref());
        plans.map(|plan| plan.algorithm.as_str()).collect()
    };
    assert!(
        plans(Operation::Alltoallv).contains(&"max-min"),
        "{profile:?}"
    );
    assert!(plans(Operation::Gatherv).is_empty(), "{profile:?}");
}

fn fortran_s_arrays_may_be_gone_when_a_call_has_started(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("fortran.profile.yaml");
    let library = replaced(&direct(), &in_turn(5, 2));
    let library = strategies::with(library, "TREEPIE_OUTPUT", &path.display().to_string());
    let job = Job::new(mpi, 5, "started.f90").argument("40");
    is_right(job.with(library));
    let profile = Profile::read(&path).unwrap_or_else(|error| panic!("{error}"));
    for (operation, calls) in [
        (Operation::Alltoallw, 40),
        (Operation::Allreduce, 45),
        (Operation::Bcast, 40),
    ] {
        let of_it = profile.collectives.iter();
        let of_it = of_it.filter(|record| record.operation == operation && record.plan.is_some());
        let by_plans: u64 = of_it.map(|record| record.calls).sum();
        assert_eq!(by_plans, calls, "{operation}: {:#?}", profile.collectives);
    }
}

fn a_started_collective_is_told_and_counted_as_the_plan_that_runs_it(mpi: Mpi) {
    let (lines, profile) = told(
        mpi,
        &[
            ("TREEPIE_COLLECTIVES", "auto"),
            ("TREEPIE_CLUSTERS", "0,0,1,1"),
        ],
    );
    let line = lines.iter().find(|line| line.contains("started scan of"));
    assert!(
        line.is_some_and(|line| line.contains(": at-once,")),
        "{lines:?}"
    );
    assert_eq!(plans_of_scans(&profile), ["at-once"]);
}

fn started_collectives_are_the_mpi_s_where_that_is_asked_for_or_messages_would_wait(mpi: Mpi) {
    for (collectives, started, clusters, lines) in [
        ("auto", "native", "0,0,1,1", 0),
        // Near each other, without measurements.
        ("auto", "auto", "0,0,0,0", 0),
        // Its messages wait for earlier ones, which MPICH 4 does not let them do.
        ("scan=chain,reduce=at-once", "auto", "0,0,1,1", 1),
    ] {
        let (told, profile) = told(
            mpi,
            &[
                ("TREEPIE_COLLECTIVES", collectives),
                ("TREEPIE_STARTED", started),
                ("TREEPIE_CLUSTERS", clusters),
            ],
        );
        let scans = told.iter().filter(|line| line.contains("started scan of"));
        assert_eq!(scans.count(), lines, "{collectives}: {told:?}");
        let calls_nobody = told.iter().filter(|line| line.contains("calls nobody"));
        let expected = usize::from(mpi == Mpi::Mpich && lines == 1);
        assert_eq!(calls_nobody.count(), expected, "{collectives}: {told:?}");
        let plans = plans_of_scans(&profile);
        match (mpi, lines) {
            (Mpi::OpenMpi, 1) => assert_eq!(plans, ["chain"]),
            _ => assert!(plans.is_empty(), "{collectives}: {plans:?}"),
        }
    }
}

under_all_mpis!(
    random_programs_get_right_results_from_plans,
    random_programs_get_right_results_from_what_is_chosen,
    random_programs_get_right_results_while_a_guard_tries_plans,
    random_programs_get_right_results_from_every_strategy,
    random_programs_get_right_results_from_plans_in_a_permuted_world,
    random_programs_get_right_results_from_every_strategy_by_a_thread,
    messages_go_on_by_a_thread_whatever_a_rank_does,
    ranks_may_do_anything_between_start_and_completion,
    ranks_may_do_anything_while_messages_wait_for_others,
    thousands_of_communicators_that_are_freed_at_once_have_plans,
);

under_each_mpi!(
    a_test_takes_in_all_that_has_come,
    fortran_s_arrays_may_be_gone_when_a_call_has_started,
    a_call_is_refused_where_there_are_no_more_tags,
    a_started_collective_is_told_and_counted_as_the_plan_that_runs_it,
    started_collectives_are_the_mpi_s_where_that_is_asked_for_or_messages_would_wait,
);
