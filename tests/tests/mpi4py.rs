//! mpi4py's own test suite: with the library, and under random permutations of its world, it fails
//! exactly where it fails without.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;
use treepie_tests::permutations::{seed, shuffled};
use treepie_tests::{Job, Library, Mpi, Outcome, artifacts, results, strategies};

/// A run takes half a minute on an idle machine, some minutes with four ranks on two cores, and
/// more beside other work.
const LIMIT: Duration = Duration::from_secs(1800);

/// Tests that do not end, or end differently from run to run, without the library, or are long and
/// unrelated to it: they are left out, with the reason.
fn left_out(mpi: Mpi) -> Vec<(&'static str, &'static str)> {
    let mut tests = vec![(
        "*test_util_pool*",
        "threads race for tasks without any MPI: `test_terminate` fails once in 40,000 times in \
         plain Python, when a thread wakes just as the last task is about to be cancelled",
    )];
    if cfg!(not(feature = "all-mpis")) {
        tests.push((
            "*TestDatatypePickle*",
            "it pickles datatypes without a message, and takes a third of the time of a run",
        ));
    }
    if mpi == Mpi::Mpich {
        tests.extend([
            (
                "*TestP2PBufPart*.testRing",
                "partitioned messages around three ranks never arrive in MPICH 4.0.2",
            ),
            (
                "*test_util_sync*",
                "locks made of one-sided calls make no progress in MPICH 4.0.2 while another rank waits",
            ),
        ]);
    }
    tests
}

/// Result of each test: the union of the reports of all processes.
#[derive(Debug, PartialEq, Eq)]
struct Suite {
    /// The tests of each outcome: `passed`, `failed`, `skipped`, ...
    outcomes: BTreeMap<String, BTreeSet<String>>,
    /// Tests that a process began and did not end: it crashed there.
    unfinished: BTreeSet<String>,
}

impl Suite {
    /// The results of the tests of these modules only.
    #[cfg(not(feature = "all-mpis"))]
    fn of_modules(&self, modules: &[&str]) -> Suite {
        let belongs = |test: &&String| {
            let module = test.split('.').next().unwrap_or_default();
            modules.iter().any(|name| module.contains(name))
        };
        let chosen = |tests: &BTreeSet<String>| tests.iter().filter(belongs).cloned().collect();
        let outcomes = self.outcomes.iter();
        let outcomes: BTreeMap<String, BTreeSet<String>> = outcomes
            .map(|(outcome, tests)| (outcome.clone(), chosen(tests)))
            .filter(|(_, tests): &(String, BTreeSet<String>)| !tests.is_empty())
            .collect();
        Suite {
            outcomes,
            unfinished: chosen(&self.unfinished),
        }
    }

    fn of(&self, outcome: &str) -> BTreeSet<String> {
        self.outcomes.get(outcome).cloned().unwrap_or_default()
    }

    #[track_caller]
    fn read(directory: &Path) -> Suite {
        let mut suite = Suite {
            outcomes: BTreeMap::new(),
            unfinished: BTreeSet::new(),
        };
        let entries = std::fs::read_dir(directory).expect("the test made it");
        for entry in entries {
            let path = entry.expect("it is readable").path();
            let text = std::fs::read_to_string(&path).expect("it is readable");
            let mut running = None;
            for (outcome, test) in text.lines().filter_map(|line| line.split_once(' ')) {
                if outcome == "start" {
                    running = Some(test.to_owned());
                    continue;
                }
                running = None;
                let tests = suite.outcomes.entry(outcome.to_owned()).or_default();
                tests.insert(test.to_owned());
            }
            suite.unfinished.extend(running);
        }
        suite
    }
}

#[track_caller]
fn run(mpi: Mpi, ranks: usize, library: Library) -> (Suite, Outcome) {
    run_modules(mpi, ranks, library, &[])
}

