//! Phases of a run.

use crate::{desk_with, in_phases};

#[test]
fn phases_are_shown_with_how_alike_they_are() {
    let desk = desk_with(&in_phases());
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
    let mut profile = in_phases();
    profile.phases[1].point_to_point = profile.phases[0].point_to_point.clone();
    profile.point_to_point = profile.phases[0].point_to_point.clone();
    let desk = desk_with(&profile);
    let answer = desk.run(&["show", "app.profile.yaml"]).good().out;
    assert!(
        answer.contains("one placement serves the whole run"),
        "{answer}"
    );
}

#[test]
fn a_phase_is_converted_mapped_and_drawn_by_its_name() {
    let desk = desk_with(&in_phases());
    desk.run(&[
        "convert",
        "app.profile.yaml",
        "-o",
        "two.txt",
        "--phase",
        "2",
    ])
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
    desk.run(&["show", "app.profile.yaml", "-o", "two.svg", "--phase", "2"])
        .good();
    assert!(desk.text("two.svg").contains("all traffic, phase 2"));
    let refusal = desk
        .run(&[
            "convert",
            "app.profile.yaml",
            "-o",
            "three.txt",
            "--phase",
            "3",
        ])
        .refusal(2);
    assert_eq!(
        refusal,
        "app.profile.yaml: has no phase `3`; its phases are 1, 2"
    );
    assert!(!desk.path("three.txt").exists());
}
