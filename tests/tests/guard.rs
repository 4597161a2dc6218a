//! The guard on collectives: right results for any plan, and its record in the profile. No test
//! here depends on durations, except where a plan is dropped: two crossings of a wide-area link
//! instead of one, or four times the bytes.

use treepie_collective::Operation;
use treepie_guard::{BUDGET_PART, Form, REINVESTED_PART, State};
use treepie_profile::{GuardedCell, Profile};
use treepie_tests::two_clusters::TwoClusters;
use treepie_tests::{Job, Library, Mpi, Outcome, artifacts, longer, under_each_mpi};

/// A replay with a guard, ranks in these clusters, and the profile to write.
fn guarded(guard: &str, clusters: &str, profile: &std::path::Path) -> Library {
    Library::Set(vec![
        ("TREEPIE_MODE", "replay".into()),
        ("TREEPIE_COLLECTIVES", "auto".into()),
        ("TREEPIE_CLUSTERS", clusters.into()),
        ("TREEPIE_GUARD", guard.into()),
        ("TREEPIE_OUTPUT", profile.display().to_string()),
    ])
}

/// Runs a job of four ranks with a guard; all its results must be right. Returns the guard's
/// results.
#[track_caller]
fn run(mpi: Mpi, guard: &str, program: &str, arguments: &[&str]) -> (Outcome, Profile) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("guarded.profile.yaml");
    let job = Job::new(mpi, 4, program);
    let job = arguments.iter().fold(job, |job, &word| job.argument(word));
    let outcome = job.with(guarded(guard, "0,0,1,1", &path)).run();
    let outcome = outcome.succeeded().silent();
    assert_eq!(outcome.stdout, "0 wrong\n", "{}", outcome.told());
    let profile = Profile::read(&path).unwrap_or_else(|error| panic!("{error}"));
    assert_promise_is_kept(&profile.guard);
    (outcome, profile)
}

/// The trials took at most one hundredth of each cell, one block whose calls took longer than any
/// before them (eight of the longest, of any challenger), and a tenth of the time that plans have
/// saved in all cells.
#[track_caller]
fn assert_promise_is_kept(results: &[GuardedCell]) {
    let is_watched = |one: &GuardedCell| matches!(one.state, State::Adopted | State::TakenBack);
    let saved: f64 = results.iter().map(|one| one.saved_seconds).sum();
    let lent = saved.max(0.0) / REINVESTED_PART as f64;
    let cell_of = |result: &GuardedCell| (result.operation, result.form, result.root, result.bytes);
    for result in results {
        let of_cell = results.iter().filter(|one| cell_of(one) == cell_of(result));
        let longest = of_cell.map(|one| one.longest_seconds).fold(0.0, f64::max);
        let longest = longest.max(result.native_seconds.unwrap_or(0.0));
        let most = result.seconds / BUDGET_PART as f64 + 8.0 * longest + lent;
        assert!(
            is_watched(result) || result.excess_seconds <= most,
            "{result:?}: {most} s at most"
        );
    }
}

fn tried(profile: &Profile) -> Vec<&GuardedCell> {
    let cells = profile.guard.iter();
    cells.filter(|cell| cell.plan.is_some()).collect()
}

fn every_operation_leaves_what_the_mpi_leaves_while_plans_are_tried(mpi: Mpi) {
    for guard in ["on", "report"] {
        // Ranks that share cores pay much for an exchange, and make the next one late.
        let lacks = |profile: &Profile| {
            let tried = tried(profile);
            let is_tried = |operation| tried.iter().any(|cell| cell.operation == operation);
            Operation::all().find(|&operation| !is_tried(operation))
        };
        let run = |rounds: &str| run(mpi, guard, "guarded", &["operations", rounds]).1;
        let profile = longer(&["6000", "20000"], run, |profile| lacks(profile).is_none());
        assert_eq!(lacks(&profile), None, "{:#?}", profile.guard);
        let tried = tried(&profile);
        let adopted = tried.iter().any(|cell| cell.state == State::Adopted);
        assert!(guard == "on" || !adopted, "{tried:#?}");
    }
}

