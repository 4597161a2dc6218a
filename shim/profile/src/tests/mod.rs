//! Valid profiles, and the many ways in which they can be damaged.
#![allow(clippy::unwrap_used)]

mod plans;

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::locality::locality_from_text;
use treepie_base::{FileErrorKind, Header, Process, Rank};
use treepie_collective::{Locality, Operation, PlanRun, Record, Volume, grids, size_class};
use treepie_guard::{Form, State};
use treepie_native::traffic::{Model, expand};
use treepie_topology::formats::HostLocation;
use treepie_traffic::times::{CallClass, CallTime};
use treepie_traffic::windows::{Access, Accesses, EpochKind, WindowCall};
use treepie_traffic::{Layer, Traffic, TrafficMatrix};

/// Returns a profile of four ranks on two hosts; rank 0 runs as process 2.
fn sample() -> Profile {
    let mut profile = Profile {
        header: Header {
            producer: "treepie 0.1.0".into(),
            date: "2026-11-21T04:03:48Z".into(),
        },
        mpi: MpiDescription {
            family: "open-mpi".into(),
            library: "Open MPI v4.1.4".into(),
            standard: "3.1".into(),
        },
        command: vec!["./app".into(), "--steps".into(), "10".into()],
        hosts: vec![
            Host {
                name: "node1".into(),
                processes: [0, 1].map(Process).to_vec(),
            },
            Host {
                name: "node2".into(),
                processes: [2, 3].map(Process).to_vec(),
            },
        ],
        process_of_rank: [2, 0, 1, 3].into_iter().map(Process).collect(),
        allowed_cores: ["0-3", "0-3", "0-3", "4"]
            .into_iter()
            .map(String::from)
            .collect(),
        collectives: vec![Record {
            operation: Operation::Allreduce,
            group: [0, 1, 2, 3].into(),
            root: None,
            size_class: size_class(8),
            plan: None,
            calls: 10,
            volume: Volume::Uniform(80),
        }],
        ..Profile::new(4)
    };
    profile.point_to_point.add(0, 1, Traffic::new(10, 4096));
    profile.point_to_point.add(3, 2, Traffic::new(5, 0));
    profile
        .point_to_point
        .add(2, 3, Traffic::new(1, (1 << 60) + 1));
    profile.one_sided.add(1, 1, Traffic::new(2, 16));
    profile
}

/// Writes the sample to the disk; returns it with the directory that is removed with it.
fn on_disk() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("app.profile.yaml");
    sample().write(&path).unwrap();
    (directory, path)
}

/// Returns the message after one piece of text in a file of the sample was replaced, without the
/// name of the directory.
fn message_with(file: &str, old: &str, new: &str) -> String {
    let (directory, path) = on_disk();
    let changed = directory.path().join(file);
    let text = fs::read_to_string(&changed).unwrap();
    assert!(text.contains(old), "{text}");
    fs::write(&changed, text.replace(old, new)).unwrap();
    let message = Profile::read(&path).unwrap_err().to_string();
    message.replace(&format!("{}/", directory.path().display()), "")
}

#[test]
fn a_profile_of_many_ranks_is_read_and_one_that_only_states_them_is_refused() {
    const RANKS: usize = 100_000;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("many.profile.yaml");
    let mut profile = Profile::new(RANKS);
    let each_128 = (0..RANKS).step_by(128).enumerate();
    let host = |(number, first)| Host {
        name: format!("node{number:05}"),
        processes: (first..RANKS.min(first + 128)).map(Process).collect(),
    };
    profile.hosts = each_128.map(host).collect();
    for rank in 0..RANKS {
        let traffic = Traffic::new(1, rank as u64);
        profile
            .point_to_point
            .add(rank, (rank + 1) % RANKS, traffic);
    }
    let world: std::sync::Arc<[u32]> = (0..RANKS as u32).collect();
    let record = |size_class| Record {
        operation: Operation::Allreduce,
        group: world.clone(),
        root: None,
        size_class,
        plan: None,
        calls: 1,
        volume: Volume::Uniform(8),
    };
    profile.collectives = (0..8).map(record).collect();
    profile.write(&path).unwrap();
    assert_eq!(Profile::read(&path).unwrap(), profile);

    let text = "treepie: profile\nversion: 1\nmpi: {family: mpich, library: x, standard: '4.0'}\n\
                command: [a]\nranks: 8000000\nhosts: [{name: a, processes: 0-7999999}]\n\
                allowed_cores: [{processes: 0-7999999, cores: 0-3}]\n\
                process_of_rank: 0-7999999\nlayers: []\ncomplete: true\n";
    let problem = Profile::from_text(&path, text).unwrap_err().to_string();
    assert!(
        problem.contains("8000000 numbers would take more than the 64 MiB"),
        "{problem}"
    );
}

