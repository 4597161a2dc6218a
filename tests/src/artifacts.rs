//! Location of the files that `scripts/build` makes for the tests.

use crate::Mpi;
use std::path::{Path, PathBuf};

/// The folder `build/`, or the one in `TREEPIE_BUILD`.
pub fn build_directory() -> PathBuf {
    std::env::var_os("TREEPIE_BUILD").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../build"),
        PathBuf::from,
    )
}

/// The repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A file made by the build.
///
/// # Panics
/// Panics if it does not exist: the test fails, and reports how to build it.
#[track_caller]
fn built(path: &str) -> PathBuf {
    built_by("scripts/build", path)
}

/// A file in `build/` made by `script`; its folder is canonical, and the file itself is not:
/// environments have links that must not be resolved for their users.
#[track_caller]
pub(crate) fn built_by(script: &str, path: &str) -> PathBuf {
    let build = build_directory();
    let file = build.canonicalize().unwrap_or(build).join(path);
    match file.metadata() {
        Ok(_) => file,
        Err(error) => panic!("{}: {error}; run {script} first", file.display()),
    }
}

/// The library to preload.
#[track_caller]
pub fn library() -> PathBuf {
    built("lib/libtreepie.so")
}

/// The library's companion.
#[track_caller]
pub fn companion() -> PathBuf {
    built("lib/libtreepie_hwloc.so")
}

/// A file of the portable build.
#[track_caller]
pub fn portable(path: &str) -> PathBuf {
    built_by("scripts/build --portable", &format!("portable/{path}"))
}

/// The command.
#[track_caller]
pub fn command() -> PathBuf {
    built("bin/treepie")
}

/// The library that makes ranks of the MPICH family yield when they wait.
#[track_caller]
pub fn yielding() -> PathBuf {
    built("jobs/libtreepie_yielding.so")
}

/// The emulated grid.
#[track_caller]
pub fn grid() -> PathBuf {
    built("grid/grid")
}

/// A C or Fortran job of `tests/jobs`, by the name of its source: `halo2d` for `halo2d.c`, and
/// `ring.f90` for itself; or a library of `tests/stand-ins`: `hooks.so` for `hooks.c`.
#[track_caller]
pub fn job(mpi: Mpi, name: &str) -> PathBuf {
    built(&format!("jobs/{}/{name}", mpi.name()))
}

/// The program of `treepie probe` or of `treepie tune`.
#[track_caller]
pub fn measuring(name: &str) -> PathBuf {
    built(&format!("lib/{name}"))
}

/// A program of `tests/programs`.
#[track_caller]
pub fn program(mpi: Mpi, name: &str) -> PathBuf {
    built(&format!("programs/{}/{name}", mpi.name()))
}

/// Python with pandas, pyarrow, networkx and packages that execute notebooks.
///
/// # Panics
/// Panics if it does not exist: the test fails, and reports how to install it.
#[track_caller]
pub fn reader() -> PathBuf {
    built_by("scripts/setup test", "venv-reader/complete").with_file_name("bin/python")
}

/// LAMMPS for one of Debian's MPIs.
///
/// # Panics
/// Panics if it does not exist: the test fails, and reports how to install it.
#[track_caller]
pub fn lammps(mpi: Mpi) -> PathBuf {
    if mpi != Mpi::OpenMpi {
        return built_by("scripts/setup test", "lammps-mpich/lmp");
    }
    crate::find_command("lmp").unwrap_or_else(|| {
        panic!("lmp is not installed; run scripts/setup test (or apt-get install -y lammps)")
    })
}

/// EZTrace's library for one of Debian's MPIs.
///
/// # Panics
/// Panics if it does not exist: the test fails, and reports how to install it.
#[track_caller]
pub fn eztrace(mpi: Mpi) -> PathBuf {
    let name = format!("libeztrace-{}.so", mpi.name());
    let folders = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib",
    ];
    folders
        .iter()
        .map(|folder| Path::new(folder).join(&name))
        .find(|file| file.exists())
        .unwrap_or_else(|| {
            panic!("no {name}; run scripts/setup test (or apt-get install -y eztrace)")
        })
}

/// The Python with mpi4py for an MPI.
///
/// # Panics
/// Panics if it does not exist: the test fails, and reports how to install it.
#[track_caller]
pub fn python(mpi: Mpi) -> PathBuf {
    built_by(
        "scripts/setup test (or scripts/setup-mpis)",
        &format!("venv-{}/bin/python", mpi.name()),
    )
}

/// mpi4py's own test suite.
///
/// # Panics
/// Panics if it does not exist: the test fails, and reports how to get it.
#[track_caller]
pub fn mpi4py_suite() -> PathBuf {
    built_by("scripts/setup-mpis suite", "mpi4py-suite/main.py")
        .parent()
        .map(Path::to_owned)
        .unwrap_or_default()
}

/// The file in which mpi4py declares the functions of MPI that it calls.
///
/// # Panics
/// Panics if mpi4py is not installed.
#[track_caller]
pub fn mpi4py_interface() -> PathBuf {
    let libraries = built_by("scripts/setup test", "venv-openmpi/lib");
    let found = std::fs::read_dir(&libraries)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("site-packages/mpi4py/libmpi.pxd")))
        .find(|file| file.exists());
    match found {
        Some(file) => file,
        None => panic!(
            "no mpi4py in {}; run scripts/setup test first",
            libraries.display()
        ),
    }
}