fn every_started_operation_leaves_what_the_mpi_leaves_while_plans_are_tried(mpi: Mpi) {
    for guard in ["on", "report"] {
        let (_, profile) = run(mpi, guard, "guarded", &["started", "6000"]);
        let mut started = tried(&profile);
        started.retain(|cell| cell.form == Form::Nonblocking);
        assert!(!started.is_empty(), "{:#?}", profile.guard);
        let adopted = started.iter().any(|cell| cell.state == State::Adopted);
        assert!(guard == "on" || !adopted, "{started:#?}");
    }
}

fn plans_are_tried_between_neighbours_whose_results_stay_right(mpi: Mpi) {
    let (_, profile) = run(mpi, "on", "guarded", &["neighbours", "10000"]);
    let tried = tried(&profile);
    for operation in [Operation::NeighborAllgather, Operation::NeighborAlltoall] {
        let is_tried = tried.iter().any(|cell| cell.operation == operation);
        assert!(is_tried, "{operation}: {:#?}", profile.guard);
    }
}

/// There is no agreement if ranks never wait for each other, and no rank waits for one.
fn a_rank_may_start_thousands_before_another_starts_one(mpi: Mpi) {
    let (_, profile) = run(mpi, "on", "guarded", &["ahead", "3000"]);
    let cells = profile.guard.iter();
    let cell = cells.clone().find(|cell| cell.form == Form::Nonblocking);
    assert!(
        cell.is_some_and(|cell| cell.calls == 3000),
        "{:#?}",
        profile.guard
    );
    let tried = tried(&profile);
    let none = tried.iter().all(|cell| cell.won + cell.lost == 0);
    assert!(none, "{:#?}", profile.guard);
}

fn plans_that_ran_in_trials_are_counted_as_run(mpi: Mpi) {
    let (_, profile) = run(mpi, "report", "guarded", &["one", "allreduce", "3000"]);
    let cell = tried(&profile)[0];
    assert_eq!(cell.operation, Operation::Allreduce);
    // A cell that was left to the MPI counts no further.
    let is_left = matches!(cell.state, State::Dropped | State::Closed);
    assert!(
        cell.calls == 3000 || is_left && cell.calls < 3000,
        "{cell:?}"
    );
    let calls = |planned: bool| {
        let records = profile.collectives.iter();
        let alike = records.filter(|record| record.plan.is_some() == planned);
        let alike = alike.filter(|record| record.operation == Operation::Allreduce);
        alike.map(|record| record.calls).sum::<u64>()
    };
    assert_eq!(calls(true) + calls(false), 3000);
    assert!((1..400).contains(&calls(true)), "{}", calls(true));
}

fn very_many_short_cells_try_nothing(mpi: Mpi) {
    let (_, profile) = run(mpi, "on", "guarded", &["cells"]);
    assert!(tried(&profile).is_empty(), "{:#?}", profile.guard);
    assert!(
        profile
            .collectives
            .iter()
            .all(|record| record.plan.is_none())
    );
}

fn communicators_may_end_while_ranks_tell_each_other(mpi: Mpi) {
    for what in ["freed", "kept"] {
        let (_, profile) = run(mpi, "on", "guarded", &[what]);
        // Equal communicators are counted as one.
        let of_calls = profile.guard.iter();
        let calls: u64 = of_calls.map(|cell| cell.calls).sum();
        assert_eq!(calls, (126..=140).sum::<u64>(), "{:#?}", profile.guard);
    }
}

fn ranks_may_describe_the_same_data_differently(mpi: Mpi) {
    let (_, profile) = run(mpi, "on", "guarded", &["signatures", "1200"]);
    let of = |operation| {
        let cells = profile.guard.iter();
        cells.filter(move |cell| cell.operation == operation)
    };
    for cell in of(Operation::Bcast).chain(of(Operation::Gatherv)) {
        assert_ne!(cell.state, State::Closed, "{cell:?}");
    }
    assert!(of(Operation::Gatherv).all(|cell| cell.bytes.is_none()));
}

