//! Phases, times, shared memory and topologies in the profile of a job.

use treepie_base::{List, Rank};
use treepie_profile::Profile;
use treepie_tests::{Job, Library, Mpi, under_each_mpi};
use treepie_traffic::times::CallClass;

const RANKS: usize = 3;

/// The profile of the job `phases` with an additional setting.
#[track_caller]
fn profile(mpi: Mpi, setting: (&str, &str)) -> Profile {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let output = directory.path().join("p.yaml");
    Job::new(mpi, RANKS, "phases")
        .with(Library::Profile(output.clone()))
        .variable(setting.0, setting.1)
        .run()
        .succeeded()
        .silent();
    Profile::read(&output).unwrap_or_else(|error| panic!("{error}"))
}

fn phases_are_what_the_application_marks(mpi: Mpi) {
    let profile = profile(mpi, ("TREEPIE_LOG", "warn"));
    let found: Vec<_> = profile
        .phases
        .iter()
        .map(|phase| {
            let sent = phase.point_to_point.total();
            let calls: u64 = phase.collectives.iter().map(|record| record.calls).sum();
            (&*phase.name, sent.messages, sent.bytes, calls)
        })
        .collect();
    let ranks = RANKS as u64;
    let expected = [
        ("1", 2 * ranks, 11 * ranks, 0),
        ("2", 6 * ranks, 600 * ranks, 0),
        ("3", 0, 0, 3),
    ];
    assert_eq!(found, expected);
    let whole = profile.point_to_point.total();
    assert_eq!((whole.messages, whole.bytes), (8 * ranks, 611 * ranks));
    assert_eq!(profile.collectives.len(), 1, "{:?}", profile.collectives);
}

fn windows_of_time_are_phases_that_make_up_the_whole(mpi: Mpi) {
    let profile = profile(mpi, ("TREEPIE_PHASE_INTERVAL", "0.01"));
    assert!(!profile.phases.is_empty());
    let bytes: u64 = profile
        .phases
        .iter()
        .map(|phase| phase.point_to_point.total().bytes)
        .sum();
    assert_eq!(bytes, profile.point_to_point.total().bytes);
    assert_eq!(bytes, 611 * RANKS as u64);
}

fn calls_are_timed_by_class_where_that_is_asked_for(mpi: Mpi) {
    let plain = profile(mpi, ("TREEPIE_LOG", "warn"));
    assert_eq!(plain.times, None);
    let timed = profile(mpi, ("TREEPIE_TIMES", "true"));
    let times = timed.times.unwrap_or_default();
    for rank in (0..RANKS).map(Rank) {
        let of = |class: CallClass| times.classes[&class][rank];
        // 9 shifts, one of them in the phase that is left out: its time is not.
        assert_eq!(of(CallClass::SendReceive).calls, 9);
        assert_eq!(of(CallClass::Collective).calls, 4);
        let spent: u64 = times.classes.values().map(|of| of[rank].nanoseconds).sum();
        assert!(
            spent > 0 && spent < times.elapsed[rank],
            "rank {rank}: {times:?}"
        );
    }
}

fn ranks_that_share_memory_and_the_hardware_are_in_the_profile(mpi: Mpi) {
    let profile = profile(mpi, ("TREEPIE_LOG", "warn"));
    assert_eq!(
        profile.shared_memory,
        [(0..RANKS).map(Rank).collect::<Vec<_>>()]
    );
    let [topology] = &profile.topologies[..] else {
        panic!("{:?}", profile.topologies);
    };
    assert_eq!(topology.hosts, [profile.hosts[0].name.clone()]);
    let machine = topology.machine().unwrap_or_else(|error| panic!("{error}"));
    assert!(machine.topology().leaf_count() > 0);
    assert!(
        profile
            .notes
            .iter()
            .any(|note| note.starts_with("launched by: ") && note.contains(" -n 3 ")),
        "{:?}",
        profile.notes
    );
}

/// If calls are timed, each phase has the time of its own calls and of each rank in it: a load
/// balancer uses the rest as load.
fn phases_have_times_of_their_own(mpi: Mpi) {
    let profile = profile(mpi, ("TREEPIE_TIMES", "true"));
    let whole = profile.times.as_ref().expect("times of the run");
    let mut calls = List::from(vec![0; RANKS]);
    for phase in &profile.phases {
        let times = phase.times.as_ref().expect("times of a phase");
        for (rank, outside) in times.outside_mpi().into_iter_enumerated() {
            assert!(
                outside * 1e9 <= times.elapsed[rank] as f64,
                "{}",
                phase.name
            );
            assert!(times.elapsed[rank] <= whole.elapsed[rank], "{}", phase.name);
            let collectives = times
                .classes
                .iter()
                .filter(|(class, _)| matches!(class, CallClass::Collective | CallClass::Barrier));
            calls[rank] += match phase.name.as_str() {
                "3" => collectives.map(|(_, of_ranks)| of_ranks[rank].calls).sum(),
                _ => 0,
            };
        }
    }
    assert_eq!(calls.raw, [3; RANKS]);
}

under_each_mpi!(
    phases_have_times_of_their_own,
    phases_are_what_the_application_marks,
    windows_of_time_are_phases_that_make_up_the_whole,
    calls_are_timed_by_class_where_that_is_asked_for,
    ranks_that_share_memory_and_the_hardware_are_in_the_profile,
);