#[test]
fn the_file_is_what_a_person_would_write() {
    let (directory, path) = on_disk();
    assert_eq!(
        fs::read_to_string(path).unwrap(),
        "treepie: profile\n\
         version: 1\n\
         producer: treepie 0.1.0\n\
         date: 2026-11-21T04:03:48Z\n\
         mpi:\n\
         \x20 family: open-mpi\n\
         \x20 library: Open MPI v4.1.4\n\
         \x20 standard: '3.1'\n\
         command:\n\
         - ./app\n\
         - --steps\n\
         - '10'\n\
         ranks: 4\n\
         hosts:\n\
         - name: node1\n\
         \x20 processes: 0,1\n\
         - name: node2\n\
         \x20 processes: 2,3\n\
         allowed_cores:\n\
         - processes: 0-2\n\
         \x20 cores: 0-3\n\
         - processes: '3'\n\
         \x20 cores: '4'\n\
         process_of_rank: 2,0,1,3\n\
         collectives:\n\
         \x20 groups:\n\
         \x20 - 0-3\n\
         \x20 rows:\n\
         \x20 - allreduce group=0 class=4 calls=10 bytes=80\n\
         layers:\n\
         - layer: point-to-point\n\
         \x20 messages_matrix: app.profile.point-to-point.messages.mtx\n\
         \x20 bytes_matrix: app.profile.point-to-point.bytes.mtx\n\
         \x20 pairs: 3\n\
         \x20 messages: 16\n\
         \x20 bytes: 1152921504606851073\n\
         - layer: one-sided\n\
         \x20 messages_matrix: app.profile.one-sided.messages.mtx\n\
         \x20 bytes_matrix: app.profile.one-sided.bytes.mtx\n\
         \x20 pairs: 1\n\
         \x20 messages: 2\n\
         \x20 bytes: 16\n\
         complete: true\n"
    );
    let bytes = directory
        .path()
        .join("app.profile.point-to-point.bytes.mtx");
    assert_eq!(
        fs::read_to_string(bytes).unwrap(),
        "%%MatrixMarket matrix coordinate integer general\n\
         % bytes that rank row - 1 sent to rank column - 1, point-to-point\n\
         4 4 3\n\
         1 2 4096\n\
         3 4 1152921504606846977\n\
         4 3 0\n"
    );
}

#[test]
fn a_profile_reads_back_as_it_was_written() {
    let (_directory, path) = on_disk();
    assert_eq!(Profile::read(&path).unwrap(), sample());
}

