//! The MPI's other algorithms under the guard: they are tried, actually run, and give right
//! results; settings of others are not changed; and if one rank cannot set them, none does.

use std::path::Path;

use treepie_collective::Operation;
use treepie_guard::State;
use treepie_profile::{GuardedCell, Profile};
use treepie_tests::two_clusters::TwoClusters;
use treepie_tests::{Job, Library, Mpi, Outcome, artifacts, longer, under_each_mpi};

/// A job of four ranks on one host, all collectives by `auto`, with a guard.
fn guarded(mpi: Mpi, program: &str, arguments: &[&str], profile: &Path) -> Job {
    let job = Job::new(mpi, 4, program);
    let job = arguments.iter().fold(job, |job, &word| job.argument(word));
    job.with(Library::Set(vec![
        ("TREEPIE_MODE", "replay".into()),
        ("TREEPIE_COLLECTIVES", "auto".into()),
        ("TREEPIE_GUARD", "on".into()),
        ("TREEPIE_OUTPUT", profile.display().to_string()),
    ]))
}

/// Runs a job; its results must be right. Returns the trials of the MPI's own algorithms.
#[track_caller]
fn run(
    (mpi, program): (Mpi, &str),
    arguments: &[&str],
    change: impl FnOnce(Job) -> Job,
) -> (Outcome, Vec<GuardedCell>) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("guarded.profile.yaml");
    let outcome = change(guarded(mpi, program, arguments, &path))
        .run()
        .succeeded();
    assert!(outcome.stdout.ends_with("0 wrong\n"), "{}", outcome.told());
    let profile = Profile::read(&path).unwrap_or_else(|error| panic!("{error}"));
    assert!(
        profile
            .collectives
            .iter()
            .all(|record| record.plan.is_none())
    );
    let cells = profile.guard.into_iter();
    let is_native = |cell: &GuardedCell| {
        let plan = cell.plan.as_ref();
        plan.is_some_and(|plan| plan.algorithm.starts_with("native:"))
    };
    (outcome, cells.filter(is_native).collect())
}

fn as_it_is(job: Job) -> Job {
    job
}

/// The variable of the algorithms for a scan.
fn variable(mpi: Mpi) -> &'static str {
    match mpi {
        Mpi::OpenMpi => "coll_tuned_scan_algorithm",
        _ => "MPIR_CVAR_SCAN_INTRA_ALGORITHM",
    }
}

/// This variable in the environment, with a value.
fn set_by_user(mpi: Mpi) -> (String, &'static str) {
    match mpi {
        Mpi::OpenMpi => (format!("OMPI_MCA_{}", variable(mpi)), "linear"),
        _ => (variable(mpi).to_owned(), "smp"),
    }
}

/// True if one ran, at least in a trial, for an operation.
fn ran(cells: &[GuardedCell], operation: Operation) -> bool {
    let mut of_it = cells.iter().filter(|cell| cell.operation == operation);
    of_it.any(|cell| cell.plan_seconds.is_some())
}

/// A job of one operation under Open MPI, and the algorithms for it that its library ran.
#[track_caller]
fn calls_with_a_spy(
    operation: &str,
    calls: &str,
    change: impl FnOnce(Job) -> Job,
) -> (Vec<String>, Vec<GuardedCell>) {
    let spy = artifacts::job(Mpi::OpenMpi, "native_algorithms.so");
    let both = format!("{}:{}", artifacts::library().display(), spy.display());
    let arguments = ["one", operation, calls];
    let (outcome, cells) = run((Mpi::OpenMpi, "guarded"), &arguments, |job| {
        change(job.variable("LD_PRELOAD", both))
    });
    let lines = outcome.stderr.lines();
    let words = lines.map(|line| line.split(' ').collect::<Vec<_>>());
    let start = format!("{operation}_intra_");
    let of_it = words.filter(|words| words.len() == 3 && words[1].starts_with(&start));
    (of_it.map(|words| words[1].to_owned()).collect(), cells)
}

#[test]
fn open_mpi_runs_the_algorithm_that_is_tried() {
    // It is tried second, after one that the MPI uses itself: the number of calls that this needs
    // depends on the similarity of their times.
    let tried = "allreduce_intra_nonoverlapping".to_owned();
    let is_tried = |calls: &&str| {
        let (ran_by, cells) = calls_with_a_spy("allreduce", calls, as_it_is);
        assert!(ran(&cells, Operation::Allreduce), "{cells:?}");
        assert_ne!(ran_by[0], tried);
        ran_by[1..].contains(&tried)
    };
    assert!(["60000", "500000"].iter().any(is_tried));
}