fn an_error_that_is_returned_closes_the_guard(mpi: Mpi) {
    for what in ["wrong", "wrong-start"] {
        let (_, profile) = run(mpi, "on", "guarded", &[what, "2000"]);
        assert!(!profile.guard.is_empty());
        for cell in &profile.guard {
            let is_left = !matches!(cell.state, State::Warming | State::Trying | State::Adopted);
            assert!(is_left, "{what}: {cell:?}");
        }
    }
}

fn threads_have_guards_of_their_own(mpi: Mpi) {
    let (_, profile) = run(mpi, "on", "collective_threads", &["4", "400"]);
    assert!(!tried(&profile).is_empty(), "{:#?}", profile.guard);
}

fn reproducible_reductions_are_not_tried(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("guarded.profile.yaml");
    Job::new(mpi, 4, "guarded")
        .argument("operations")
        .argument("150")
        .with(guarded("on", "0,0,1,1", &path))
        .variable("TREEPIE_REPRODUCIBLE", "true")
        .run()
        .succeeded()
        .silent();
    let profile = Profile::read(&path).unwrap_or_else(|error| panic!("{error}"));
    assert!(profile.guard.iter().all(|cell| !cell.operation.reduces()));
    let fixed = profile.collectives.iter();
    let mut fixed = fixed.filter(|record| record.operation == Operation::Allreduce);
    assert!(fixed.all(|record| record.plan.is_some()));
}

/// Two clusters of two hosts, 5 ms apart.
const NEAR: &str = "treepie: grid\nversion: 1\nwan_latency_us: 2500\nclusters:\n\
    - {name: a, hosts: 2, latency_us: 50, mbit: 200, uplink_mbit: 100}\n\
    - {name: b, hosts: 2, latency_us: 50, mbit: 200, uplink_mbit: 100}\n";

/// Runs a job of four ranks on a grid, with collectives replaced by `auto`; returns its profile and
/// its messages.
fn on_grid(grid: &TwoClusters, mpi: Mpi, settings: &str, job: &[&str]) -> (Profile, String) {
    let path = grid.file("guarded.profile.yaml");
    let settings = format!(
        "TREEPIE_MODE=replay TREEPIE_COLLECTIVES=auto TREEPIE_OUTPUT={} {settings}",
        path.display()
    );
    let done = grid.job(&[], (mpi, 4), &settings, job);
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    let stdout = String::from_utf8_lossy(&done.stdout).into_owned();
    let profile = Profile::read(&path).unwrap_or_else(|error| panic!("{error}"));
    (profile, stdout)
}

/// Runs `calls` of a collective on two clusters; returns the guard's results for it.
fn on_the_grid(mpi: Mpi, settings: &str, name: &str, calls: &str) -> Vec<GuardedCell> {
    let (cells, said) = job_on_the_grid(mpi, settings, name, &["guarded", "one", name, calls]);
    assert_eq!(said, "0 wrong\n");
    cells
}

/// Runs a job on two clusters; returns the guard's results for a collective, and the job's
/// messages.
fn job_on_the_grid(
    mpi: Mpi,
    settings: &str,
    name: &str,
    job: &[&str],
) -> (Vec<GuardedCell>, String) {
    let grid = TwoClusters::new();
    std::fs::write(grid.file("two.grid.yaml"), NEAR).expect("a file");
    let settings = format!("TREEPIE_GUARD=on {settings}");
    let (profile, said) = on_grid(&grid, mpi, &settings, job);
    let operation: Operation = name.parse().expect("a collective");
    let cells = profile.guard.into_iter();
    let cells = cells.filter(|cell| cell.operation == operation);
    (cells.collect(), said)
}

/// One cluster of four hosts, 50 us apart, as a grid and as a platform.
const ONE: &str = "treepie: grid\nversion: 1\nclusters:\n\
    - {name: a, hosts: 4, latency_us: 50, mbit: 1000}\n";