/// Returns the sample with all optional parts of a profile.
fn full() -> Profile {
    let mut profile = sample();
    let phase = |name: &str, start_seconds: f64| {
        let mut phase = Phase {
            name: name.into(),
            start_seconds,
            end_seconds: start_seconds + 1.25,
            seconds: 0.5,
            point_to_point: TrafficMatrix::new(4),
            one_sided: TrafficMatrix::new(4),
            neighbourhood: TrafficMatrix::new(4),
            ..Phase::default()
        };
        phase.point_to_point.add(0, 1, Traffic::new(10, 4096));
        phase
    };
    profile.phases = vec![phase("1", 0.0), phase("2", 1.5)];
    profile.phases[1].collectives = profile.collectives.clone();
    profile.missing_ranks = vec![Rank(3)];
    profile.shared_memory = [[0, 1], [2, 3]]
        .map(|group| group.map(Rank).to_vec())
        .to_vec();
    let mut window = WindowUse::new([3, 1].map(Rank).to_vec(), 2);
    let access = Access {
        epoch: EpochKind::LockAll,
        call: WindowCall::Fetch,
        is_contiguous: false,
        size_class: 7,
        target: 1,
    };
    let accesses = Accesses {
        traffic: Traffic::new(5, 500),
        intervals: 2,
    };
    window.add_rank(&[(access, accesses)]);
    profile.windows = vec![window];
    let cell = GuardedCell {
        operation: Operation::Bcast,
        form: Form::Nonblocking,
        root: Some(0),
        bytes: Some(1024),
        ordered: false,
        ranks: 4,
        clusters: 2,
        plan: Some(GuardedPlan {
            algorithm: "grid-chain".into(),
            segment: 4096,
        }),
        state: State::TakenBack,
        won: 3,
        lost: 9,
        native_seconds: Some(1.25e-5),
        plan_seconds: None,
        longest_seconds: 0.5,
        calls: 100,
        seconds: 0.00125,
        excess_seconds: 0.0,
        saved_seconds: -0.5,
    };
    profile.guard = vec![
        cell.clone(),
        GuardedCell {
            plan: None,
            state: State::Warming,
            native_seconds: None,
            ..cell
        },
    ];
    profile.guarded_epochs = vec![GuardedEpochs {
        epoch: EpochKind::Fence,
        ranks: 4,
        state: State::Adopted,
        decisions: 2,
        won: 8,
        lost: 0,
        native_seconds: Some(1.25e-5),
        joined_seconds: None,
        epochs: 200,
        seconds: 0.00125,
        excess_seconds: 0.0,
        saved_seconds: 0.25,
    }];
    let time = |calls| CallTime {
        calls,
        nanoseconds: calls * 1_001,
    };
    profile.phases[0].times = Some(Times::new(4));
    profile.times = Some(Times {
        elapsed: vec![4_000_000_007, 1, 2, 3].into(),
        classes: [(CallClass::Wait, (0..4).map(time).collect())].into(),
    });
    profile.topologies = vec![HostTopology {
        hosts: vec!["node1".into(), "node2".into()],
        machine: "machine 1\nlevel core 2\nunits 0 1\n".into(),
    }];
    profile.locations = vec![
        HostLocation {
            host: "node1".into(),
            coordinates: vec![3, 0, 12],
            cname: Some("c3-0c2s15n3".into()),
        },
        HostLocation {
            host: "node2".into(),
            coordinates: Vec::new(),
            cname: None,
        },
    ];
    profile
}

#[test]
fn phases_times_and_the_rest_read_back_as_they_were_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("app.profile.yaml");
    full().write(&path).unwrap();
    assert_eq!(Profile::read(&path).unwrap(), full());
    let phase = "app.profile.phase-2.point-to-point.bytes.mtx";
    assert!(directory.path().join(phase).exists());
}

