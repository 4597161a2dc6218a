//! Valid placements, and the many ways in which they can be invalid.
#![allow(clippy::unwrap_used)]

use crate::file::*;
use proptest::prelude::*;

use treepie_base::{Header, Leaf, Rank};

/// Four ranks on four of eight cores; processes run on cores 0, 2, 4, 6.
fn sample() -> PlacementFile {
    let body = StoredPlacement {
        profile: Some("app.profile.yaml".into()),
        ranks: 4,
        strategy: "treematch".into(),
        costs: Some(Costs {
            before: 120.0,
            after: 48.5,
        }),
        bytes_by_level: vec![
            LevelTraffic {
                level: "root".into(),
                before: 4096.0,
                after: 1024.0,
            },
            LevelTraffic {
                level: "node".into(),
                before: 0.0,
                after: 3072.0,
            },
        ],
        topology: Topology::from_arities("2:2:2").unwrap(),
        assignment: Leaf::list([0, 4, 2, 6]),
        leaf_of_process: Leaf::list([0, 2, 4, 6]),
        permutation: Rank::list([0, 2, 1, 3]),
    };
    let header = Header {
        producer: "treepie 0.1.0".into(),
        date: "2026-11-21T04:03:48Z".into(),
    };
    File { header, body }
}

fn path() -> &'static Path {
    Path::new("a.placement.yaml")
}

/// The message for the sample with one part of its text replaced.
fn message_with(old: &str, new: &str) -> String {
    let text = sample().to_text(path()).unwrap();
    assert!(text.contains(old), "{text}");
    let changed = text.replace(old, new);
    PlacementFile::from_text(path(), &changed)
        .unwrap_err()
        .to_string()
}

#[test]
fn the_file_is_what_a_person_would_write() {
    assert_eq!(
        sample().to_text(path()).unwrap(),
        "treepie: placement\n\
         version: 1\n\
         producer: treepie 0.1.0\n\
         date: 2026-11-21T04:03:48Z\n\
         profile: app.profile.yaml\n\
         ranks: 4\n\
         strategy: treematch\n\
         costs:\n\
         \x20 before: 120.0\n\
         \x20 after: 48.5\n\
         bytes_by_level:\n\
         - level: root\n\
         \x20 before: 4096.0\n\
         \x20 after: 1024.0\n\
         - level: node\n\
         \x20 before: 0.0\n\
         \x20 after: 3072.0\n\
         topology:\n\
         \x20 levels:\n\
         \x20 - node\n\
         \x20 - socket\n\
         \x20 - core\n\
         \x20 arities: 2:2:2\n\
         assignment: 0,4,2,6\n\
         leaf_of_process: 0,2,4,6\n\
         permutation: 0,2,1,3\n"
    );
}

#[test]
fn a_placement_reads_back_as_it_was_written() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.placement.yaml");
    sample().write(&file).unwrap();
    assert_eq!(PlacementFile::read(&file).unwrap(), sample());
    assert_eq!(sample().fits(4), Ok(()));
    assert_eq!(
        sample().fits(16).unwrap_err().to_string(),
        "is for 4 ranks and the job has 16; start 4 ranks, or make one for 16 from a profile of \
         16 ranks"
    );
}