/// Runs the suite's modules whose names contain one of `modules`; all if there are none.
#[track_caller]
fn run_modules(mpi: Mpi, ranks: usize, library: Library, modules: &[&str]) -> (Suite, Outcome) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let mut job = Job::of(mpi, ranks, artifacts::python(mpi))
        .argument(artifacts::repository().join("tests/suites/mpi4py_outcomes.py"))
        .argument(artifacts::mpi4py_suite())
        .argument(directory.path())
        // Processes that are started by tests run tests themselves.
        .argument("--quiet")
        .argument("-espawn")
        .argument("-edynproc")
        .with(library)
        .limit(LIMIT);
    for module in modules {
        job = job.argument(format!("-i{module}"));
    }
    for (pattern, _) in left_out(mpi) {
        job = job.argument(format!("-x{pattern}"));
    }
    let outcome = job.run();
    let given_up = outcome.stderr.contains("as it would without treepie");
    assert!(!given_up, "{}", outcome.told());
    (Suite::read(directory.path()), outcome)
}

/// Runs the suite plainly and in each configuration of the library, and compares by name. Returns
/// the result of the plain run.
#[track_caller]
fn fails_where_it_fails_without_the_library(mpi: Mpi, ranks: usize, uses: &[Library]) -> Suite {
    let (plain, outcome) = run(mpi, ranks, Library::Absent);
    assert!(
        plain.unfinished.is_empty() && plain.of("passed").len() > 1000,
        "mpi4py's suite does not run under {mpi}: {:?}\n{}",
        plain.unfinished,
        outcome.told()
    );
    for library in uses {
        let what = format!("{ranks} ranks");
        let attempt = results::Attempt::new(mpi, "mpi4py's suite", &library.mode(), &what);
        let (suite, outcome) = run(mpi, ranks, library.clone());
        for kind in ["passed", "failed", "skipped"] {
            let (with, without) = (suite.of(kind), plain.of(kind));
            let differing: Vec<_> = with.symmetric_difference(&without).collect();
            assert!(
                differing.is_empty() && suite.unfinished.is_empty(),
                "not {kind} alike with and without the library: {differing:?}; not ended: {:?}\n{}",
                suite.unfinished,
                outcome.told()
            );
        }
        assert_eq!(suite, plain);
        attempt.passed();
    }
    plain
}

/// A random permutation that moves some process, if possible.
fn not_identity(ranks: usize) -> Vec<usize> {
    let seed = seed();
    (seed..)
        .map(|seed| shuffled(ranks, seed))
        .find(|permutation| ranks < 2 || !permutation.is_sorted())
        .expect("the search does not end before it is found")
}

/// The modules that test collectives.
const MODULES: [&str; 3] = ["test_cco_buf", "test_cco_vec", "test_cco_obj"];

/// Runs the tests of collectives with an algorithm for each forced, round by round.
#[track_caller]
fn collectives_pass_with_strategies_forced(mpi: Mpi, rounds: impl Iterator<Item = usize>) {
    let (plain, _) = run_modules(mpi, 3, Library::Absent, &MODULES);
    end_as_plainly_with_strategies_forced(mpi, &plain, rounds);
}

/// Runs them if their result on three ranks without the library is known.
#[track_caller]
fn end_as_plainly_with_strategies_forced(
    mpi: Mpi,
    plain: &Suite,
    rounds: impl Iterator<Item = usize>,
) {
    assert!(plain.of("passed").len() > 100, "{plain:?}");
    for round in rounds {
        let forced = strategies::of_round(round);
        let library = Library::Set(vec![
            ("TREEPIE_MODE", "replay".into()),
            ("TREEPIE_COLLECTIVES", forced),
            ("TREEPIE_CLUSTERS", clusters_of_round(round).into()),
        ]);
        let (suite, outcome) = run_modules(mpi, 3, library, &MODULES);
        assert_eq!(&suite, plain, "round {round}: {}", outcome.told());
    }
}

/// Clusters of three ranks, which differ between rounds.
fn clusters_of_round(round: usize) -> &'static str {
    ["0,1,0", "0,1,1", "0,1,2"][round % 3]
}

/// The modules that test non-blocking, persistent and neighbourhood collectives, requests, and
/// threads.
const STARTED: [&str; 10] = [
    "test_cco_nb_buf",
    "test_cco_nb_vec",
    "test_cco_pr_buf",
    "test_cco_pr_vec",
    "test_cco_ngh_buf",
    "test_cco_ngh_obj",
    "test_cco_pr_ngh_buf",
    "test_request",
    "test_grequest",
    "test_threads",
];

/// The rounds of algorithms with which started collectives are tested.
fn rounds_of_started() -> Vec<usize> {
    match cfg!(feature = "all-mpis") {
        true => (0..strategies::rounds()).collect(),
        false => vec![4],
    }
}

