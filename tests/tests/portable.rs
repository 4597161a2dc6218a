//! The library starts with an old C library: the result of `scripts/build --portable` requires none
//! newer than glibc 2.17, and no hwloc. All tests run this build; these tests check its own
//! requirements.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use treepie_tests::{Mpi, Outcome, artifacts, run_watched, under_each_mpi};

const LIMIT: Duration = Duration::from_secs(60);

/// The C library of CentOS 7; that of RHEL 8 is 2.28.
const OLDEST: (u32, u32) = (2, 17);

#[track_caller]
fn readelf(option: &str, file: &Path) -> String {
    let mut command = Command::new("readelf");
    command.args([option, "--wide"]).arg(file);
    run_watched(command, LIMIT, "readelf").succeeded().stdout
}

/// The `2.17` in `GLIBC_2.17`.
fn version(word: &str) -> Option<(u32, u32)> {
    let mut numbers = word.strip_prefix("GLIBC_")?.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

fn parts() -> [PathBuf; 3] {
    let parts = [
        "bin/treepie",
        "lib/libtreepie.so",
        "lib/libtreepie_hwloc.so",
    ];
    parts.map(artifacts::portable)
}

#[test]
fn no_part_wants_a_newer_c_library_than_2_17() {
    for part in parts() {
        let table = readelf("--version-info", &part);
        let newest = table.split_whitespace().filter_map(version).max();
        assert!(newest.is_some(), "{}: no versions", part.display());
        assert!(newest <= Some(OLDEST), "{}: {newest:?}", part.display());
    }
}

#[test]
fn no_part_needs_a_library_beside_the_c_run_time() {
    const C_RUN_TIME: [&str; 6] = [
        "libc.so.6",
        "libdl.so.2",
        "libpthread.so.0",
        "librt.so.1",
        "libm.so.6",
        "libgcc_s.so.1",
    ];
    for part in parts() {
        let dynamic = readelf("--dynamic", &part);
        let needed = dynamic.lines().filter(|line| line.contains("(NEEDED)"));
        let names = needed.filter_map(|line| line.split_once('[')?.1.split_once(']'));
        let other = |name: &&str| !C_RUN_TIME.contains(name) && !name.starts_with("ld-linux");
        let others: Vec<&str> = names.map(|name| name.0).filter(other).collect();
        assert!(others.is_empty(), "{} needs {others:?}", part.display());
    }
}

#[track_caller]
fn say(directory: &Path, words: &[&OsStr]) -> Outcome {
    let mut command = Command::new(artifacts::portable("bin/treepie"));
    command.args(words).current_dir(directory);
    command.env_remove("TREEPIE_LIBRARY");
    run_watched(command, LIMIT, &format!("the portable treepie {words:?}"))
}

#[test]
fn the_command_and_the_companion_read_topologies_without_hwlocs_library() {
    let here = tempfile::tempdir().expect("a temporary directory can be made");
    let words = ["show", "hwloc:pack:2 core:4"].map(OsStr::new);
    let shown = say(here.path(), &words).succeeded();
    assert!(
        shown.stdout.contains("2 sockets x 4 cores"),
        "{}",
        shown.told()
    );
    // Its queries of this machine use the companion.
    let told = say(here.path(), &[OsStr::new("doctor")]).stdout;
    let line = |start: &str| told.lines().any(|line| line.starts_with(start));
    assert!(
        line("ok       companion") && line("ok       machine"),
        "{told}"
    );
}

fn a_job_is_profiled_mapped_and_replayed(mpi: Mpi) {
    let here = tempfile::tempdir().expect("a temporary directory can be made");
    let job = artifacts::job(mpi, "halo2d");
    let run = |words: &[&str]| {
        let launched = mpi.launch(16, &[]);
        let options = words.iter().map(OsStr::new).chain([OsStr::new("--")]);
        let command = launched.iter().map(|word| word.as_os_str());
        let job = [job.as_os_str(), OsStr::new("64"), OsStr::new("40")];
        let all: Vec<&OsStr> = options.chain(command).chain(job).collect();
        say(here.path(), &all).succeeded()
    };
    let plain = run(&["profile", "-o", "before.profile.yaml"]);
    let words = ["map", "before.profile.yaml", "--topology", "4:2:2"].map(OsStr::new);
    let mapped = say(here.path(), &words).succeeded();
    assert!(mapped.stdout.contains("verdict: gain"), "{}", mapped.told());
    let replayed = run(&[
        "replay",
        "before.placement.yaml",
        "-o",
        "after.profile.yaml",
    ]);
    assert!(!plain.stdout.is_empty(), "{}", plain.told());
    assert!(
        here.path().join("after.profile.yaml").is_file(),
        "{}",
        replayed.told()
    );
}

under_each_mpi!(a_job_is_profiled_mapped_and_replayed);
