//! Matrices in the formats of other programs, and those that must be refused.

use treepie_profile::Profile;
use treepie_traffic::Traffic;

use crate::support::{Desk, is_picture};
use crate::{desk_with, with_broadcast};

#[test]
fn every_format_is_written_and_read_by_its_ending() {
    let desk = desk_with(&with_broadcast());
    for name in ["m.mtx", "m.txt", "m.mat", "m.csv"] {
        desk.run(&["convert", "app.profile.yaml", "-o", name])
            .good();
        desk.run(&["convert", name, "-o", "again.txt"]).good();
        desk.run(&["convert", "app.profile.yaml", "-o", "direct.txt"])
            .good();
        assert_eq!(desk.text("again.txt"), desk.text("direct.txt"), "{name}");
    }
    // Graphs have one weight for both directions.
    desk.run(&[
        "convert",
        "app.profile.yaml",
        "-o",
        "m.graph",
        "--layer",
        "p2p",
    ])
    .good();
    assert_eq!(desk.text("m.graph"), "4 1 001\n2 10\n1 10\n\n\n");
    desk.run(&["convert", "m.graph", "-o", "m.grf"]).good();
    desk.run(&["convert", "m.grf", "-o", "again.txt"]).good();
    assert_eq!(
        desk.dense("again.txt"),
        "0 5 0 0\n5 0 0 0\n0 0 0 0\n0 0 0 0\n"
    );
    let refusal = desk.run(&["convert", "m.txt", "-o", "m.prof"]).refusal(2);
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
    desk.run(&["convert", "run.0.prof", "-o", "all.txt"]).good();
    assert_eq!(desk.dense("all.txt"), "0 108\n12 0\n");
    let words = [
        "convert",
        "run.1.prof",
        "-o",
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
        desk.run(&["show", "ring.mtx", "-o", "ring.svg"]).good();
        desk.run(&["show", "ring.mtx", "-o", "ring.png"]).good();
        let svg = desk.text("ring.svg");
        for word in words {
            assert!(svg.contains(word), "{ranks} ranks: {word:?}");
        }
        assert!(svg.len() < 1 << 20, "{ranks} ranks: {} bytes", svg.len());
        assert!(is_picture(&desk.path("ring.png")));
    }
}

/// Formats in which the refusal does not depend on the form of the output.
fn refused_matrix(name: &str, text: &str) -> String {
    let desk = Desk::new();
    desk.write(name, text);
    desk.write("kept.txt", "precious");
    let said = desk.run(&["convert", name, "-o", "kept.txt"]).refusal(1);
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
    let mut profile = with_broadcast();
    profile.point_to_point.add(1, 2, Traffic::new(1, 1 << 53));
    let desk = desk_with(&profile);
    assert_eq!(
        Profile::read(&desk.path("app.profile.yaml")).unwrap(),
        profile
    );
    let before = desk.text("app.profile.yaml");
    desk.write("kept.txt", "precious");
    desk.write("app.placement.yaml", "precious");
    let map = ["map", "app.profile.yaml", "--topology", "2:2"];
    for words in [&["convert", "app.profile.yaml", "-o", "kept.txt"][..], &map] {
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
