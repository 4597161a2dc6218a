//! What the command makes of what was recorded: phases, times, layers, models,
//! other programs' files, and files that must be refused.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;

use support::{Desk, halo, is_picture};
use treepie_core::affinity::times::{CallClass, CallTime};
use treepie_core::affinity::windows::{Access, EpochKind, WindowCall};
use treepie_core::affinity::{Traffic, TrafficMatrix};
use treepie_core::collective::{Operation, Record, Volume, size_class};
use treepie_core::files::profile::{Phase, Profile, Times, WindowUse};

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
    profile.date = "2026-11-21T04:03:48Z".into();
    profile.mpi.library = "Open MPI v4.1.4".into();
    profile.mpi.family = "open-mpi".into();
    profile.command = vec!["./app".into()];
    profile.hosts = halo().hosts;
    profile.hosts[0].processes = (0..4).collect();
    profile.phases = vec![phase("1", 1, 0.0), phase("2", 2, 1.0)];
    for phase in &profile.phases {
        profile.point_to_point.merge(&phase.point_to_point).unwrap();
    }
    profile
}

#[test]
fn phases_are_shown_with_how_alike_they_are() {
    let desk = Desk::new();
    in_phases().write(&desk.path("app.profile.yaml")).unwrap();
    let answer = desk.run(&["show", "app.profile.yaml"]).good().out;
    let expected = "
symmetry: 50.0 % is answered by as much in the other direction
balance: rank 0 has most, 1.00 times the mean

2 phases; how alike their patterns are:
  phase  seconds  messages  bytes   share  like all      1      2
  1        0.500         8  4 KiB  50.0 %      58 %  100 %    0 %
  2        0.500         8  4 KiB  50.0 %      82 %    0 %  100 %
  they differ: a placement for the whole run is none for phase 1; compare with `treepie map ... --phase 1`
";
    assert!(answer.ends_with(expected), "{answer}");
    let json = desk
        .run(&["show", "app.profile.yaml", "--json"])
        .good()
        .json();
    assert_eq!(json["phases"][1]["name"], "2");
    assert_eq!(json["phases"][1]["likeness"][0], 0.0);
}

#[test]
fn phases_that_are_alike_are_said_to_need_one_placement() {
    let desk = Desk::new();
    let mut profile = in_phases();
    profile.phases[1].point_to_point = profile.phases[0].point_to_point.clone();
    profile.point_to_point = profile.phases[0].point_to_point.clone();
    profile.write(&desk.path("app.profile.yaml")).unwrap();
    let answer = desk.run(&["show", "app.profile.yaml"]).good().out;
    assert!(
        answer.contains("one placement serves the whole run"),
        "{answer}"
    );
}

#[test]
fn a_phase_is_converted_mapped_and_drawn_by_its_name() {
    let desk = Desk::new();
    in_phases().write(&desk.path("app.profile.yaml")).unwrap();
    desk.run(&["convert", "app.profile.yaml", "two.txt", "--phase", "2"])
        .good();
    assert_eq!(
        desk.dense("two.txt"),
        "0 0 1024 0\n0 0 0 1024\n1024 0 0 0\n0 1024 0 0\n"
    );
    desk.run(&[
        "map",
        "app.profile.yaml",
        "--topology",
        "2:2",
        "--phase",
        "2",
    ])
    .good();
    desk.run(&[
        "show",
        "app.profile.yaml",
        "--svg",
        "two.svg",
        "--phase",
        "2",
    ])
    .good();
    assert!(desk.text("two.svg").contains("all traffic, phase 2"));
    let refusal = desk
        .run(&["convert", "app.profile.yaml", "three.txt", "--phase", "3"])
        .refusal(2);
    assert_eq!(
        refusal,
        "app.profile.yaml: has no phase `3`; its phases are 1, 2"
    );
    assert!(!desk.path("three.txt").exists());
}

