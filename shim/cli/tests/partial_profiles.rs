//! Partial profiles of jobs without an orderly end: their conversion, and those that are refused.
#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;

use support::Desk;
use treepie_base::{Process, Rank};
use treepie_profile::partial_profiles::{self, Checksum, Encoder, MessageKind, RunDescription};
use treepie_profile::{MpiDescription, Profile};
use treepie_traffic::Traffic;

fn run_of(ranks: usize, run: u64) -> RunDescription {
    RunDescription {
        run,
        ranks,
        producer: "treepie 0.1.0".into(),
        date: "2026-11-21T04:03:48Z".into(),
        mpi: MpiDescription::default(),
        command: vec!["./app".into()],
        notes: Vec::new(),
        locality: None,
    }
}

/// The file of a rank that sent 100 bytes to `partner`.
fn partial(run: &RunDescription, rank: usize, partner: usize) -> Vec<u8> {
    let mut bytes = partial_profiles::start_of_file(run);
    let mut encoder = Encoder::new(&mut bytes);
    encoder.rank(Process(rank), Rank(rank), "node", "0-1", 5);
    encoder.counted(
        MessageKind::PointToPoint,
        Rank(partner),
        Traffic::new(1, 100),
    );
    encoder.end();
    let mut checksum = Checksum::default();
    checksum.update(&bytes);
    bytes.extend(partial_profiles::end_of_file(&checksum));
    bytes
}

fn leave(directory: &Path, rank: usize, bytes: &[u8]) {
    std::fs::create_dir_all(directory).unwrap();
    std::fs::write(
        directory.join(partial_profiles::file_name(Rank(rank))),
        bytes,
    )
    .unwrap();
}

#[test]
fn partial_profiles_become_a_profile_or_a_matrix_and_the_missing_ranks_are_named() {
    let desk = Desk::new();
    let directory = desk.path("app.profile.yaml.parts");
    for rank in [0, 2] {
        leave(&directory, rank, &partial(&run_of(4, 7), rank, 1));
    }
    let said = "treepie: app.profile.yaml.parts/: put together from what 2 of 4 ranks left; what \
                the ranks 1,3 sent is missing\n";
    let answer = desk
        .run(&[
            "convert",
            "app.profile.yaml.parts/",
            "-o",
            "app.profile.yaml",
        ])
        .good();
    assert_eq!(answer.err, said);
    let profile = Profile::read(&desk.path("app.profile.yaml")).unwrap();
    assert_eq!(profile.missing_ranks, [1, 3].map(Rank));
    assert!(directory.exists(), "what the ranks left stays");
    let answer = desk
        .run(&["convert", "app.profile.yaml.parts/", "-o", "m.txt"])
        .good();
    assert_eq!(answer.err, said);
    assert_eq!(
        desk.dense("m.txt"),
        "0 100 0 0\n0 0 0 0\n0 100 0 0\n0 0 0 0\n"
    );
    let shown = desk.run(&["show", "app.profile.yaml.parts"]).good().out;
    assert!(
        shown.contains("what the ranks 1,3 sent is missing"),
        "{shown}"
    );
}

// --- refused ones --------------------------------------------------------------------

/// Converts to a file that already exists, and must not change.
fn refused(desk: &Desk, input: &str) -> String {
    let mut said = Vec::new();
    for output in ["kept.mtx", "kept.profile.yaml"] {
        desk.write(output, "precious");
        said.push(desk.run(&["convert", input, "-o", output]).refusal(1));
        assert_eq!(desk.text(output), "precious");
    }
    assert_eq!(said[0], said[1]);
    said.remove(0)
}

#[test]
fn partial_profiles_that_do_not_belong_together_are_refused_and_nothing_is_overwritten() {
    let good = partial(&run_of(3, 7), 0, 1);
    let cases: [(&str, Vec<u8>, &str); 5] = [
        (
            "another run",
            partial(&run_of(3, 8), 1, 0),
            "x.parts/rank-1.part: is of another run (2026-11-21T04:03:48Z) than rank-0.part",
        ),
        (
            "truncated",
            good[..good.len() - 3].to_vec(),
            "x.parts/rank-1.part: was cut off or changed: its checksum is not right; remove it",
        ),
        (
            "empty",
            Vec::new(),
            "x.parts/rank-1.part: is no partial profile",
        ),
        (
            "a rank out of range",
            partial(&run_of(3, 7), 1, 3),
            "x.parts/rank-1.part: names rank 3, but the job had 3 ranks",
        ),
        (
            "the same rank again",
            good.clone(),
            "x.parts/rank-1.part: rank 0 has left two partial profiles",
        ),
    ];
    for (what, bytes, expected) in cases {
        let desk = Desk::new();
        leave(&desk.path("x.parts"), 0, &good);
        leave(&desk.path("x.parts"), 1, &bytes);
        let said = refused(&desk, "x.parts");
        assert!(said.starts_with(expected), "{what}: {said}");
    }
}
