//! Small puts and accumulates that are delayed and joined: random epochs leave the memory in the
//! right state, and calls that the MPI refuses are refused as without the library. Under the guard
//! they are joined if that gains, regardless of which ranks decide.

use treepie_guard::State;
use treepie_profile::{GuardedEpochs, Profile};
use treepie_tests::permutations::{as_list, moving_all, seed};
use treepie_tests::random_programs::{is_right, programs};
use treepie_tests::{Job, Library, Mpi, artifacts, under_all_mpis, under_each_mpi};
use treepie_traffic::windows::EpochKind;

fn gathered(more: Vec<(&'static str, String)>) -> Library {
    let mut variables = vec![
        ("TREEPIE_MODE", "replay".to_owned()),
        ("TREEPIE_ONE_SIDED", "gather".to_owned()),
    ];
    variables.extend(more);
    Library::Set(variables)
}

/// Random epochs on this number of ranks.
fn epochs(mpi: Mpi, ranks: usize) -> Job {
    let (windows, epochs) = match cfg!(feature = "all-mpis") {
        true => ("20", "12"),
        false => ("3", "5"),
    };
    programs(mpi, ranks, "one_sided_random")
        .argument(windows)
        .argument(epochs)
}

fn random_epochs_leave_the_memory_that_they_must(mpi: Mpi) {
    for ranks in [2, 4, 5] {
        is_right(epochs(mpi, ranks).with(gathered(Vec::new())));
    }
}

/// Through the MPI's Fortran layer.
fn random_epochs_from_fortran_are_right(mpi: Mpi) {
    for ways in ["gather", "auto"] {
        let job = programs(mpi, 3, "one_sided_random.f90")
            .argument("6")
            .argument("20");
        is_right(job.with(gathered(vec![("TREEPIE_ONE_SIDED", ways.to_owned())])));
    }
}

fn random_epochs_are_right_in_a_permuted_world(mpi: Mpi) {
    let permutation = as_list(&moving_all(4, seed()));
    let more = vec![("TREEPIE_PERMUTATION", permutation)];
    is_right(epochs(mpi, 4).with(gathered(more)));
}

/// Decided during the run: one window of many epochs, some of which are tried.
fn random_epochs_are_right_while_joining_is_tried(mpi: Mpi) {
    let auto = vec![("TREEPIE_ONE_SIDED", "auto".to_owned())];
    let job = programs(mpi, 3, "one_sided_random")
        .argument("1")
        .argument("700");
    is_right(job.with(gathered(auto)));
}

/// Two ranks that put to each other under the guard, with these arguments of the job; each put
/// takes 0.1 ms, and one with a datatype 5 ms, by their clocks: the gain does not depend on the
/// machine. Returns the results.
#[track_caller]
fn guarded(mpi: Mpi, guard: &str, arguments: &str) -> Vec<GuardedEpochs> {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("puts.profile.yaml");
    let slow = artifacts::job(mpi, "slow_puts.so");
    let preloaded = format!("{}:{}", artifacts::library().display(), slow.display());
    let job = Job::new(mpi, 2, "guarded_puts");
    let job = arguments
        .split(' ')
        .fold(job, |job, word| job.argument(word));
    let outcome = job
        .with(Library::Set(vec![
            ("TREEPIE_MODE", "replay".into()),
            ("TREEPIE_ONE_SIDED", "auto".into()),
            ("TREEPIE_GUARD", guard.into()),
            ("TREEPIE_OUTPUT", path.display().to_string()),
        ]))
        .variable("LD_PRELOAD", preloaded)
        .run();
    let outcome = outcome.succeeded().silent();
    assert_eq!(outcome.stdout, "0 wrong\n", "{}", outcome.told());
    let profile = Profile::read(&path).unwrap_or_else(|error| panic!("{error}"));
    profile.guarded_epochs
}

/// Both ranks have this result for epochs of this kind, or a common one if they decide together.
#[track_caller]
fn assert_found(found: &[GuardedEpochs], kind: EpochKind, state: State) {
    let [one] = found else {
        panic!("{found:?}");
    };
    let decisions = if kind == EpochKind::Fence { 1 } else { 2 };
    assert_eq!(
        (one.epoch, one.state, one.decisions),
        (kind, state, decisions),
        "{found:?}"
    );
}

fn many_small_puts_are_joined_in_every_kind_of_epoch(mpi: Mpi) {
    for (name, kind) in [
        ("flush", EpochKind::LockAll),
        ("fence", EpochKind::Fence),
        ("lock", EpochKind::Lock),
        ("start", EpochKind::Start),
    ] {
        let found = guarded(mpi, "on", &format!("{name} 1200 16 8 0"));
        assert_found(&found, kind, State::Adopted);
    }
}

fn what_takes_longer_joined_stays_with_the_mpi(mpi: Mpi) {
    for name in ["flush", "lock"] {
        let found = guarded(mpi, "on", &format!("{name} 4000 16 512 8"));
        let kind = if name == "lock" {
            EpochKind::Lock
        } else {
            EpochKind::LockAll
        };
        assert_found(&found, kind, State::Dropped);
    }
}

fn what_gains_no_more_is_taken_back(mpi: Mpi) {
    let found = guarded(mpi, "on", "flush 3000 4 8 0 2500 16 512 8");
    assert_found(&found, EpochKind::LockAll, State::TakenBack);
}

fn a_report_finds_what_would_gain(mpi: Mpi) {
    let found = guarded(mpi, "report", "lock 1000 32 8 0");
    assert_found(&found, EpochKind::Lock, State::Proven);
}

/// Large pieces are passed on, regardless of which ranks decide.
fn large_puts_arrive_while_joining_is_tried(mpi: Mpi) {
    let found = guarded(mpi, "on", "fence 300 4 4096 0");
    assert!(found.iter().all(|one| one.epoch == EpochKind::Fence));
}

under_each_mpi!(
    many_small_puts_are_joined_in_every_kind_of_epoch,
    what_takes_longer_joined_stays_with_the_mpi,
    what_gains_no_more_is_taken_back,
    a_report_finds_what_would_gain,
    large_puts_arrive_while_joining_is_tried,
    random_epochs_from_fortran_are_right,
);

/// PyPI's other MPIs have no compiler for it.
#[test]
#[cfg(feature = "all-mpis")]
fn random_epochs_from_fortran_are_right_under_intel_mpi() {
    random_epochs_from_fortran_are_right(Mpi::Intel);
}

under_all_mpis!(
    random_epochs_are_right_while_joining_is_tried,
    random_epochs_leave_the_memory_that_they_must,
    random_epochs_are_right_in_a_permuted_world,
);