#[test]
fn times_are_shown_by_class_of_calls_and_by_rank() {
    let desk = Desk::new();
    let mut profile = in_phases();
    let time = |calls, milliseconds: u64| CallTime {
        calls,
        nanoseconds: milliseconds * 1_000_000,
    };
    profile.times = Some(Times {
        elapsed: vec![1_000_000_000; 4],
        classes: BTreeMap::from([
            (
                CallClass::Send,
                vec![time(4, 100), time(4, 100), time(4, 100), time(4, 300)],
            ),
            (
                CallClass::Wait,
                vec![time(1, 0), time(1, 200), time(1, 100), time(1, 100)],
            ),
        ]),
    });
    profile.write(&desk.path("app.profile.yaml")).unwrap();
    let answer = desk.run(&["show", "app.profile.yaml"]).good().out;
    let expected = "
time in MPI: 1 s of 4 s, 25.0 %, all ranks together
  calls  number  bytes  seconds  of MPI  of all  least   most  at rank
  send       16  8 KiB    0.600  60.0 %  15.0 %  0.100  0.300        3
  wait        4    0 B    0.400  40.0 %  10.0 %  0.000  0.200        1

  rank  seconds  in MPI   share
  0       1.000   0.100  10.0 %
  1       1.000   0.300  30.0 %
  2       1.000   0.200  20.0 %
  3       1.000   0.400  40.0 %
";
    assert!(answer.ends_with(expected), "{answer}");
}

#[test]
fn two_profiles_with_times_are_compared_in_seconds() {
    let desk = Desk::new();
    for (name, seconds) in [("before", 4), ("after", 3)] {
        let mut profile = in_phases();
        let time = CallTime {
            calls: 1,
            nanoseconds: 500_000_000 * seconds,
        };
        profile.times = Some(Times {
            elapsed: vec![1_000_000_000, 1, 1, 1_000_000_000 * seconds],
            classes: BTreeMap::from([(CallClass::Send, vec![time; 4])]),
        });
        let file = desk.path(&format!("{name}.profile.yaml"));
        profile.write(&file).unwrap();
    }
    let words = ["compare", "before.profile.yaml", "after.profile.yaml"];
    let answer = desk.run(&words).good().out;
    let expected = "
  time of the slowest rank       before  after  change
  from MPI_Init to MPI_Finalize     4 s    3 s  -25.0 %
  in MPI                            2 s  1.50 s  -25.0 %
";
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain(&answer).ends_with(&plain(expected)), "{answer}");
}

/// A window of 4 ranks: fences with puts around the ring, and a lock under which nothing moved.
fn with_window() -> Profile {
    let mut profile = in_phases();
    profile.phases.clear();
    let access = |epoch, call, bytes, target| Access {
        epoch,
        call,
        is_contiguous: target != 0,
        size_class: size_class(bytes),
        target,
    };
    let mut window = WindowUse::new(vec![0, 1, 2, 3], 0);
    for rank in 0..4 {
        let target = (rank + 1) % 4;
        window.add_rank(&[
            (
                access(EpochKind::Fence, WindowCall::Open, 0, 0),
                Traffic::new(3, 0),
            ),
            (
                access(EpochKind::Fence, WindowCall::Put, 100, target),
                Traffic::new(2, 200),
            ),
            (
                access(EpochKind::Fence, WindowCall::Put, 1024, target),
                Traffic::new(5, 5120),
            ),
            (
                access(EpochKind::Lock, WindowCall::Open, 0, 0),
                Traffic::new(1, 0),
            ),
            (
                access(EpochKind::Lock, WindowCall::Flush, 0, 0),
                Traffic::new(2, 0),
            ),
        ]);
    }
    profile.windows = vec![window];
    profile
}

#[test]
fn one_sided_epochs_are_shown_by_window_as_text_json_and_html() {
    let desk = Desk::new();
    with_window().write(&desk.path("app.profile.yaml")).unwrap();
    let answer = desk.run(&["show", "app.profile.yaml"]).good().out;
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "one-sided communication, by window and kind of epoch
  window of ranks  epochs                  calls   bytes       sizes  not contiguous  pairs  most targets
  0-3 #0  12 fence  28 put  20.8 KiB  from 64 B to 1 KiB, most 1 KiB  25.0 %  4  1
  0-3 #0  4 lock, 8 flushes  -  -  -  -  -  -";
    assert!(plain(&answer).contains(&plain(expected)), "{answer}");
    let json = desk
        .run(&["show", "app.profile.yaml", "--json"])
        .good()
        .json();
    let fences = &json["windows"][0]["epochs"]["fence"];
    assert_eq!(fences["moved"]["put"]["sizes"]["1024"], 20);
    desk.run(&["show", "app.profile.yaml", "--html", "app.html"])
        .good();
    let page = std::fs::read_to_string(desk.path("app.html")).unwrap();
    assert!(page.contains("One-sided communication") && page.contains("12 fence"));
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
        group: vec![0, 1, 2, 3],
        root: Some(0),
        size_class: size_class(100),
        plan: None,
        calls: 1,
        volume: Volume::Uniform(100),
    }];
    profile
}