#[test]
fn contradictions_are_refused_with_their_field() {
    for (old, new, expected) in [
        (
            "ranks: 4",
            "ranks: 5",
            "assignment: has 4 cores for 5 ranks; list one core for each rank",
        ),
        (
            "ranks: 4",
            "ranks: 0",
            "ranks: is 0; a job has at least one rank",
        ),
        (
            "assignment: 0,4,2,6",
            "assignment: 0,4,2,4",
            "assignment: core 4 is used twice, for rank 1 and for rank 3; give each its own core",
        ),
        (
            "assignment: 0,4,2,6",
            "assignment: 0,4,2,8",
            "assignment: rank 3 is on core 8, but the topology has the cores 0 to 7; use those",
        ),
        (
            "leaf_of_process: 0,2,4,6",
            "leaf_of_process: 0,0,4,6",
            "leaf_of_process: core 0 is used twice, for process 0 and for process 1; give each its own \
             core",
        ),
        (
            "permutation: 0,2,1,3",
            "permutation: 0,2,1,2",
            "permutation: rank 2 is given to the processes 1 and 3; use each rank once",
        ),
        (
            "permutation: 0,2,1,3",
            "permutation: 0,2,1",
            "permutation: the permutation has 3 ranks and there are 4; write one for 4 ranks",
        ),
        (
            "permutation: 0,2,1,3",
            "permutation: 0-3",
            "permutation: process 1 runs on core 2 and gets rank 1, which belongs on core 4; \
             compute the placement again with `treepie map`",
        ),
        (
            "arities: 2:2:2",
            "arities: 2:2:2\n  forbidden: 6",
            "assignment: rank 3 is on core 6, which the topology forbids; use another core",
        ),
        (
            "after: 48.5",
            "after: -1",
            "costs.after: -1 was found, a number from 0 was expected; correct it",
        ),
        (
            "before: 4096.0",
            "before: .nan",
            "bytes_by_level.before: NaN was found, a number from 0 was expected; correct it",
        ),
    ] {
        assert_eq!(
            message_with(old, new),
            format!("a.placement.yaml: {expected}")
        );
    }
}

#[test]
fn wrong_words_are_refused_with_their_line() {
    for (old, new, expected) in [
        (
            "ranks: 4",
            "ranks: four",
            "a.placement.yaml:6:8: ranks: invalid type: string \"four\", expected a whole number",
        ),
        (
            "assignment: 0,4,2,6",
            "assignment: 0,4,2,x",
            "a.placement.yaml:24:13: assignment: `x` is not a whole number or a range; write a \
             list such as `0,4,8-11`",
        ),
        (
            "arities: 2:2:2",
            "arities: 2:two:2",
            "a.placement.yaml:19:3: topology: arities: level 2 of topology \"2:two:2\" is \
             \"two\": expected the number of children of every node of that level, as in \"4:2:2\"",
        ),
        (
            "permutation: 0,2,1,3\n",
            "",
            "a.placement.yaml:1:1: missing field `permutation`; write it, or write the file again \
             if it was cut off",
        ),
        (
            "version: 1",
            "version: 2",
            "a.placement.yaml: version 2: written by a newer treepie, this one reads versions up \
             to 1; use the newer treepie, or write the file again with this one",
        ),
        (
            "treepie: placement",
            "treepie: profile",
            "a.placement.yaml: this is a profile, a placement was expected; give the placement, \
             which `treepie map` makes from a profile",
        ),
    ] {
        assert_eq!(message_with(old, new), expected);
    }
}

#[test]
fn every_cut_off_file_is_refused() {
    let text = sample().to_text(path()).unwrap();
    // All prefixes except the whole text without its last line break, which is valid.
    for length in 0..text.len() - 1 {
        let cut = PlacementFile::from_text(path(), &text[..length]);
        assert!(cut.is_err(), "cut to {length} bytes");
    }
}

#[test]
fn a_placement_that_contradicts_itself_is_not_written() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.placement.yaml");
    let mut wrong = sample();
    wrong.assignment[Rank(0)] = Leaf(6);
    assert!(wrong.write(&file).is_err());
    assert!(!file.exists());
}

proptest! {
    /// A file accepted in spite of a changed byte is consistent.
    #[test]
    fn changed_bytes_never_panic_and_never_make_a_contradiction(
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0x09u8..0x7f), 1..4)
    ) {
        let mut bytes = sample().to_text(path()).unwrap().into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let text = String::from_utf8(bytes).unwrap();
        if let Ok(placement) = PlacementFile::from_text(path(), &text) {
            prop_assert_eq!(placement.check(path()), Ok(()));
            let again = placement.to_text(path()).unwrap();
            prop_assert_eq!(PlacementFile::from_text(path(), &again), Ok(placement));
        }
    }
}
