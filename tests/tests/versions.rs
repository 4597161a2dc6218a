//! Ranks whose libraries differ: they detect it together, one of them reports it, and the job runs
//! on all ranks as without the library.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use treepie_tests::{Job, Library, Mpi, artifacts, assert_same_output, under_each_mpi};

const RANKS: usize = 4;

/// Bytes in every library, and those of another version.
const VERSION: &[u8] = b", messages 9";
const OTHER: &[u8] = b", messages 0";

/// The library with another version in it, which occurs once.
#[track_caller]
fn other_library(directory: &Path) -> PathBuf {
    let mut bytes = fs::read(artifacts::library()).expect("scripts/build has built the library");
    let places: Vec<usize> = bytes
        .windows(VERSION.len())
        .enumerate()
        .filter(|(_, text)| *text == VERSION)
        .map(|(at, _)| at)
        .collect();
    assert_eq!(places.len(), 1, "the version's places in the library");
    bytes[places[0]..][..OTHER.len()].copy_from_slice(OTHER);
    let path = directory.join("libtreepie.so");
    fs::write(&path, bytes).expect("the directory is writable");
    // The hardware is read by the companion next to it.
    std::os::unix::fs::symlink(
        artifacts::companion(),
        directory.join("libtreepie_hwloc.so"),
    )
    .expect("the directory is writable");
    path
}

/// A job whose ranks in `others`, a pattern of the shell, have the library at `other`.
fn job(mpi: Mpi, directory: &Path, others: &str, other: &Path) -> Job {
    let script = directory.join("start");
    let text = format!(
        "#!/bin/sh\ncase \"${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\" in\n{others}) export \
         LD_PRELOAD={} ;;\nesac\nexec \"$@\"\n",
        other.display()
    );
    fs::write(&script, text).expect("the directory is writable");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("the file is ours");
    Job::of(mpi, RANKS, script).argument(artifacts::job(mpi, "ring"))
}

/// In any mode, and for any ranks with another library, the output is that of the plain run and one
/// line has the reason.
fn ranks_whose_libraries_differ_all_run_the_plain_job(mpi: Mpi) {
    let plain = Job::new(mpi, RANKS, "ring").run().succeeded().silent();
    let directory = TempDir::new().expect("there is room for a directory");
    let directory = directory.path();
    let other = other_library(directory);
    let profile = directory.join("p.yaml");
    let replay = |name, value: &str| {
        let mode = ("TREEPIE_MODE", "replay".to_owned());
        Library::Set(vec![mode, (name, value.to_owned())])
    };
    let permuted = Library::Permuted(vec![3, 2, 1, 0]);
    for (others, first, library) in [
        ("2", "rank 2 ", permuted.clone()),
        ("0", "rank 1 ", permuted),
        ("1|3", "rank 1 ", Library::Profile(profile.clone())),
        ("2", "rank 2 ", replay("TREEPIE_REORDER", "graph")),
        ("3", "rank 3 ", replay("TREEPIE_COLLECTIVES", "auto")),
    ] {
        let outcome = job(mpi, directory, others, &other).with(library).run();
        let messages = outcome.messages();
        assert_eq!(messages.len(), 1, "{}", outcome.told());
        let plainly = "as it would without treepie";
        for words in [first, "messages 0", "messages 9", plainly] {
            assert!(messages[0].contains(words), "{words}: {messages:?}");
        }
        assert_same_output(&plain, &outcome);
        assert!(!profile.exists(), "{}", outcome.description);
    }
}

under_each_mpi!(ranks_whose_libraries_differ_all_run_the_plain_job);