#[test]
fn layers_metrics_and_models_are_chosen_when_the_matrix_is_made() {
    let desk = Desk::new();
    with_broadcast()
        .write(&desk.path("app.profile.yaml"))
        .unwrap();
    let zeros = "0 0 0 0\n";
    for (options, expected) in [
        (
            &["--layer", "p2p"][..],
            format!("0 10 0 0\n{}", zeros.repeat(3)),
        ),
        (
            &["--layer", "p2p", "--metric", "msg"],
            format!("0 4 0 0\n{}", zeros.repeat(3)),
        ),
        (
            &["--layer", "p2p,one-sided", "--metric", "avg"],
            format!("0 2.5 0 0\n{zeros}0 0 0 7\n{zeros}"),
        ),
        (
            &["--layer", "collectives", "--model", "linear"],
            format!("0 100 100 100\n{}", zeros.repeat(3)),
        ),
        (
            &["--layer", "collectives", "--model", "chain"],
            format!("0 100 0 0\n0 0 100 0\n0 0 0 100\n{zeros}"),
        ),
        (
            &["--layer", "collectives", "--model", "logical"],
            format!("0 100 100 100\n{}", zeros.repeat(3)),
        ),
        (
            &["--layer", "all", "--model", "linear"],
            format!("0 110 100 100\n{zeros}0 0 0 7\n{zeros}"),
        ),
    ] {
        let words = [&["convert", "app.profile.yaml", "m.txt"], options].concat();
        desk.run(&words).good();
        assert_eq!(desk.dense("m.txt"), expected, "{options:?}");
    }
}

#[test]
fn what_is_modelled_is_labelled_with_its_model() {
    let desk = Desk::new();
    with_broadcast()
        .write(&desk.path("app.profile.yaml"))
        .unwrap();
    for (options, model) in [(&[][..], "open-mpi"), (&["--model", "chain"], "chain")] {
        let words = [&["show", "app.profile.yaml"], options].concat();
        let answer = desk.run(&words).good().out;
        assert!(
            answer.contains(&format!("collectives (modelled: {model})")),
            "{answer}"
        );
    }
    let refusal = desk
        .run(&["show", "app.profile.yaml", "--model", "magic"])
        .refusal(2);
    assert!(
        refusal.contains("no model of collectives is called `magic`"),
        "{refusal}"
    );
    let refusal = desk
        .run(&["show", "app.profile.yaml", "--layer", "p3p"])
        .refusal(2);
    assert!(refusal.contains("no layer is called `p3p`"), "{refusal}");
}

#[test]
fn a_bare_matrix_has_no_layers_to_choose_from() {
    let desk = Desk::new();
    desk.write("m.txt", "0 1\n1 0\n");
    let refusal = desk
        .run(&["convert", "m.txt", "m.mtx", "--layer", "p2p"])
        .refusal(2);
    assert_eq!(
        refusal,
        "m.txt: is a bare matrix, so there is nothing for --layer to choose; leave it out, or give \
         a profile"
    );
    assert!(!desk.path("m.mtx").exists());
}

