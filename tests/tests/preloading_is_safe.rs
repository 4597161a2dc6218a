//! The library is inherited by every process that a job starts: shells, Python, the launcher
//! itself. None of them may be affected. (Its exports are compared with the tables and every MPI in
//! `interface.rs`.)

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use treepie_tests::{
    Job, Library, Mpi, Outcome, artifacts, assert_same_output, run_watched, under_each_mpi,
};

const LIMIT: Duration = Duration::from_secs(60);

/// Names of procedures of other libraries that an object calls.
fn imported(object: &Path) -> BTreeSet<String> {
    let path = object.display().to_string();
    output_of("readelf", &["--dyn-syms", "--wide", &path])
        .lines()
        .filter(|line| line.contains(" UND "))
        .filter_map(|line| line.split_whitespace().nth(7))
        .map(|name| name.split('@').next().unwrap_or(name).to_owned())
        .collect()
}

/// Nothing is sent over a network, and nothing is served: there are no procedures for that. The
/// library sends to Unix sockets and receives on one; the command starts other processes.
#[test]
fn neither_the_library_nor_the_command_connects_to_anybody_or_listens() {
    const OF_SERVERS: [&str; 3] = ["listen", "accept", "accept4"];
    for (object, others) in [
        (artifacts::library(), &["connect", "getaddrinfo"][..]),
        (artifacts::command(), &["bind", "connect", "socket"]),
    ] {
        let imported = imported(&object);
        assert!(imported.contains("write"), "readelf found nothing");
        for name in OF_SERVERS.iter().chain(others) {
            assert!(!imported.contains(*name), "{}: {name}", object.display());
        }
    }
}

/// Maps of a copy of a program with these permissions, owned by root and started by another user
/// with the library preloaded.
fn maps_of_a_program(mode: u32) -> String {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let place = |name: &str| directory.path().join(name);
    let permit = |path: &Path, mode| {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
    };
    permit(directory.path(), 0o755);
    for (from, name, mode) in [
        (Path::new("/bin/cat"), "cat", mode),
        (&artifacts::library(), "libtreepie.so", 0o644),
    ] {
        fs::copy(from, place(name)).expect("there is room for a copy");
        permit(&place(name), mode);
    }
    let mut command = Command::new(place("cat"));
    command.arg("/proc/self/maps").uid(65534).gid(65534);
    command.env("LD_PRELOAD", place("libtreepie.so"));
    let output = command.output();
    let output = output.unwrap_or_else(|error| {
        panic!("nothing can be done as another user: {error}; run this test as root")
    });
    String::from_utf8(output.stdout).expect("maps are text")
}

#[test]
fn a_program_that_changes_its_user_is_not_preloaded() {
    assert!(maps_of_a_program(0o755).contains("libtreepie.so"));
    let maps = maps_of_a_program(0o4755);
    assert!(
        !maps.is_empty() && !maps.contains("libtreepie.so"),
        "{maps}"
    );
}

#[track_caller]
fn output_of(program: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(arguments);
    run_watched(command, LIMIT, program).succeeded().stdout
}

/// The libraries that an object needs, by their names.
fn needed(object: &Path) -> BTreeSet<String> {
    output_of("readelf", &["--dynamic", &object.display().to_string()])
        .lines()
        .filter(|line| line.contains("(NEEDED)"))
        .filter_map(|line| Some(line.split_once('[')?.1.split_once(']')?.0.to_owned()))
        .collect()
}

/// Not libm, which takes longer to load than this whole library. Two parts are empty since glibc
/// 2.34, and earlier versions have them separately.
fn is_c_runtime(name: &str) -> bool {
    [
        "libc.so",
        "libdl.so",
        "libpthread.so",
        "libgcc_s.so",
        "ld-linux",
    ]
    .iter()
    .any(|start| name.starts_with(start))
}

/// PITFALLS: 3
#[test]
fn the_library_needs_nothing_but_the_c_runtime() {
    let needed = needed(&artifacts::library());
    assert!(!needed.is_empty(), "readelf found nothing");
    let others: Vec<_> = needed.iter().filter(|name| !is_c_runtime(name)).collect();
    assert!(others.is_empty(), "libtreepie.so needs {others:?}");
}

/// PITFALLS: 22
#[test]
fn the_library_needs_neither_its_companion_nor_hwloc() {
    assert!(artifacts::companion().is_file());
    assert!(
        !needed(&artifacts::library())
            .iter()
            .any(|name| name.contains("treepie") || name.contains("hwloc"))
    );
}