#[test]
fn what_is_wrong_with_phases_and_times_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("app.profile.yaml");
    full().write(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    for (old, new, expected) in [
        (
            "calls: 0,1,2,3",
            "calls: 0,1,2",
            "35:3: times: 3 numbers were found for 4 ranks; write one for each",
        ),
        (
            "calls: 0,1,2,3",
            "calls: 0,1,2,many",
            "35:3: times: `many` is no number; correct it",
        ),
        (
            "missing_ranks: '3'",
            "missing_ranks: '4'",
            " missing_ranks: rank 4 is none of the 4, which count from 0; correct it",
        ),
        (
            "level core 2",
            "level core 3",
            "topologies: 2 lists of units for 3 nodes",
        ),
        (
            "- host: node2",
            "- host: node3",
            " locations: node3 is none of the hosts; remove or correct it",
        ),
    ] {
        assert!(text.contains(old), "{text}");
        let error = Profile::from_text(&path, &text.replace(old, new)).unwrap_err();
        let said = error.to_string();
        let told = said.strip_prefix(&format!("{}:", path.display())).unwrap();
        match old.starts_with("level") {
            true => assert!(told.starts_with(" topologies: "), "{told}"),
            false => assert_eq!(told, expected),
        }
    }
    let matrix = directory
        .path()
        .join("app.profile.phase-1.point-to-point.bytes.mtx");
    fs::remove_file(&matrix).unwrap();
    let said = Profile::read(&path).unwrap_err().to_string();
    assert!(
        said.contains("phase-1") && said.contains("no such file"),
        "{said}"
    );
}

#[test]
fn the_bytes_of_a_class_of_calls_follow_from_the_layers() {
    let profile = sample();
    let huge = (1 << 60) + 1;
    let bytes = |class| profile.bytes_of_class(class).raw;
    assert_eq!(bytes(CallClass::Send), [4096, 0, huge, 0]);
    assert_eq!(bytes(CallClass::Receive), [0, 4096, 0, huge]);
    assert_eq!(bytes(CallClass::Collective), [80; 4]);
    assert_eq!(bytes(CallClass::Wait), [0; 4]);
}

#[test]
fn an_empty_profile_reads_back_too() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("empty.yml");
    let mut empty = Profile::new(1);
    empty.hosts.push(Host {
        name: "here".into(),
        processes: vec![Process(0)],
    });
    empty.write(&path).unwrap();
    assert_eq!(Profile::read(&path).unwrap(), empty);
}

#[test]
fn layers_are_added_up_and_collectives_are_modelled() {
    let profile = sample();
    let counted = profile.traffic(&[Layer::PointToPoint]);
    assert_eq!(counted, profile.point_to_point);
    let both = profile.traffic(&[Layer::PointToPoint, Layer::OneSided]);
    assert_eq!(both.get(1, 1), Traffic::new(2, 16));
    assert_eq!(both.get(0, 1), Traffic::new(10, 4096));
    let mut modelled = TrafficMatrix::new(4);
    expand(
        &profile.collectives[0],
        Model::Native(profile.native_family()),
        profile.native_family(),
        &mut modelled,
    );
    assert_eq!(profile.traffic(&[Layer::Collectives]), modelled);
    assert!(modelled.non_zeros() > 0);
    assert_eq!(profile.traffic(&[]), TrafficMatrix::new(4));
}

#[test]
fn matrices_of_another_run_are_refused() {
    assert_eq!(
        message_with(
            "app.profile.point-to-point.bytes.mtx",
            "1 2 4096",
            "1 2 4097"
        ),
        "app.profile.yaml: layers.point-to-point: the matrices \
         app.profile.point-to-point.messages.mtx and app.profile.point-to-point.bytes.mtx have \
         1152921504606851074 bytes, the profile has 1152921504606851073; they are of different \
         runs or were cut off, take the profile again"
    );
    assert_eq!(
        message_with("app.profile.one-sided.messages.mtx", "4 4 1", "5 5 1"),
        "app.profile.one-sided.messages.mtx: the matrix is for 5 ranks and its profile for 4; \
         take the profile again"
    );
}

#[test]
fn a_missing_matrix_is_named() {
    let (directory, path) = on_disk();
    let matrix = directory
        .path()
        .join("app.profile.point-to-point.messages.mtx");
    fs::remove_file(&matrix).unwrap();
    assert_eq!(
        Profile::read(&path).unwrap_err().to_string(),
        format!(
            "{}: there is no such file; check its name and the current directory",
            matrix.display()
        )
    );
}