#[test]
fn every_format_is_written_and_read_by_its_ending() {
    let desk = Desk::new();
    with_broadcast()
        .write(&desk.path("app.profile.yaml"))
        .unwrap();
    for name in ["m.mtx", "m.txt", "m.mat", "m.csv"] {
        desk.run(&["convert", "app.profile.yaml", name]).good();
        desk.run(&["convert", name, "again.txt"]).good();
        desk.run(&["convert", "app.profile.yaml", "direct.txt"])
            .good();
        assert_eq!(desk.text("again.txt"), desk.text("direct.txt"), "{name}");
    }
    // Graphs have one weight for both directions.
    desk.run(&["convert", "app.profile.yaml", "m.graph", "--layer", "p2p"])
        .good();
    assert_eq!(desk.text("m.graph"), "4 1 001\n2 10\n1 10\n\n\n");
    desk.run(&["convert", "m.graph", "m.grf"]).good();
    desk.run(&["convert", "m.grf", "again.txt"]).good();
    assert_eq!(
        desk.dense("again.txt"),
        "0 5 0 0\n5 0 0 0\n0 0 0 0\n0 0 0 0\n"
    );
    let refusal = desk.run(&["convert", "m.txt", "m.prof"]).refusal(2);
    assert!(
        refusal.starts_with("m.prof: no format has this ending that can be written"),
        "{refusal}"
    );
}

#[test]
fn the_files_of_all_ranks_of_open_mpis_monitoring_are_read_together() {
    let desk = Desk::new();
    desk.write(
        "run.0.prof",
        "# POINT TO POINT\nE\t0\t1\t108 bytes\t27 msgs sent\t0,27\n",
    );
    desk.write(
        "run.1.prof",
        "E\t1\t0\t8 bytes\t1 msgs sent\nI\t1\t0\t4 bytes\t1 msgs sent\n",
    );
    desk.write("other.1.prof", "E\t1\t0\t1000 bytes\t1 msgs sent\n");
    desk.run(&["convert", "run.0.prof", "all.txt"]).good();
    assert_eq!(desk.dense("all.txt"), "0 108\n12 0\n");
    let words = [
        "convert",
        "run.1.prof",
        "own.txt",
        "--layer",
        "p2p",
        "--metric",
        "msg",
    ];
    desk.run(&words).good();
    assert_eq!(desk.dense("own.txt"), "0 27\n1 0\n");
    let shown = desk.run(&["show", "run.0.prof"]).good().out;
    let expected = "\
run.0.prof: matrix of 2 ranks, 2 ordered pairs communicate, 120 B in all

  layer           messages  bytes    share
  point-to-point        28  116 B   96.7 %
  collectives            1    4 B    3.3 %
  all                   29  120 B  100.0 %

  from -> to  bytes sent   share
  0 -> 1           108 B  90.0 %
  1 -> 0            12 B  10.0 %

symmetry: 20.0 % is answered by as much in the other direction
balance: rank 0 has most, 1.00 times the mean
";
    assert_eq!(shown, expected);
}

#[test]
fn heat_maps_of_few_and_of_many_ranks_say_how_they_are_to_be_read() {
    let desk = Desk::new();
    for (ranks, words) in [
        (
            16usize,
            &["sending rank", "receiving rank", "affinity", "\n15\n"][..],
        ),
        (4096, &["a cell sums 16 x 16 ranks", "\n3584\n", "affinity"]),
    ] {
        let mut text =
            format!("%%MatrixMarket matrix coordinate integer general\n{ranks} {ranks} {ranks}\n");
        for rank in 0..ranks {
            text += &format!(
                "{} {} {}\n",
                rank + 1,
                (rank + 1) % ranks + 1,
                1 << (rank % 20)
            );
        }
        desk.write("ring.mtx", &text);
        desk.run(&["show", "ring.mtx", "--svg", "ring.svg"]).good();
        desk.run(&["show", "ring.mtx", "--png", "ring.png"]).good();
        let svg = desk.text("ring.svg");
        for word in words {
            assert!(svg.contains(word), "{ranks} ranks: {word:?}");
        }
        assert!(svg.len() < 1 << 20, "{ranks} ranks: {} bytes", svg.len());
        assert!(is_picture(&desk.path("ring.png")));
    }
}

/// In these, the refusal does not depend on what is written.
fn refused_matrix(name: &str, text: &str) -> String {
    let desk = Desk::new();
    desk.write(name, text);
    desk.write("kept.txt", "precious");
    let said = desk.run(&["convert", name, "kept.txt"]).refusal(1);
    assert_eq!(desk.text("kept.txt"), "precious");
    said
}