const ONE_AS_PLATFORM: &str = "treepie: platform\nversion: 1\nhosts:\n\
    - {name: a0, ranks: 0}\n- {name: a1, ranks: 1}\n- {name: a2, ranks: 2}\n- {name: a3, ranks: 3}\n\
    clusters:\n- name: a\n  hosts: [a0, a1, a2, a3]\n  leader: 0\n  within:\n    latency_us: 50\n\
    \x20   samples:\n    - 0 3\n    - 1048576 9100\n";

/// Near hosts replace clusters: their collectives are tried by the guard, and short ones stay the
/// MPI's without one.
fn short_calls_between_near_hosts_have_plans_only_where_the_guard_tries_them(mpi: Mpi) {
    let grid = TwoClusters::new();
    std::fs::write(grid.file("two.grid.yaml"), ONE).expect("a file");
    let platform = grid.file("one.platform.yaml");
    std::fs::write(&platform, ONE_AS_PLATFORM).expect("a file");
    let settings = |guard: &str| {
        let platform = platform.display();
        format!("TREEPIE_PLATFORM={platform} TREEPIE_GUARD={guard}")
    };
    let run = |guard: &str, rounds: &str| {
        let job = ["guarded", "operations", rounds];
        let (profile, said) = on_grid(&grid, mpi, &settings(guard), &job);
        assert_eq!(said, "0 wrong\n");
        profile
    };
    let of_hosts = |guarded: &Profile| {
        let mut tried = tried(guarded).into_iter();
        tried.any(|cell| cell.clusters == 4)
    };
    let guarded = longer(&["250", "2000"], |rounds| run("on", rounds), of_hosts);
    assert_promise_is_kept(&guarded.guard);
    assert!(of_hosts(&guarded), "{:#?}", guarded.guard);
    let free = run("off", "3");
    let short = free.collectives.iter();
    let short = short.filter(|record| record.block_bytes() < 1024);
    let plans: Vec<bool> = short.map(|record| record.plan.is_some()).collect();
    assert!(!plans.is_empty() && !plans.contains(&true), "{free:#?}");
}

/// Clusters that differ from the grid's: the plan crosses the wide-area link twice, the MPI's own
/// allreduce once.
fn a_plan_for_other_clusters_is_dropped_and_the_profile_says_so(mpi: Mpi) {
    let settings = "TREEPIE_CLUSTERS=0,1,0,1";
    let run = |calls: &str| {
        let cells = on_the_grid(mpi, settings, "allreduce", calls);
        assert_promise_is_kept(&cells);
        cells.into_iter().next().expect("a plan was tried")
    };
    // Other candidates are tried in between, too.
    let cell = longer(&["2500", "10000"], run, is_decided);
    assert_eq!(cell.state, State::Dropped, "{cell:?}");
    assert!(cell.lost > cell.won && cell.plan.is_some(), "{cell:?}");
}

/// Each round of the MPI's own allreduce, by recursive doubling, crosses between clusters: two
/// crossings of the wide-area link, compared with one of the plan.
fn a_plan_that_crosses_the_grid_once_instead_of_twice_is_adopted(mpi: Mpi) {
    let settings = "TREEPIE_PERMUTATION=0,3,1,2 TREEPIE_CLUSTERS=0,0,1,1";
    let cells = on_the_grid(mpi, settings, "allreduce", "2500");
    let adopted = cells.iter().find(|cell| cell.state == State::Adopted);
    let cell = adopted.unwrap_or_else(|| panic!("{cells:?}"));
    assert!(cell.won > cell.lost, "{cell:?}");
}