/// The algorithms of a round, which Open MPI progresses in every other one; otherwise a thread
/// does: Python's bindings request several threads.
fn started_in_round(mpi: Mpi, round: usize) -> Library {
    let library = strategies::replaced(&strategies::of_round(round), clusters_of_round(round));
    match mpi.is_open_mpi() && round % 2 == 1 {
        true => library,
        false => strategies::with(library, "TREEPIE_STARTED", "thread"),
    }
}

#[track_caller]
fn started_collectives_pass_by_plans_and_under_a_guard(mpi: Mpi) {
    let (plain, _) = run_modules(mpi, 3, Library::Absent, &STARTED);
    assert!(plain.of("passed").len() > 100, "{plain:?}");
    let by_plans = strategies::replaced(&strategies::direct(), "0,1,0");
    let in_turn = rounds_of_started().into_iter();
    let in_turn = in_turn.map(|round| started_in_round(mpi, round));
    let libraries = [by_plans, strategies::guarded("0,1,0")];
    for library in libraries.into_iter().chain(in_turn) {
        let (suite, outcome) = run_modules(mpi, 3, library, &STARTED);
        assert_eq!(suite, plain, "{}", outcome.told());
    }
}

treepie_tests::under_all_mpis!(started_collectives_pass_by_plans_and_under_a_guard);

#[cfg(not(feature = "all-mpis"))]
mod on_few_ranks {
    use super::*;
    use treepie_tests::permutations::as_list;

    /// Counted during a replay: both uses of the library in one run.
    fn counted_and_replayed(mpi: Mpi, ranks: usize) -> Suite {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let profile = directory.path().join("suite.profile.yaml");
        let both = Library::Set(vec![
            ("TREEPIE_MODE", "replay".into()),
            ("TREEPIE_PERMUTATION", as_list(&not_identity(ranks))),
            ("TREEPIE_OUTPUT", profile.display().to_string()),
        ]);
        let plain = fails_where_it_fails_without_the_library(mpi, ranks, &[both]);
        assert!(profile.exists(), "nothing was counted");
        plain
    }

    #[test]
    fn mpich_with_strategies_forced() {
        collectives_pass_with_strategies_forced(Mpi::Mpich, [4].into_iter());
    }

    #[test]
    fn three_of_open_mpi_and_with_strategies_forced() {
        let plain = counted_and_replayed(Mpi::OpenMpi, 3).of_modules(&MODULES);
        end_as_plainly_with_strategies_forced(Mpi::OpenMpi, &plain, [3, 8].into_iter());
    }

    #[test]
    fn two_of_mpich() {
        counted_and_replayed(Mpi::Mpich, 2);
    }

    /// PyPI's Open MPI 5: mpi4py's wheel loads it outside the global scope.
    #[test]
    fn two_of_open_mpi_5() {
        counted_and_replayed(Mpi::OpenMpi5, 2);
    }
}

#[cfg(feature = "all-mpis")]
mod in_every_mode {
    use super::*;

    fn run_on(mpi: Mpi, ranks: usize) {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let profile = directory.path().join("suite.profile.yaml");
        let permuted = Library::Permuted(not_identity(ranks));
        let uses = [Library::Off, Library::Profile(profile.clone()), permuted];
        fails_where_it_fails_without_the_library(mpi, ranks, &uses);
        assert!(profile.exists(), "nothing was counted");
    }

    /// Every algorithm in rotation: `scripts/test night mpi4py strategy_in_turn`.
    fn with_every_strategy_in_turn(mpi: Mpi) {
        collectives_pass_with_strategies_forced(mpi, 0..strategies::rounds());
    }

    fn on_one_rank(mpi: Mpi) {
        run_on(mpi, 1);
    }

    fn on_two_ranks(mpi: Mpi) {
        run_on(mpi, 2);
    }

    fn on_three_ranks(mpi: Mpi) {
        run_on(mpi, 3);
    }

    fn on_four_ranks(mpi: Mpi) {
        run_on(mpi, 4);
    }

    treepie_tests::under_all_mpis!(
        with_every_strategy_in_turn,
        on_one_rank,
        on_two_ranks,
        on_three_ranks,
        on_four_ranks
    );
}
