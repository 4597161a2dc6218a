//! Profiles have the traffic of the job.

use std::path::{Path, PathBuf};
use tempfile::TempDir;
use treepie_base::{List, Process, Rank};
use treepie_collective::Operation;
use treepie_profile::Profile;
use treepie_tests::expected::{self, Pairs, pairs};
use treepie_tests::permutations::{as_list, rotated};
use treepie_tests::{Job, Library, Mpi, under_each_mpi};
use treepie_traffic::Layer;

fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory can be made")
}

#[track_caller]
fn read(path: &Path) -> Profile {
    Profile::read(path).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn assert_same_pairs(found: &Pairs, expected: &Pairs) {
    expected::assert_same_pairs(found, expected, "counted, expected");
}

fn the_halo_exchange_shows_the_tiles_that_touch(mpi: Mpi) {
    let (outcome, profile) = Job::new(mpi, 12, "halo2d")
        .argument("8")
        .argument("10")
        .profiled();
    assert_same_pairs(
        &pairs(&profile.point_to_point),
        &expected::of_halo2d(&outcome.stdout, 8, 10),
    );
    assert_eq!(profile.ranks, 12);
    assert_eq!(
        profile.process_of_rank,
        (0..12).map(Process).collect::<List<_, _>>()
    );
    assert_eq!(
        profile
            .hosts
            .iter()
            .map(|host| host.processes.len())
            .sum::<usize>(),
        12
    );
    assert!(
        profile.command.iter().any(|word| word.ends_with("halo2d")),
        "{:?}",
        profile.command
    );
    let library = profile.mpi.library.to_lowercase().replace(' ', "");
    assert!(library.contains(mpi.name()), "{library}");
}

/// Three rounds of one message to the next rank.
fn calls_behind_an_exception_are_counted_and_those_that_failed_are_not(mpi: Mpi) {
    let (_, profile) = Job::new(mpi, 4, "exceptions.cpp").profiled();
    let next = |rank| ((rank, (rank + 1) % 4), (3, 3 * 64));
    assert_same_pairs(&pairs(&profile.point_to_point), &(0..4).map(next).collect());
}

fn every_form_of_point_to_point_is_counted_once(mpi: Mpi) {
    for ranks in [1, 2, 5] {
        let (outcome, profile) = Job::new(mpi, ranks, "p2p_forms").profiled();
        assert_same_pairs(
            &pairs(&profile.point_to_point),
            &expected::of_account(&outcome.stdout, ranks),
        );
    }
}

/// Windows of every kind, and all calls on them.
fn every_one_sided_call_is_counted_in_the_direction_of_its_data(mpi: Mpi) {
    for arguments in [&[][..], &["no-op"]] {
        let job = arguments
            .iter()
            .fold(Job::new(mpi, 4, "one_sided"), |job, word| {
                job.argument(word)
            });
        let (outcome, profile) = job.profiled();
        assert_same_pairs(
            &pairs(&profile.one_sided),
            &expected::of_account(&outcome.stdout, 4),
        );
        assert_eq!(profile.point_to_point.total().messages, 0);
    }
}

fn every_neighbourhood_collective_is_counted_along_its_edges(mpi: Mpi) {
    for ranks in [3, 6] {
        let (outcome, profile) = Job::new(mpi, ranks, "neighbourhood").profiled();
        assert_same_pairs(
            &pairs(&profile.neighbourhood),
            &expected::of_account(&outcome.stdout, ranks),
        );
        assert_eq!(profile.point_to_point.total().messages, 0);
    }
}

/// A profile has the application's ranks: the same job profiled during a replay gives the same
/// matrix, and records the rank of each process.
///
/// PITFALLS: 27
fn a_replayed_job_has_the_same_profile_in_its_own_ranks(mpi: Mpi) {
    let directory = directory();
    let path = directory.path().join("replayed.profile.yaml");
    let permutation = rotated(4);
    let outcome = Job::new(mpi, 4, "p2p_forms")
        .with(Library::Permuted(permutation.clone()))
        .variable("TREEPIE_OUTPUT", path.display())
        .run()
        .succeeded()
        .silent();
    let profile = read(&path);
    assert_same_pairs(
        &pairs(&profile.point_to_point),
        &expected::of_account(&outcome.stdout, 4),
    );
    for (process, rank) in permutation.into_iter().enumerate() {
        assert_eq!(profile.process_of_rank[Rank(rank)], Process(process));
    }
}

/// Calls from every language binding are counted once.
fn the_ring_is_counted_alike_in_every_language(mpi: Mpi) {
    let expected = expected::of_ring(4);
    for job in [
        Job::new(mpi, 4, "ring"),
        Job::new(mpi, 4, "ring.f"),
        Job::new(mpi, 4, "ring.f90"),
        Job::new(mpi, 4, "ring_f08.f90"),
        Job::python(mpi, 4, "ring"),
    ] {
        let (_, profile) = job.profiled();
        assert_same_pairs(&pairs(&profile.point_to_point), &expected);
        let calls = |operation| {
            profile
                .collectives
                .iter()
                .filter(|record| record.operation == operation)
                .map(|record| record.calls)
                .sum::<u64>()
        };
        // The world's allreduce, and one in each half.
        assert_eq!(
            (calls(Operation::Allreduce), calls(Operation::Gather)),
            (3, 1),
            "{:?}",
            profile.collectives
        );
    }
}

/// Collectives have a separate layer: none of the MPI's messages for them is counted as a message
/// of the application, and each operation is recorded.
fn collectives_are_told_from_point_to_point(mpi: Mpi) {
    let (_, profile) = Job::new(mpi, 4, "collectives").profiled();
    assert_same_pairs(&pairs(&profile.point_to_point), &Pairs::new());
    for operation in Operation::all() {
        assert!(
            profile
                .collectives
                .iter()
                .any(|record| record.operation == operation && record.calls > 0),
            "{operation} is not in the profile"
        );
    }
    let traffic = profile.traffic(&[Layer::Collectives]);
    assert!(traffic.total().bytes > 0);
    // All ranks take part: those that send nothing in the model are missing.
    for rank in 0..4 {
        assert!(
            traffic
                .entries()
                .any(|(from, to, _)| from == rank && to != rank),
            "rank {rank} sends nothing"
        );
    }
}

/// A collective is recorded once, not once per rank, and in the application's ranks also during a
/// replay.
fn the_halo_exchange_records_its_reductions(mpi: Mpi) {
    let directory = directory();
    let path = directory.path().join("job.profile.yaml");
    let run = |library: Library| {
        Job::new(mpi, 4, "halo2d")
            .argument("8")
            .argument("20")
            .with(library)
            .variable("TREEPIE_OUTPUT", path.display())
            .run()
            .succeeded()
            .silent();
        let mut records: Vec<_> = read(&path)
            .collectives
            .iter()
            .map(|record| {
                format!(
                    "{} {:?} {} {:?}",
                    record.operation, record.group, record.calls, record.volume
                )
            })
            .collect();
        records.sort();
        records
    };
    // A reduction of 8 bytes in the iterations 10 and 20, and one at the end.
    let records = run(Library::Profile(path.clone()));
    assert_eq!(records.len(), 1, "{records:?}");
    assert!(
        records[0].starts_with("allreduce [0, 1, 2, 3] 3 "),
        "{records:?}"
    );
    assert_eq!(run(Library::Permuted(rotated(4))), records);
}

/// MPI 4's partitioned sends, if the MPI has them.
#[test]
fn a_partitioned_send_is_one_message_each_time_it_is_started() {
    let (outcome, profile) = Job::new(Mpi::Mpich, 3, "p2p_forms")
        .argument("partitioned")
        .profiled();
    let expected = expected::of_account(&outcome.stdout, 3);
    assert_eq!(expected.len(), 3, "{}", outcome.told());
    assert_same_pairs(&pairs(&profile.point_to_point), &expected);
}

fn without_an_output_the_profile_is_named_after_the_number_of_ranks(mpi: Mpi) {
    let outcome = Job::new(mpi, 3, "ring")
        .with(Library::Set(vec![("TREEPIE_MODE", "profile".into())]))
        .run()
        .succeeded()
        .silent();
    assert!(
        outcome.files.contains(&"treepie-3.profile.yaml".to_owned()),
        "{:?}",
        outcome.files
    );
    let others = |name: &&String| !name.starts_with("treepie-3.profile.");
    assert_eq!(
        outcome.files.iter().filter(others).count(),
        0,
        "{:?}",
        outcome.files
    );
}

fn the_modes_off_and_replay_write_nothing(mpi: Mpi) {
    for library in [Library::Off, Library::Permuted(vec![2, 1, 0])] {
        let outcome = Job::new(mpi, 3, "ring")
            .with(library)
            .run()
            .succeeded()
            .silent();
        assert_eq!(outcome.files, Vec::<String>::new());
    }
}

/// Settings are also read from a file, and variables take precedence.
fn settings_are_read_from_the_configuration_file(mpi: Mpi) {
    let directory = directory();
    let file = |name: &str| -> PathBuf { directory.path().join(name) };
    let configuration = file("job.yaml");
    let text = format!(
        "treepie: configuration\nversion: 1\nmode: replay\npermutation: {}\noutput: {}\n",
        as_list(&rotated(3)),
        file("from-the-file.profile.yaml").display()
    );
    std::fs::write(&configuration, text).expect("the directory is writable");
    let plain = Job::new(mpi, 3, "ring").run().succeeded();
    for (variables, written, process_of_rank_0) in [
        (vec![], "from-the-file.profile.yaml", 2),
        (
            vec![("TREEPIE_MODE", "profile")],
            "from-the-file.profile.yaml",
            0,
        ),
        (
            vec![("TREEPIE_OUTPUT", "other.profile.yaml")],
            "other.profile.yaml",
            2,
        ),
    ] {
        let mut settings = vec![("TREEPIE_CONFIG", configuration.display().to_string())];
        settings.extend(
            variables
                .into_iter()
                .map(|(name, value)| (name, value.to_owned())),
        );
        let outcome = Job::new(mpi, 3, "ring")
            .with(Library::Set(settings))
            .directory(directory.path())
            .run()
            .silent();
        treepie_tests::assert_same_output(&plain, &outcome);
        let profile = read(&file(written));
        assert_eq!(
            profile.process_of_rank[Rank(0)],
            Process(process_of_rank_0),
            "{}",
            outcome.description
        );
        std::fs::remove_file(file(written)).expect("it was just read");
    }
}

under_each_mpi!(
    calls_behind_an_exception_are_counted_and_those_that_failed_are_not,
    the_halo_exchange_shows_the_tiles_that_touch,
    every_form_of_point_to_point_is_counted_once,
    every_one_sided_call_is_counted_in_the_direction_of_its_data,
    every_neighbourhood_collective_is_counted_along_its_edges,
    a_replayed_job_has_the_same_profile_in_its_own_ranks,
    the_ring_is_counted_alike_in_every_language,
    collectives_are_told_from_point_to_point,
    the_halo_exchange_records_its_reductions,
    without_an_output_the_profile_is_named_after_the_number_of_ranks,
    the_modes_off_and_replay_write_nothing,
    settings_are_read_from_the_configuration_file,
);