#[test]
fn matrices_with_ranks_out_of_range_or_inexact_counts_are_refused() {
    const HEADER: &str = "%%MatrixMarket matrix coordinate integer general\n";
    for (name, text, expected) in [
        (
            "m.mtx",
            format!("{HEADER}2 2 1\n1 3 5\n"),
            "m.mtx:3: expected a column from 1 to 2, found `3`",
        ),
        (
            "m.mtx",
            format!("{HEADER}2 2 1\n1 2 9007199254740993\n"),
            "m.mtx:3: expected a count below 2^53",
        ),
        (
            "m.mtx",
            format!("{HEADER}2 2 2\n1 2 5\n"),
            "m.mtx:4: expected 2 entries after 1, found the end of the file",
        ),
        (
            "m.txt",
            "0 9007199254740993\n0 0\n".to_owned(),
            "m.txt:1: expected a count below 2^53",
        ),
        (
            "m.csv",
            "0,9007199254740993\n0,0\n".to_owned(),
            "m.csv:1: expected a count below 2^53",
        ),
        (
            "m.graph",
            "2 1 001\n2 9007199254740993\n1 9007199254740993\n".to_owned(),
            "m.graph:2: expected a count below 2^53",
        ),
        (
            "m.graph",
            "2 1 001\n3 5\n1 5\n".to_owned(),
            "m.graph:2: expected a neighbour from 1 to 2, found `3`",
        ),
        (
            "m.grf",
            "0\n2 2\n0 010\n1 9007199254740993 1\n1 9007199254740993 0\n".to_owned(),
            "m.grf:4: expected a count below 2^53",
        ),
        (
            "m.prof",
            "E 0 1 9007199254740993 bytes 1 msgs sent\n".to_owned(),
            "rank 0 sends 9007199254740993 to rank 1, but counts from 2^53 on cannot be exact",
        ),
        (
            "m.prof",
            "E 0 99999999 1 bytes 1 msgs sent\n".to_owned(),
            "m.prof:1: expected a receiver from 0 to ",
        ),
    ] {
        let said = refused_matrix(name, &text);
        assert!(said.starts_with(expected), "{said}");
    }
}

#[test]
fn counters_that_a_matrix_would_round_are_refused() {
    let desk = Desk::new();
    let mut profile = with_broadcast();
    profile.point_to_point.add(1, 2, Traffic::new(1, 1 << 53));
    profile.write(&desk.path("app.profile.yaml")).unwrap();
    assert_eq!(
        Profile::read(&desk.path("app.profile.yaml")).unwrap(),
        profile
    );
    let before = desk.text("app.profile.yaml");
    desk.write("kept.txt", "precious");
    desk.write("app.placement.yaml", "precious");
    let map = ["map", "app.profile.yaml", "--topology", "2:2"];
    for words in [&["convert", "app.profile.yaml", "kept.txt"][..], &map] {
        let said = desk.run(words).refusal(1);
        assert!(
            said.starts_with("rank 1 sends 9007199254740992 to rank 2"),
            "{said}"
        );
    }
    assert_eq!(desk.text("kept.txt"), "precious");
    assert_eq!(desk.text("app.placement.yaml"), "precious");
    assert_eq!(desk.text("app.profile.yaml"), before);
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
        "--picture",
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
        refusal.starts_with("TREEPIE_PHASE_INTERVAL: `soon` is no time"),
        "{refusal}"
    );
    desk.launcher("mpirun", "mpirun (Open MPI) 4.1.4", "");
    desk.script("app", "exit 0\n");
    let words = [
        "profile",
        "--times",
        "--phase-interval",
        "0.5",
        "--checkpoint",
        "60",
        "--",
        "./mpirun",
        "-n",
        "2",
        "./app",
    ];
    // A launcher that starts nothing leaves no profile.
    desk.run(&words).refusal(1);
    let given = desk.text("arguments");
    for setting in [
        "TREEPIE_TIMES=true",
        "TREEPIE_PHASE_INTERVAL=0.5",
        "TREEPIE_CHECKPOINT=60",
    ] {
        assert!(given.contains(setting), "{given}");
    }
}