/// The guard's results for one collective, started repeatedly on a grid: by a call each time, or by
/// requests.
fn started_on_grid(mpi: Mpi, grid: &str, settings: &str, job: [&str; 3]) -> GuardedCell {
    let clusters = TwoClusters::new();
    std::fs::write(clusters.file("two.grid.yaml"), grid).expect("a file");
    let settings = format!("TREEPIE_GUARD=on {settings}");
    let form = match job[0] {
        "restart" => Form::Persistent,
        _ => Form::Nonblocking,
    };
    let job = [&["guarded"], &job[..]].concat();
    let (profile, said) = on_grid(&clusters, mpi, &settings, &job);
    assert_eq!(said, "0 wrong\n");
    assert_promise_is_kept(&profile.guard);
    let cells = profile.guard.iter();
    let mut started = cells.filter(|cell| cell.form == form && cell.plan.is_some());
    let cell = started.next().cloned();
    cell.unwrap_or_else(|| panic!("{:#?}", profile.guard))
}

/// True if the guard has decided.
fn is_decided(cell: &GuardedCell) -> bool {
    !matches!(cell.state, State::Warming | State::Trying)
}

/// All ranks send to all others together: one crossing of the wide-area link instead of two.
/// Blocking ones show that calls are judged alike under each MPI; a started one takes several times
/// as long.
#[test]
fn a_started_plan_that_crosses_the_grid_once_instead_of_twice_is_adopted() {
    let settings = "TREEPIE_PERMUTATION=0,3,1,2 TREEPIE_CLUSTERS=0,0,1,1";
    let run = |starts: &str| {
        let job = ["start", "allreduce", starts];
        started_on_grid(Mpi::OpenMpi, NEAR, settings, job)
    };
    let cell = longer(&["2500", "7500"], run, is_decided);
    assert_eq!(cell.state, State::Adopted, "{cell:?}");
    assert!(cell.won > cell.lost, "{cell:?}");
}

/// Two clusters of two hosts near each other, with a slow link between them.
const NARROW: &str = "treepie: grid\nversion: 1\nwan_latency_us: 100\nclusters:\n\
    - {name: a, hosts: 2, latency_us: 50, mbit: 200, uplink_mbit: 10}\n\
    - {name: b, hosts: 2, latency_us: 50, mbit: 200, uplink_mbit: 10}\n";

/// All ranks send to all others together: four times the bytes over a narrow link.
#[test]
fn a_started_plan_that_sends_too_much_is_dropped() {
    let run = |starts: &str| {
        let job = ["start", "long", starts];
        started_on_grid(Mpi::Mpich, NARROW, "TREEPIE_CLUSTERS=0,0,1,1", job)
    };
    let cell = longer(&["2500", "7500"], run, is_decided);
    assert_eq!(cell.state, State::Dropped, "{cell:?}");
    assert!(cell.lost > cell.won, "{cell:?}");
}

/// No call in which ranks may wait for each other occurs between the starts.
#[test]
fn a_plan_is_adopted_for_requests_that_are_only_ever_started() {
    let settings = "TREEPIE_PERMUTATION=0,3,1,2 TREEPIE_CLUSTERS=0,0,1,1";
    let run = |starts: &str| {
        let job = ["restart", "allreduce", starts];
        started_on_grid(Mpi::OpenMpi, NEAR, settings, job)
    };
    let cell = longer(&["900", "3000"], run, is_decided);
    assert_eq!(cell.state, State::Adopted, "{cell:?}");
    assert!(cell.won > cell.lost, "{cell:?}");
}

/// New requests need no separate trial.
#[test]
fn a_request_begins_with_the_plan_that_those_before_it_have_adopted() {
    let grid = TwoClusters::new();
    std::fs::write(grid.file("two.grid.yaml"), NEAR).expect("a file");
    let settings = "TREEPIE_MODE=replay TREEPIE_COLLECTIVES=auto TREEPIE_GUARD=on \
        TREEPIE_LOG=info TREEPIE_PERMUTATION=0,3,1,2 TREEPIE_CLUSTERS=0,0,1,1";
    let job = ["guarded", "restart", "allreduce", "2", "900"];
    let done = grid.job(&[], (Mpi::OpenMpi, 4), settings, &job);
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(String::from_utf8_lossy(&done.stdout), "0 wrong\n", "{said}");
    let begins = said
        .lines()
        .filter(|line| line.contains("a request begins with"));
    assert_eq!(begins.count(), 2, "{said}");
}