#[test]
fn contradictions_are_refused_with_their_field() {
    for (old, new, expected) in [
        (
            "ranks: 4",
            "ranks: 0",
            " ranks: is 0; a job has at least one rank",
        ),
        (
            "ranks: 4",
            "ranks: 18446744073709551615",
            " process_of_rank: has 4 processes for 18446744073709551615 ranks; list one for each \
             rank",
        ),
        (
            "process_of_rank: 2,0,1,3",
            "process_of_rank: 2,0,1,2",
            " process_of_rank: process 2 runs the ranks 0 and 3; each runs one",
        ),
        (
            "processes: 2,3",
            "processes: 1-3",
            " hosts: process 1 is on node1 and on node2; keep one of them",
        ),
        (
            "processes: 2,3",
            "processes: 2",
            " hosts: process 3 is on no host; list it with its host",
        ),
        (
            "cores: '4'",
            "cores: four",
            " allowed_cores: process 3: `four` is not a whole number or a range; write a list such \
             as `0,4,8-11`",
        ),
        (
            "- 0-3\n  rows",
            "- 0-4\n  rows",
            " collectives.rows[0]: a allreduce names world rank 4, but there are 4 ranks: they \
             count from 0 to 3",
        ),
        (
            "calls=10",
            "calls=x",
            "26:3: collectives: rows[0]: calls: `x` was found, a whole number was expected; correct it",
        ),
        (
            "layer: one-sided",
            "layer: point-to-point",
            " layers: point-to-point is listed twice; keep one of them",
        ),
        (
            "layer: one-sided",
            "layer: collectives",
            " layers: collectives have no matrices of their own; write them as rows of \
             `collectives`",
        ),
        (
            "messages_matrix: app.profile.one",
            "messages_matrix: ../app.profile.one",
            " layers: `../app.profile.one-sided.messages.mtx` is not the name of a file beside the \
             profile; write a name without directories",
        ),
    ] {
        assert_eq!(
            message_with("app.profile.yaml", old, new),
            format!("app.profile.yaml:{expected}")
        );
    }
}

#[test]
fn every_cut_off_file_is_refused() {
    let (_directory, path) = on_disk();
    let text = fs::read_to_string(&path).unwrap();
    // All except the last line break, whose loss is harmless.
    for length in 0..text.len() - 1 {
        let cut = Profile::from_text(&path, &text[..length]);
        assert!(cut.is_err(), "cut to {length} bytes");
    }
}

#[test]
fn a_directory_that_does_not_exist_gets_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("none/app.profile.yaml");
    let error = sample().write(&path).unwrap_err();
    assert!(matches!(error.kind, FileErrorKind::Unwritable(_)));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_profile_that_contradicts_itself_is_not_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("app.profile.yaml");
    let mut wrong = sample();
    wrong.one_sided = TrafficMatrix::new(5);
    assert_eq!(
        wrong.write(&path).unwrap_err().to_string(),
        format!(
            "{}: one-sided: the matrix is for 5 ranks, 4 were expected",
            path.display()
        )
    );
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

proptest! {
    /// A file that is accepted with a changed byte is still consistent.
    #[test]
    fn changed_bytes_never_panic_and_never_make_a_contradiction(
        matrix in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)
    ) {
        // Written once: it waits for the disk, which takes longer than all the rest.
        static WRITTEN: LazyLock<(tempfile::TempDir, PathBuf)> = LazyLock::new(on_disk);
        let (directory, path) = (WRITTEN.0.path(), WRITTEN.1.clone());
        let changed = match matrix {
            true => directory.join("app.profile.point-to-point.bytes.mtx"),
            false => path.clone(),
        };
        let original = fs::read(&changed).unwrap();
        let mut bytes = original.clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        fs::write(&changed, bytes).unwrap();
        let read = Profile::read(&path);
        fs::write(&changed, original).unwrap();
        if let Ok(profile) = read {
            prop_assert_eq!(profile.check(&path), Ok(()));
            let _ = profile.traffic(Layer::ALL);
        }
    }
}
