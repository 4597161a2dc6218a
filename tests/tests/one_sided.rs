//! Small puts and accumulates that are kept back and joined: random epochs leave the memory that
//! they must, and what the MPI refuses at a call it refuses as without the library. Under the guard
//! they are joined where that gains, whoever decides.

use treepie_core::affinity::windows::EpochKind;
use treepie_core::files::profile::{GuardedEpochs, Profile};
use treepie_core::guard::State;
use treepie_tests::permutations::{as_list, moving_all, seed};
use treepie_tests::random_programs::{is_right, programs};
use treepie_tests::{Job, Library, Mpi, Outcome, under_all_mpis, under_each_mpi};

fn gathered(more: Vec<(&'static str, String)>) -> Library {
    let mut variables = vec![
        ("TREEPIE_MODE", "replay".to_owned()),
        ("TREEPIE_ONE_SIDED", "gather".to_owned()),
    ];
    variables.extend(more);
    Library::Set(variables)
}

/// Random epochs on so many ranks.
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

fn random_epochs_are_right_in_a_permuted_world(mpi: Mpi) {
    let permutation = as_list(&moving_all(4, seed()));
    let more = vec![("TREEPIE_PERMUTATION", permutation)];
    is_right(epochs(mpi, 4).with(gathered(more)));
}

/// Decided as they go: one window of many epochs, of which some are tried.
fn random_epochs_are_right_while_joining_is_tried(mpi: Mpi) {
    let auto = vec![("TREEPIE_ONE_SIDED", "auto".to_owned())];
    let job = programs(mpi, 3, "one_sided_random")
        .argument("1")
        .argument("700");
    is_right(job.with(gathered(auto)));
}

/// Two ranks that put to each other under the guard, by these arguments of the job; what it found.
#[track_caller]
fn guarded(mpi: Mpi, guard: &str, arguments: &str) -> (Outcome, Vec<GuardedEpochs>) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("puts.profile.yaml");
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
        .run();
    let outcome = outcome.succeeded().silent();
    assert_eq!(outcome.stdout, "0 wrong\n", "{}", outcome.told());
    let profile = Profile::read(&path).unwrap_or_else(|error| panic!("{error}"));
    (outcome, profile.guarded_epochs)
}

/// Whether all that was decided is this, of epochs of this kind.
#[track_caller]
fn assert_all_are(found: &[GuardedEpochs], kind: EpochKind, states: &[State]) {
    assert!(!found.is_empty());
    for one in found {
        assert_eq!(one.epoch, kind);
        assert!(states.contains(&one.state), "{found:?}");
    }
}

/// Pieces that meet become one, whatever the MPI does with datatypes.
fn many_small_puts_are_joined_in_every_kind_of_epoch(mpi: Mpi) {
    for (name, kind) in [
        ("flush", EpochKind::LockAll),
        ("fence", EpochKind::Fence),
        ("lock", EpochKind::Lock),
        ("start", EpochKind::Start),
    ] {
        let (_, found) = guarded(mpi, "on", &format!("{name} 6000 256 8 0"));
        assert_all_are(&found, kind, &[State::Adopted]);
        let decisions: u64 = found.iter().map(|one| one.decisions).sum();
        let expected = if kind == EpochKind::Fence { 1 } else { 2 };
        assert_eq!(decisions, expected, "{found:?}");
    }
}

fn large_puts_and_single_ones_stay_with_the_mpi(mpi: Mpi) {
    for pieces in ["16 4096 0", "1 1024 0"] {
        let (_, found) = guarded(mpi, "on", &format!("flush 6000 {pieces}"));
        let left = [State::Trying, State::Dropped, State::TakenBack];
        assert_all_are(&found, EpochKind::LockAll, &left);
    }
}

/// Pieces far apart, which take longer joined than each on its own in a host's memory.
fn what_gains_no_more_is_taken_back(mpi: Mpi) {
    let (_, found) = guarded(mpi, "on", "flush 6000 256 8 0 60000 16 1024 1024");
    assert_all_are(&found, EpochKind::LockAll, &[State::TakenBack]);
}

fn a_report_finds_what_would_gain_and_the_results_are_shown(mpi: Mpi) {
    let (_, found) = guarded(mpi, "report", "lock 6000 256 8 0");
    assert_all_are(&found, EpochKind::Lock, &[State::Proven]);
}

under_each_mpi!(
    many_small_puts_are_joined_in_every_kind_of_epoch,
    large_puts_and_single_ones_stay_with_the_mpi,
    what_gains_no_more_is_taken_back,
    a_report_finds_what_would_gain_and_the_results_are_shown,
);

under_all_mpis!(
    random_epochs_are_right_while_joining_is_tried,
    random_epochs_leave_the_memory_that_they_must,
    random_epochs_are_right_in_a_permuted_world,
);
