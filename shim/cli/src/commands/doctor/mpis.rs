//! The MPIs of this machine: their launchers, the behaviour of these, and their libraries.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use treepie_launch::environment::{PRELOAD, Payload, Variables};
use treepie_launch::family::{Family, Launcher};
use treepie_launch::{binary, injection, library, search, timed};

use crate::commands::doctor::finding::Report;

/// Launchers to search for.
const LAUNCHERS: [&str; 10] = [
    "mpirun",
    "mpiexec",
    "orterun",
    "prterun",
    "mpirun.openmpi",
    "mpiexec.openmpi",
    "mpirun.mpich",
    "mpiexec.mpich",
    "mpiexec.hydra",
    "srun",
];

/// Time limit of a launcher to start one process.
const START_LIMIT: Duration = Duration::from_secs(20);
const LIST_LIMIT: Duration = Duration::from_secs(10);

/// Examines every launcher in the path, once for each file to which it leads, and the MPI libraries
/// next to them and in the search path of the linker.
pub fn look(report: &mut Report) {
    let mut names: BTreeMap<PathBuf, Vec<&str>> = BTreeMap::new();
    for name in LAUNCHERS {
        let found = search::executable(name.as_ref()).and_then(|path| path.canonicalize().ok());
        if let Some(path) = found {
            names.entry(path).or_default().push(name);
        }
    }
    if names.is_empty() {
        report.note(
            "launcher",
            "no mpirun, mpiexec or srun is in PATH; load or install an MPI to run jobs",
        );
    }
    for names in names.values() {
        match Launcher::detect(&[names[0].into()]) {
            Ok(launcher) => {
                let version = launcher
                    .version()
                    .unwrap_or_else(|| "it prints no version".to_owned());
                report.good(
                    "launcher",
                    format!("{}: {}, {version}", names.join(", "), launcher.family),
                );
                behaviour(report, names[0], &launcher);
            }
            Err(error) => report.error("launcher", &error),
        }
    }
    for (library, family) in libraries(names.keys()) {
        let name = library.display();
        match family {
            Some(family) => report.good("mpi", format!("{name}: {family}, by its symbols; libtreepie.so serves it")),
            None => report.problem(
                "mpi",
                format!("{name} is neither Open MPI, nor of the MPICH family, nor of the MPI-5.0 standard ABI"),
                "jobs that use it run as they would without treepie; use one of these",
            ),
        }
    }
}

/// Starts one process and checks that it gets the variables.
fn behaviour(report: &mut Report, name: &str, launcher: &Launcher) {
    if matches!(launcher.family, Family::Slurm | Family::Flux) {
        return report.note(
            "behaviour",
            format!("{name}: not tried, because it would ask for an allocation"),
        );
    }
    let (Ok(library), Some(env)) = (library::find(), search::executable("env".as_ref())) else {
        return;
    };
    let settings = [("TREEPIE_MODE", OsString::from("off"))];
    let Ok(variables) = Variables::collect([], &settings) else {
        return;
    };
    let command = [name.into(), "-n".into(), "1".into(), env.into_os_string()];
    let payload = Payload::new(library.clone(), variables);
    let printed = injection::inject(launcher, &payload, &command)
        .ok()
        .and_then(|job| timed::output(&job.program, &job.arguments, START_LIMIT));
    let printed = printed.unwrap_or_default();
    let preloaded = format!("{PRELOAD}={}", library.display());
    let passes = |expected: &str| printed.lines().any(|line| line == expected);
    if passes(&preloaded) && passes("TREEPIE_MODE=off") {
        return report.good(
            "behaviour",
            format!("{name} starts a process and passes the library and its settings on"),
        );
    }
    let as_root = printed.contains("as root") || printed.contains("RUN_AS_ROOT");
    match printed.lines().map(str::trim).find(|line| line.chars().any(char::is_alphanumeric)) {
        _ if as_root => report.problem(
            "behaviour",
            format!("{name} starts nothing for root"),
            "run jobs as a user, or set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
        ),
        Some(_) if passes("TREEPIE_MODE=off") => report.problem(
            "behaviour",
            format!("{name} does not pass {PRELOAD} on"),
            "set it in the job's own environment: `treepie help preload`",
        ),
        Some(line) => report.problem(
            "behaviour",
            format!("{name} cannot start one process: {line}"),
            format!("run `{name} -n 1 true`, and fix its error first"),
        ),
        None => report.problem(
            "behaviour",
            format!("{name} prints nothing when it starts one process"),
            format!("try `{name} -n 1 true`"),
        ),
    }
}

/// MPI libraries by their files: those in the linker's cache, those in `LD_LIBRARY_PATH`, and those
/// next to launchers.
fn libraries<'a>(
    launchers: impl Iterator<Item = &'a PathBuf>,
) -> BTreeMap<PathBuf, Option<Family>> {
    let mut candidates: BTreeSet<PathBuf> = BTreeSet::new();
    let linker = search::executable("ldconfig".as_ref()).or_else(|| {
        let usual = Path::new("/sbin/ldconfig");
        search::is_executable(usual).then(|| usual.to_owned())
    });
    if let Some(list) = linker.and_then(|tool| timed::output(&tool, &["-p"], LIST_LIMIT)) {
        let paths = list.lines().filter_map(|line| line.split_once(" => "));
        candidates.extend(paths.map(|(_, path)| PathBuf::from(path)));
    }
    let named = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let mut directories: BTreeSet<PathBuf> = std::env::split_paths(&named).collect();
    for launcher in launchers {
        let prefix = launcher.parent().and_then(Path::parent);
        let beside = prefix
            .iter()
            .flat_map(|prefix| ["lib", "lib64"].map(|lib| prefix.join(lib)));
        directories.extend(beside);
    }
    for directory in directories {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        candidates.extend(entries.map(|entry| entry.path()));
    }
    let is_shared = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".so") || name.contains(".so.")
    };
    let files = candidates.into_iter().filter(is_shared);
    files
        .filter_map(|path| {
            let family = binary::family_of_library(&path)?;
            Some((path.canonicalize().ok()?, family))
        })
        .collect()
}
