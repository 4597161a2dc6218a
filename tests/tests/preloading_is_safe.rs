//! The library is inherited by everything that a job starts: shells, Python,
//! the launcher itself. None of them may notice.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use treepie_tests::{
    Job, Library, Mpi, Outcome, artifacts, assert_same_output, run_watched, under_each_mpi,
};

const LIMIT: Duration = Duration::from_secs(60);

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

fn is_c_runtime(name: &str) -> bool {
    ["libc.so", "libgcc_s.so", "ld-linux"]
        .iter()
        .any(|start| name.starts_with(start))
}

/// The symbols that an object lets others link to.
fn exported(object: &Path) -> BTreeSet<String> {
    output_of(
        "nm",
        &[
            "--dynamic",
            "--defined-only",
            "--format=just-symbols",
            &object.display().to_string(),
        ],
    )
    .lines()
    .map(|line| line.split('@').next().unwrap_or(line).trim().to_owned())
    .filter(|name| !name.is_empty())
    .collect()
}

#[test]
fn the_library_needs_nothing_but_the_c_runtime() {
    let needed = needed(&artifacts::library());
    assert!(!needed.is_empty(), "readelf found nothing");
    let others: Vec<_> = needed.iter().filter(|name| !is_c_runtime(name)).collect();
    assert!(others.is_empty(), "libtreepie.so needs {others:?}");
}

#[test]
fn the_companion_brings_hwloc_and_is_needed_by_nobody() {
    let needed_by_companion = needed(&artifacts::companion());
    assert!(
        needed_by_companion
            .iter()
            .any(|name| name.starts_with("libhwloc")),
        "{needed_by_companion:?}"
    );
    assert!(
        !needed(&artifacts::library())
            .iter()
            .any(|name| name.contains("treepie") || name.contains("hwloc"))
    );
}

/// Functions of the standard that take a communicator by value, by reference,
/// or in an array, and those whose behaviour is ours, are exported. Functions
/// that programs ask for to find out whether an MPI is loaded are not, nor those
/// that only translate handles.
#[test]
fn nothing_is_exported_that_makes_a_process_look_as_if_it_had_an_mpi() {
    let exported = exported(&artifacts::library());
    let forbidden: Vec<_> = exported
        .iter()
        .filter(|name| {
            let plain = name.strip_prefix('P').unwrap_or(name);
            [
                "MPI_Get_version",
                "MPI_Get_library_version",
                "MPI_Abi_",
                "MPI_T_",
            ]
            .iter()
            .any(|start| plain.starts_with(start))
                || [
                    "MPI_Comm_c2f",
                    "MPI_Comm_f2c",
                    "MPI_Comm_toint",
                    "MPI_Comm_fromint",
                    "MPI_Initialized",
                    "MPI_Finalized",
                    "MPI_Wtime",
                ]
                .contains(&plain)
        })
        .collect();
    assert!(forbidden.is_empty(), "libtreepie.so exports {forbidden:?}");
    for name in [
        "MPI_Init",
        "MPI_Init_thread",
        "MPI_Send",
        "MPI_Bcast",
        "MPI_Comm_rank",
        "MPI_Comm_split",
    ] {
        assert!(exported.contains(name), "{name} is not exported");
    }
}

#[test]
fn only_names_of_mpi_are_exported_and_each_under_both_its_names() {
    let exported = exported(&artifacts::library());
    let mpi_c_name = |name: &str| {
        ["MPI_", "PMPI_", "MPIX_", "PMPIX_"]
            .iter()
            .any(|start| name.starts_with(start))
    };
    // Where Fortran goes round the C interface: attributes, their keyvals and
    // error handlers, and nothing else (names inside MPICH and Open MPI, and
    // Fortran's own).
    let bypass = |name: &str| {
        [
            "_attr",
            "_keyval_",
            "keyval_create_",
            "MPII_Keyval_",
            "errhandler_",
        ]
        .iter()
        .any(|part| name.contains(part))
            && ["MPII_", "mpi_", "pmpi_", "ompi_comm_"]
                .iter()
                .any(|start| name.starts_with(start))
    };
    let others: Vec<_> = exported
        .iter()
        // Where Open MPI ends a process after an error.
        .filter(|name| !mpi_c_name(name) && !bypass(name) && *name != "_exit")
        .collect();
    assert!(others.is_empty(), "libtreepie.so exports {others:?}");
    for name in exported.iter().filter(|name| mpi_c_name(name)) {
        let other = match name.strip_prefix('P') {
            Some(plain) => plain.to_owned(),
            None => format!("P{name}"),
        };
        assert!(
            exported.contains(&other),
            "{name} is exported and {other} is not"
        );
    }
}

/// Everything that an MPI exports and that takes a communicator must go through
/// the library, or a program would see two worlds. The communicator-taking
/// functions are told by their prototypes in the MPI's own header.
fn no_function_with_a_communicator_is_forgotten(mpi: Mpi) {
    let compiler = format!("mpicc.{}", mpi.name());
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let source = directory.path().join("header.c");
    std::fs::write(&source, "#include <mpi.h>\n").expect("it is writable");
    let header = output_of(&compiler, &["-E", "-P", &source.display().to_string()]);
    let exported = exported(&artifacts::library());
    let translations = ["MPI_Comm_c2f", "MPI_Comm_f2c"];
    let mut seen = 0;
    for statement in header.replace('\n', " ").split(';') {
        let Some((name, parameters)) = prototype(statement) else {
            continue;
        };
        if translations.contains(&name)
            || !parameters.split(',').any(|parameter| {
                parameter
                    .trim_start()
                    .trim_start_matches("const ")
                    .starts_with("MPI_Comm ")
            })
        {
            continue;
        }
        // MPI_Comm* results are made by the MPI; the functions that have only
        // such a parameter need no substitution.
        let takes_one = parameters
            .split(',')
            .any(|parameter| parameter.contains("MPI_Comm ") && !parameter.contains('*'));
        if takes_one {
            seen += 1;
            assert!(
                exported.contains(name),
                "{mpi}'s {name} takes a communicator and is not in the library"
            );
        }
    }
    assert!(
        seen > 100,
        "only {seen} functions were found in {mpi}'s header"
    );
}

/// The name and parameters of a function of MPI, if a statement declares one.
fn prototype(statement: &str) -> Option<(&str, &str)> {
    let start = statement.find(" MPI_")?;
    let (name, rest) = statement[start + 1..].split_once('(')?;
    let name = name.trim();
    let is_name = name
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let (parameters, _) = rest.split_once(')')?;
    (is_name && !statement.contains("typedef")).then_some((name, parameters))
}

/// Runs a command with the library preloaded and every mode asked for, and
/// without, and expects the same.
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

/// `LD_PRELOAD=... mpirun` hands the library on to a real job as well.
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

/// Without a variable of ours, a job with the library is a job without it.
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
    no_function_with_a_communicator_is_forgotten,
    the_launcher_itself_notices_nothing,
    a_job_started_by_a_preloaded_launcher_runs,
    a_job_without_settings_is_left_alone,
);
