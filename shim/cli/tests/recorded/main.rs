//! Output of the command from recorded data: phases, times, windows, layers, models, other
//! programs' files, and files that must be refused.
#![allow(clippy::unwrap_used)]

mod formats;
mod layers;
mod phases;
#[path = "../support/mod.rs"]
mod support;
mod times;
mod windows;

use support::{Desk, halo};
use treepie_base::Process;
use treepie_collective::{Operation, Record, Volume, size_class};
use treepie_profile::{Phase, Profile};
use treepie_traffic::{Traffic, TrafficMatrix};

/// A desk with this profile as `app.profile.yaml`.
fn desk_with(profile: &Profile) -> Desk {
    let desk = Desk::new();
    profile.write(&desk.path("app.profile.yaml")).unwrap();
    desk
}

/// Two phases of 4 ranks: neighbours in the first, ranks across in the second.
fn in_phases() -> Profile {
    let phase = |name: &str, shift: usize, start_seconds: f64| {
        let sent = (0..4).map(|rank| (rank, (rank + shift) % 4, Traffic::new(2, 1024)));
        Phase {
            name: name.to_owned(),
            start_seconds,
            end_seconds: start_seconds + 1.0,
            seconds: 0.5,
            point_to_point: TrafficMatrix::from_entries(4, sent).unwrap(),
            one_sided: TrafficMatrix::new(4),
            neighbourhood: TrafficMatrix::new(4),
            ..Phase::default()
        }
    };
    let mut profile = Profile::new(4);
    profile.header.date = "2026-11-21T04:03:48Z".into();
    profile.mpi.library = "Open MPI v4.1.4".into();
    profile.mpi.family = "open-mpi".into();
    profile.command = vec!["./app".into()];
    profile.hosts = halo().hosts;
    profile.hosts[0].processes = (0..4).map(Process).collect();
    profile.phases = vec![phase("1", 1, 0.0), phase("2", 2, 1.0)];
    for phase in &profile.phases {
        profile.point_to_point.merge(&phase.point_to_point).unwrap();
    }
    profile
}

/// 4 ranks of Open MPI: a message from 0 to 1, and a broadcast from 0.
fn with_broadcast() -> Profile {
    let mut profile = in_phases();
    profile.phases.clear();
    profile.point_to_point = TrafficMatrix::new(4);
    profile.point_to_point.add(0, 1, Traffic::new(4, 10));
    profile.one_sided.add(2, 3, Traffic::new(1, 7));
    profile.collectives = vec![Record {
        operation: Operation::Bcast,
        group: [0, 1, 2, 3].into(),
        root: Some(0),
        size_class: size_class(100),
        plan: None,
        calls: 1,
        volume: Volume::Uniform(100),
    }];
    profile
}

#[test]
fn profiles_of_different_numbers_of_ranks_are_not_compared() {
    let desk = Desk::new();
    desk.halo("many.profile.yaml");
    with_broadcast()
        .write(&desk.path("few.profile.yaml"))
        .unwrap();
    desk.write("kept.svg", "precious");
    let words = [
        "compare",
        "many.profile.yaml",
        "few.profile.yaml",
        "-o",
        "kept.svg",
    ];
    assert_eq!(
        desk.run(&words).refusal(1),
        "many.profile.yaml has 16 ranks and few.profile.yaml has 4 ranks; compare files of the \
         same job"
    );
    assert_eq!(desk.text("kept.svg"), "precious");
}

#[test]
fn settings_of_recording_are_handed_to_the_library() {
    let desk = Desk::new();
    let words = [
        "profile",
        "--phase-interval",
        "soon",
        "--",
        "mpirun",
        "-n",
        "2",
        "./app",
    ];
    let refusal = desk.run(&words).refusal(2);
    assert!(
        refusal.contains("'--phase-interval <TIME>': `soon` is no time; write one"),
        "{refusal}"
    );
    desk.launcher("mpirun", "mpirun (Open MPI) 4.1.4", "");
    desk.script("app", "exit 0\n");
    let words = [
        "profile",
        "--times",
        "--phase-interval",
        "0.5",
        "--save-every",
        "1min",
        "--",
        "./mpirun",
        "-n",
        "2",
        "./app",
    ];
    // A launcher that starts nothing leaves no profile.
    desk.run(&words).refusal(125);
    let given = desk.text("arguments");
    for setting in [
        "TREEPIE_TIMES=true",
        "TREEPIE_PHASE_INTERVAL=0.5",
        "TREEPIE_SAVE_EVERY=60",
    ] {
        assert!(given.contains(setting), "{given}");
    }
}