/// Three hosts of one cluster, whose ranks have no plans here.
const HOSTS: &str = "treepie: grid\nversion: 1\nclusters:\n\
    - {name: a, hosts: 3, latency_us: 50, mbit: 1000}\n";

/// HAN does the collectives of communicators over several hosts, and takes seven times as long for
/// few bytes: in a duplicate without it, an algorithm of `tuned` replaces it.
#[test]
fn where_han_does_the_collectives_algorithms_of_tuned_are_tried_beside_it() {
    let hosts = TwoClusters::new();
    std::fs::write(hosts.file("two.grid.yaml"), HOSTS).expect("a file");
    let path = hosts.file("guarded.profile.yaml");
    let settings = format!(
        "LD_PRELOAD={}:{}:$LD_PRELOAD OMPI_MCA_coll_han_priority=100 TREEPIE_MODE=replay \
         TREEPIE_COLLECTIVES=auto TREEPIE_GUARD=on TREEPIE_CLUSTERS=0,0,0,0,0,0 TREEPIE_OUTPUT={}",
        artifacts::library().display(),
        artifacts::job(Mpi::OpenMpi, "native_algorithms.so").display(),
        path.display()
    );
    let job = ["guarded", "one", "allreduce", "6000"];
    let done = hosts.job(&["--ranks", "2"], (Mpi::OpenMpi, 6), &settings, &job);
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(String::from_utf8_lossy(&done.stdout), "0 wrong\n", "{said}");
    let profile = Profile::read(&path).unwrap_or_else(|error| panic!("{error}\n{said}"));
    let mut cells = profile.guard.iter();
    let is_adopted = |cell: &&GuardedCell| {
        let plan = cell.plan.as_ref();
        cell.state == State::Adopted
            && plan.is_some_and(|plan| plan.algorithm.starts_with("native:"))
    };
    assert!(cells.any(|cell| is_adopted(&cell)), "{:#?}", profile.guard);
    // It is random which of them is proven first.
    let calls = said.lines().filter_map(|line| {
        let counted = line.strip_prefix("algorithm allreduce_intra_")?;
        counted.split_once(' ')?.1.parse::<u32>().ok()
    });
    assert!(calls.max() > Some(1_000), "{said}");
}

/// Its rules take precedence over the settings of a duplicate, which would run another algorithm
/// than recorded.
#[test]
fn what_a_tuning_names_runs_from_the_first_call_on_and_nothing_else_is_tried() {
    let tuning = artifacts::repository().join("profiles/four-ranks.tuning.yaml");
    let (scans, cells) = calls_with_a_spy("scan", "60000", |job| {
        job.variable("TREEPIE_TUNING", tuning.display())
    });
    assert_eq!(scans, ["scan_intra_recursivedoubling"]);
    for cell in &cells {
        assert_eq!((cell.state, cell.plan_seconds), (State::Closed, None));
    }
}

/// Calls of `native_order`, until the expected candidate was tried.
const CALLS: [&str; 3] = ["900", "9000", "60000"];

/// The operation of a scan sees the variable set in some calls, and the program never does between
/// calls.
#[test]
fn mpich_has_its_variable_set_in_a_call_and_set_back_behind_it() {
    let name = variable(Mpi::Mpich);
    let run = |calls: &str| run((Mpi::Mpich, "native_order"), &[calls, name], as_it_is);
    let (outcome, cells) = longer(&CALLS, run, |(_, cells)| ran(cells, Operation::Scan));
    assert!(ran(&cells, Operation::Scan), "{cells:?}");
    assert_eq!(outcome.stdout, format!("{name} was set\n0 wrong\n"));
}

fn all_operations_leave_what_the_mpi_leaves(mpi: Mpi) {
    let (_, cells) = run((mpi, "guarded"), &["operations", "4000"], as_it_is);
    assert!(
        cells.iter().any(|cell| cell.plan_seconds.is_some()),
        "{cells:?}"
    );
}

fn operands_keep_their_order_in_place_and_not(mpi: Mpi) {
    let has_run = |cells: &[GuardedCell]| {
        let mut ordered = cells.iter().filter(|cell| cell.ordered);
        ordered.any(|cell| cell.plan_seconds.is_some())
    };
    let run = |calls: &str| run((mpi, "native_order"), &[calls], as_it_is).1;
    let cells = longer(&CALLS, run, |cells| has_run(cells));
    assert!(has_run(&cells), "{cells:?}");
}