/// The budget of so few starts suffices for few pairs.
#[test]
fn a_plan_that_sends_too_much_is_not_adopted_for_requests() {
    let run = |starts: &str| {
        let job = ["restart", "long", starts];
        let cell = started_on_grid(Mpi::Mpich, NARROW, "TREEPIE_CLUSTERS=0,0,1,1", job);
        assert_ne!(cell.state, State::Adopted, "{cell:?}");
        cell
    };
    let cell = longer(&["1200", "4000"], run, |cell| cell.lost > cell.won);
    assert!(cell.lost > cell.won, "{cell:?}");
}

fn requests_that_are_started_in_other_orders_are_right_while_plans_are_tried(mpi: Mpi) {
    for guard in ["on", "report"] {
        let (_, profile) = run(mpi, guard, "guarded", &["restart", "allreduce", "1500"]);
        let tried = tried(&profile);
        let requests = tried.iter().filter(|cell| cell.form == Form::Persistent);
        assert!(requests.clone().count() > 0, "{:#?}", profile.guard);
        let starts: u64 = requests.clone().map(|cell| cell.calls).sum();
        assert!(starts > 128, "{:#?}", profile.guard);
        let planned = profile.collectives.iter();
        let planned = planned.filter(|record| record.plan.is_some());
        assert!(planned.map(|record| record.calls).sum::<u64>() > 0);
    }
}

/// The first five calls cross the wide-area link twice as often as the later ones: compared with
/// these the plan would be a gain, compared with the others it is none.
#[test]
fn what_mpich_takes_until_its_sixth_call_is_not_taken_for_a_gain() {
    let settings = "MPIR_CVAR_DEVICE_COLLECTIVES=none TREEPIE_CLUSTERS=0,0,1,1";
    let job = ["sixth_call", "2500"];
    let (cells, said) = job_on_the_grid(Mpi::Mpich, settings, "allreduce", &job);
    assert_eq!(said, "the first calls are slower\n0 wrong\n");
    let cell = cells.first().expect("a plan was tried");
    assert!(cell.plan.is_some() && cell.won + cell.lost > 0, "{cell:?}");
    assert_ne!(cell.state, State::Adopted, "{cell:?}");
    assert_promise_is_kept(&cells);
}

/// The table of `treepie show`, and its section in the report.
#[test]
fn what_was_found_is_shown() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("guarded.profile.yaml");
    Job::new(Mpi::OpenMpi, 4, "guarded")
        .argument("one")
        .argument("allreduce")
        .argument("3000")
        .with(guarded("report", "0,0,1,1", &path))
        .run()
        .succeeded()
        .silent();
    let show = |option: &[&str]| {
        let mut command = std::process::Command::new(artifacts::command());
        let done = command.arg("show").arg(&path).args(option).output();
        let done = done.expect("the command runs");
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let text = show(&[]);
    assert!(text.contains("guard on collectives"), "{text}");
    assert!(text.contains("grid-exchange"), "{text}");
    assert!(show(&["--json"]).contains("\"excess_seconds\""));
}

under_each_mpi!(
    every_operation_leaves_what_the_mpi_leaves_while_plans_are_tried,
    every_started_operation_leaves_what_the_mpi_leaves_while_plans_are_tried,
    plans_are_tried_between_neighbours_whose_results_stay_right,
    a_rank_may_start_thousands_before_another_starts_one,
    requests_that_are_started_in_other_orders_are_right_while_plans_are_tried,
    plans_that_ran_in_trials_are_counted_as_run,
    very_many_short_cells_try_nothing,
    communicators_may_end_while_ranks_tell_each_other,
    ranks_may_describe_the_same_data_differently,
    an_error_that_is_returned_closes_the_guard,
    threads_have_guards_of_their_own,
    reproducible_reductions_are_not_tried,
    a_plan_for_other_clusters_is_dropped_and_the_profile_says_so,
    a_plan_that_crosses_the_grid_once_instead_of_twice_is_adopted,
    short_calls_between_near_hosts_have_plans_only_where_the_guard_tries_them
);
