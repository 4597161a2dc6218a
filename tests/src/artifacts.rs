//! Where `scripts/build` puts what the tests run.

use crate::Mpi;
use std::path::{Path, PathBuf};

/// The folder `build/`, or what `TREEPIE_BUILD` names.
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

/// A file that the build makes.
///
/// # Panics
/// If it is not there: the test fails, and says how to build it.
#[track_caller]
fn built(path: &str) -> PathBuf {
    let file = build_directory().join(path);
    match file.canonicalize() {
        Ok(file) => file,
        Err(error) => panic!("{}: {error}; run scripts/build first", file.display()),
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

/// The command.
#[track_caller]
pub fn command() -> PathBuf {
    built("bin/treepie")
}

/// A C or Fortran job of `tests/jobs`, by the name of its source: `halo2d` for
/// `halo2d.c`, and `ring.f90` for itself.
#[track_caller]
pub fn job(mpi: Mpi, name: &str) -> PathBuf {
    built(&format!("jobs/{}/{name}", mpi.name()))
}

/// A program of `tests/programs`.
#[track_caller]
pub fn program(mpi: Mpi, name: &str) -> PathBuf {
    built(&format!("programs/{}/{name}", mpi.name()))
}

/// The Python that has mpi4py for an MPI.
///
/// # Panics
/// If it is not there: the test fails, and says how to install it.
#[track_caller]
pub fn python(mpi: Mpi) -> PathBuf {
    // Not canonical: an environment's Python is a link that must be followed
    // by Python itself.
    let python = build_directory().join(format!("venv-{}/bin/python", mpi.name()));
    assert!(
        python.exists(),
        "{}: not there; run scripts/setup test first",
        python.display()
    );
    python
}