fn ranks_may_describe_the_same_data_differently(mpi: Mpi) {
    run((mpi, "guarded"), &["signatures", "1500"], as_it_is);
}

fn communicators_may_end_while_ranks_tell_each_other(mpi: Mpi) {
    for what in ["freed", "kept"] {
        run((mpi, "guarded"), &[what], as_it_is);
    }
}

fn an_error_that_is_returned_ends_the_trials(mpi: Mpi) {
    let (_, cells) = run((mpi, "guarded"), &["wrong", "1500"], as_it_is);
    for cell in &cells {
        assert!(
            !matches!(cell.state, State::Trying | State::Adopted),
            "{cell:?}"
        );
    }
}

/// Variables belong to the process, and another thread may be in a collective.
fn where_threads_call_at_once_none_is_tried(mpi: Mpi) {
    let (_, cells) = run((mpi, "collective_threads"), &["4", "400"], as_it_is);
    assert!(cells.is_empty(), "{cells:?}");
}

fn what_the_user_has_set_stays_and_is_said_once(mpi: Mpi) {
    let (name, value) = set_by_user(mpi);
    let arguments = ["one", "scan", "1500"];
    let (outcome, cells) = run((mpi, "guarded"), &arguments, |job| {
        job.variable(&name, value).variable("TREEPIE_LOG", "info")
    });
    assert!(cells.is_empty(), "{cells:?}");
    let line = format!("guard: {name} is set, and wins");
    let said = outcome.stderr.lines().filter(|text| text.contains(&line));
    assert_eq!(said.count(), 1, "{}", outcome.told());
}

/// The MPI no longer reads the environment then: Open MPI's algorithms cannot be set, MPICH's can.
fn a_program_may_start_the_tool_interface_first(mpi: Mpi) {
    let run = |calls: &str| {
        let arguments = [calls, variable(mpi), "x"];
        run((mpi, "native_order"), &arguments, as_it_is)
    };
    let is_enough = |(_, cells): &(Outcome, Vec<GuardedCell>)| {
        mpi == Mpi::OpenMpi || ran(cells, Operation::Scan)
    };
    let (outcome, cells) = longer(&CALLS, run, is_enough);
    let said = match mpi {
        Mpi::OpenMpi => {
            let mut ran = cells.iter().filter(|cell| cell.plan_seconds.is_some());
            assert!(ran.next().is_none() && !cells.is_empty(), "{cells:?}");
            "left alone"
        }
        _ => "set",
    };
    let expected = format!("{} was {said}\n0 wrong\n", variable(mpi));
    assert_eq!(outcome.stdout, expected, "{}", outcome.told());
}

/// One rank that cannot set a variable keeps all ranks from it.
fn what_one_rank_cannot_set_no_rank_runs(mpi: Mpi) {
    let refusals = artifacts::job(mpi, "refusals.so");
    let both = format!("{}:{}", artifacts::library().display(), refusals.display());
    // Operations of which another algorithm is tried. Open MPI's scans overlap: it takes long until
    // their time pays for that.
    let (operation, refused) = match mpi {
        Mpi::OpenMpi => ("allreduce", "mca_base_var_set_value"),
        _ => ("scan", "MPI_T_cvar_write"),
    };
    let run = |calls: &str| {
        let arguments = ["one", operation, calls];
        let (outcome, cells) = run((mpi, "guarded"), &arguments, |job| {
            job.variable("LD_PRELOAD", &both)
                .variable("REFUSED", refused)
                .variable("REFUSED_ON", 2)
        });
        assert!(!cells.is_empty(), "{}", outcome.told());
        // A cell whose candidate ran has a time.
        let mut none = cells.iter().map(|cell| cell.plan_seconds.is_none());
        assert!(none.all(|none| none), "{cells:?}");
        cells
    };
    // Another one may be tried next.
    let is_closed = |cells: &[GuardedCell]| cells.iter().any(|cell| cell.state == State::Closed);
    let cells = longer(&["120000", "1000000"], run, |cells| is_closed(cells));
    assert!(is_closed(&cells), "{cells:?}");
}

under_each_mpi!(
    all_operations_leave_what_the_mpi_leaves,
    operands_keep_their_order_in_place_and_not,
    ranks_may_describe_the_same_data_differently,
    communicators_may_end_while_ranks_tell_each_other,
    an_error_that_is_returned_ends_the_trials,
    where_threads_call_at_once_none_is_tried,
    what_the_user_has_set_stays_and_is_said_once,
    a_program_may_start_the_tool_interface_first,
    what_one_rank_cannot_set_no_rank_runs,
);
