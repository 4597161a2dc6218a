//! Our own MPI programs, which measure: where they are, built for the launcher's MPI.

use std::path::{Path, PathBuf};

use super::family::Family;
use crate::error::CommandError;

/// The program `name`, or the one that the variable `variable` names.
///
/// # Errors
/// It is not there, or the launcher does not tell which MPI is meant.
pub fn program(name: &str, variable: &str, family: Family) -> Result<PathBuf, CommandError> {
    if let Some(named) = std::env::var_os(variable) {
        let path = PathBuf::from(named);
        return path.canonicalize().map_err(|error| {
            CommandError::usage(format!(
                "{variable}: {}: {error}; name the program `{name}` that scripts/build makes",
                path.display()
            ))
        });
    }
    let own = std::env::current_exe().unwrap_or_default();
    let own = own.parent().unwrap_or(Path::new("/"));
    // Where it was built, and where scripts/install puts it.
    let places = [own.join("../programs"), own.join("../lib/treepie/programs")];
    let programs = places
        .iter()
        .find(|place| place.is_dir())
        .unwrap_or(&places[0]);
    let mpis: &[&str] = match family {
        Family::OpenMpi => &["openmpi"],
        Family::Hydra | Family::Pals | Family::ParaStation => &["mpich"],
        Family::Slurm | Family::Flux | Family::Plain => &["openmpi", "mpich"],
    };
    let found: Vec<PathBuf> = mpis
        .iter()
        .filter_map(|mpi| programs.join(mpi).join(name).canonicalize().ok())
        .collect();
    match found.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(CommandError::failed(format!(
            "the program that measures is not in {}; build it with scripts/build, or name it in \
             {variable}",
            programs.display()
        ))),
        _ => Err(CommandError::usage(format!(
            "the MPI of this launcher is unknown; name one of {} in {variable}",
            found
                .iter()
                .map(|path| path.display().to_string())
                .collect::<Vec<_>>()
                .join(", ")
        ))),
    }
}