/// Runs a command with the library preloaded and every mode requested, and without, and expects the
/// same.
#[track_caller]
fn nothing_changes(program: &str, arguments: &[&str]) {
    let run = |preload: bool, mode: Option<&str>| -> Outcome {
        let mut command = Command::new(program);
        command.args(arguments);
        if preload {
            command.env("LD_PRELOAD", artifacts::library());
        }
        if let Some(mode) = mode {
            command
                .env("TREEPIE_MODE", mode)
                .env("TREEPIE_PERMUTATION", "1,0");
        }
        run_watched(
            command,
            LIMIT,
            &format!("{program} {arguments:?}, preloaded: {preload}, mode {mode:?}"),
        )
    };
    let plain = run(false, None);
    for mode in [
        None,
        Some("off"),
        Some("profile"),
        Some("replay"),
        Some("nonsense"),
    ] {
        let preloaded = run(true, mode);
        assert_same_output(&plain, &preloaded);
        assert_eq!(plain.stderr, preloaded.stderr, "{}", preloaded.description);
        assert_eq!(plain.files, preloaded.files, "{}", preloaded.description);
    }
}

#[test]
fn a_shell_notices_nothing() {
    nothing_changes(
        "bash",
        &[
            "-c",
            "echo out; echo err >&2; ls | wc -l; (exit 3) || exec sh -c 'exit 7'",
        ],
    );
}

#[test]
fn true_notices_nothing() {
    nothing_changes("true", &[]);
}

#[test]
fn python_notices_nothing() {
    nothing_changes(
        "python3",
        &[
            "-c",
            "import os, threading; print(threading.active_count(), os.listdir('.'))",
        ],
    );
}

#[test]
fn a_process_without_mpi_gets_no_thread_and_no_open_file() {
    nothing_changes(
        "sh",
        &[
            "-c",
            "ls /proc/self/task | wc -l; ls /proc/self/fd | wc -l; grep -c SigCgt /proc/self/status",
        ],
    );
}

/// docs/inside/loader.md: before the linker's functions, the library writes its own table of
/// symbols once, and no other part of any mapped file.
#[cfg(target_arch = "x86_64")]
#[test]
fn in_a_process_without_mpi_the_first_dlopen_changes_the_librarys_own_symbols_and_nothing_else() {
    let changed = |preload: bool| {
        let mut command = Command::new(artifacts::job(Mpi::OpenMpi, "without_mpi"));
        if preload {
            command.env("LD_PRELOAD", artifacts::library());
        }
        run_watched(command, LIMIT, "without_mpi")
            .succeeded()
            .stdout
    };
    let steps = |first_dlopen: &str| {
        format!(
            "nothing:\ndlsym of getpid:\nfirst dlopen:{first_dlopen}\nsecond dlopen:\n\
             dlsym of MPI_Init:\n"
        )
    };
    assert_eq!(changed(false), steps(""));
    assert_eq!(changed(true), steps(" libtreepie.so"));
}

/// The launcher is an MPI's own program; it loads the MPI's libraries and
/// starts the job. Preloaded into it, and from it into the job, all modes off.
fn the_launcher_itself_notices_nothing(mpi: Mpi) {
    let words = mpi.launch(2, &[]);
    let words: Vec<String> = words
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let launch = |preload: bool| {
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .args(["sh", "-c", "echo rank; exit 4"]);
        if preload {
            command.env("LD_PRELOAD", artifacts::library());
        }
        run_watched(
            command,
            LIMIT,
            &format!("{mpi}'s launcher, preloaded: {preload}"),
        )
    };
    let (plain, preloaded) = (launch(false), launch(true));
    assert_same_output(&plain, &preloaded);
    assert_eq!(preloaded.messages(), Vec::<&str>::new());
    assert_eq!(plain.files, preloaded.files);
}

/// `LD_PRELOAD=... mpirun` also passes the library on to a real job.
fn a_job_started_by_a_preloaded_launcher_runs(mpi: Mpi) {
    let plain = Job::new(mpi, 2, "ring").run().succeeded();
    let preloaded = Job::new(mpi, 2, "ring")
        .under([
            "env",
            &format!("LD_PRELOAD={}", artifacts::library().display()),
        ])
        .run()
        .succeeded()
        .silent();
    assert_same_output(&plain, &preloaded);
    assert_eq!(preloaded.files, Vec::<String>::new());
}

/// Without Treepie's variables, a job with the library is a job without it.
fn a_job_without_settings_is_left_alone(mpi: Mpi) {
    let plain = Job::new(mpi, 3, "ring").run().succeeded();
    let preloaded = Job::new(mpi, 3, "ring")
        .with(Library::Unset)
        .run()
        .succeeded()
        .silent();
    assert_same_output(&plain, &preloaded);
    assert_eq!(preloaded.files, Vec::<String>::new());
}

under_each_mpi!(
    the_launcher_itself_notices_nothing,
    a_job_started_by_a_preloaded_launcher_runs,
    a_job_without_settings_is_left_alone,
);
