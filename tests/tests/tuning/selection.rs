//! The files of MPICH's collective selection.

use std::path::{Path, PathBuf};

use treepie_collective::Operation;
use treepie_native::knobs::{Knob, Library as Version};
use treepie_tests::monitoring::{sent_through_ucx, sent_through_ucx_behind_library};
use treepie_tests::{Job, Mpi, Outcome, artifacts};
use treepie_traffic::formats::monitoring::Monitoring;

use super::{Rows, convert, text, version_of, written};

const RING: Rows = &[("allgather", 256, "ring"), ("bcast", 8, "binomial")];

/// The file of MPICH's library.
fn library_file(mpi: Mpi) -> PathBuf {
    if mpi != Mpi::Mpich {
        let build = artifacts::build_directory();
        return build.join(format!("venv-{}/lib/libmpi.so.12", mpi.name()));
    }
    let triplets = std::fs::read_dir("/usr/lib")
        .expect("a directory")
        .flatten();
    let mut files = triplets.map(|entry| entry.path().join("libmpich.so.12"));
    files
        .find(|path| path.exists())
        .expect("libmpich, of scripts/setup")
}

/// Writes the files of a tuning with these rows, and passes them to `job`.
fn with_selection(mpi: Mpi, directory: &Path, rows: Rows, job: Job) -> Job {
    let library = format!("library_file: {}\nrows:", library_file(mpi).display());
    let tuning = text(version_of(mpi), rows).replace("rows:", &library);
    let algorithms = directory.join("a.json");
    convert(&written(directory, &tuning), &algorithms);
    job.variable(
        "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE",
        algorithms.display(),
    )
    .variable(
        "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE",
        directory.join("a-ch4.json").display(),
    )
}

/// Each rank of a ring only sends to the next one.
pub fn is_ring(job: Job, ranks: usize) -> bool {
    let (_, sent) = sent_through_ucx(job);
    let mut pairs = sent.collectives.entries();
    pairs.all(|(from, to, _)| to == (from + 1) % ranks)
}

/// An allgather of `count` times four bytes from each rank.
fn allgather(mpi: Mpi, ranks: usize, count: usize) -> Job {
    Job::new(mpi, ranks, "collective_calls").argument(format!("allgather:{count}"))
}

#[test]
fn mpich_reads_the_files_and_runs_their_algorithms_from_those_bytes_on() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let calls = |ranks, count| allgather(Mpi::Mpich, ranks, count);
    let with = |job| with_selection(Mpi::Mpich, directory.path(), RING, job);
    assert!(is_ring(with(calls(4, 100)), 4) && !is_ring(calls(4, 100), 4));
    // Unmeasured cases do not change: shorter blocks, and other numbers of ranks.
    for (ranks, count) in [(4, 32), (5, 100), (3, 100)] {
        assert!(
            !is_ring(with(calls(ranks, count)), ranks),
            "{ranks} {count}"
        );
    }
}

/// The library passes the files to its own process: a ring sends each block to the next rank.
pub fn the_library_gives_files_to_its_process(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let tuning = written(directory.path(), &text(version_of(mpi), RING));
    let to_next = |(_, sent): (Outcome, Monitoring)| {
        let mut pairs = sent.collectives.entries();
        let next = pairs.find(|(from, to, _)| (*from, *to) == (0, 1));
        next.expect("rank 0 sends to rank 1").2.messages
    };
    let [short, long] = [32, 100].map(|count| {
        let files = with_selection(mpi, directory.path(), RING, allgather(mpi, 4, count));
        let named = allgather(mpi, 4, count).variable("TREEPIE_TUNING", tuning.display());
        [
            to_next(sent_through_ucx(files)),
            to_next(sent_through_ucx_behind_library(named)),
        ]
    });
    assert!(long[0] > short[0], "{short:?} {long:?}");
    assert_eq!(long[1] - short[1], long[0] - short[0], "{short:?} {long:?}");
}

/// An algorithm that is unknown there, or lacks a parameter, would end the job.
pub fn files_with_each_algorithm_are_read_and_give_right_results(mpi: Mpi) {
    let library: Version = version_of(mpi).parse().expect("a known version");
    let all: Vec<Vec<Knob>> = Operation::all()
        .map(|operation| {
            let knobs = library.knobs(operation).into_iter();
            // This one needs a library for GPUs.
            knobs
                .filter(|knob| knob.allows(4) && knob.name != "ccl")
                .collect()
        })
        .collect();
    for place in 0..all.iter().map(Vec::len).max().unwrap_or(0) {
        let knobs: Vec<&Knob> = all.iter().filter_map(|knobs| knobs.get(place)).collect();
        let names: Vec<String> = knobs
            .iter()
            .map(|knob| knob.operation.to_string())
            .collect();
        let rows = names.iter().zip(&knobs);
        let rows: Vec<_> = rows
            .map(|(name, knob)| (name.as_str(), 8, knob.name))
            .collect();
        let directory = tempfile::tempdir().expect("a temporary directory");
        for program in ["tuned", "native_order"] {
            let job = Job::new(mpi, 4, program);
            let outcome = with_selection(mpi, directory.path(), &rows, job).run();
            assert!(
                outcome.stdout.ends_with("0 wrong\n"),
                "{rows:?}: {}",
                outcome.told()
            );
        }
    }
}

#[test]
fn files_can_name_each_of_mpich_s_algorithms() {
    files_with_each_algorithm_are_read_and_give_right_results(Mpi::Mpich);
}
